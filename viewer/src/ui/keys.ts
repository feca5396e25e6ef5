/* Keyboard: one table serves the handler and the help. */
import { button, h } from "./dom";

export interface Shortcut {
  keys: string[]; /* values of KeyboardEvent.key */
  label: string; /* of the keys, for people */
  text: string;
  run(event: KeyboardEvent): void;
}

export function listen(shortcuts: Shortcut[]): void {
  const byKey = new Map<string, Shortcut>();
  for (const s of shortcuts) for (const k of s.keys) byKey.set(k, s);
  window.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const target = e.target as HTMLElement | null;
    const typing = target?.closest("input[type=search], textarea, select");
    if (typing) {
      if (e.key === "Escape") target!.blur();
      return;
    }
    if (e.key === " " && target?.closest("button, input[type=checkbox], summary")) target.blur();
    const s = byKey.get(e.key) ?? byKey.get(e.key.toLowerCase());
    if (!s) return;
    e.preventDefault();
    s.run(e);
  });
}

export function helpDialog(shortcuts: Shortcut[], generator: string): HTMLDialogElement {
  const dialog: HTMLDialogElement = h(
    "dialog",
    { class: "help", "aria-label": "Help" },
    h("header", {}, h("h2", { text: "Keyboard and mouse" }), button("close", "Close (Esc)", () => dialog.close())),
    h(
      "div",
      { class: "columns" },
      h("dl", {}, ...shortcuts.filter((s) => s.label).flatMap((s) => [h("dt", {}, ...s.label.split(" ").map((k) => h("kbd", { text: k }))), h("dd", { text: s.text })])),
      h(
        "dl",
        {},
        ...(
          [
            ["drag", "orbit"],
            ["right drag", "pan (touch: two fingers)"],
            ["wheel", "zoom (touch: pinch)"],
            ["hover", "show the name"],
            ["click", "select, show live values"],
            ["double click", "fit the whole motion"],
            ["plot: click", "go to that time"],
            ["plot: drag", "zoom in; double click to zoom out"],
          ] as const
        ).flatMap(([k, v]) => [h("dt", { class: "pointer", text: k }), h("dd", { text: v })]),
      ),
    ),
    h("footer", { text: generator }),
  );
  dialog.addEventListener("click", (e) => {
    if (e.target === dialog) dialog.close();
  });
  return dialog;
}
