/* The card of what is selected: what it is, and its channels at the time shown. */
import type { Part } from "../data/run";
import { button, format, h, icon } from "./dom";
import type { State } from "./state";

export interface CardActions {
  follow(): void;
  following(): boolean;
  plot(names: string[]): void;
  close(): void;
}

export class Card {
  readonly root = h("aside", { class: "selection", hidden: true, "aria-live": "polite" });
  private cells: { part: Part; cell: HTMLElement }[] = [];
  private readonly state: State;
  private readonly actions: CardActions;

  constructor(state: State, actions: CardActions) {
    this.state = state;
    this.actions = actions;
    state.on(["select", "options", "follow"], () => this.draw());
    state.on(["time"], () => this.values());
  }

  private facts(): string {
    const s = this.state.selection!;
    const scene = this.state.runs[s.run]!.scene;
    if (s.owner.kind === "body") {
      const b = scene.bodies?.[s.owner.index];
      return `${s.owner.detail} body${b?.mass ? `, ${format(b.mass)} kg` : ""}`;
    }
    const thing = s.owner.kind === "joint" ? scene.joints?.[s.owner.index] : scene.forces?.[s.owner.index];
    const name = (i: number | undefined): string => (i === undefined ? "" : i < 0 ? "ground" : (scene.bodies?.[i]?.name ?? ""));
    const ends = [name(thing?.a?.body), name(thing?.b?.body)].filter(Boolean).join(" – ");
    return ends ? `${s.owner.detail}, ${ends}` : s.owner.detail;
  }

  private draw(): void {
    const s = this.state.selection;
    this.root.hidden = !s;
    if (!s) return;
    const run = this.state.runs[s.run]!;
    const channels = run.channels.filter((c) => c.owner === s.owner.name || c.owner.startsWith(`${s.owner.name}.`));
    this.cells = [];
    const rows = channels.slice(0, 24).flatMap((c) => {
      const parts = run.partsOf(c);
      const cells = parts.map((part) => {
        const cell = h("td", {});
        this.cells.push({ part, cell });
        return cell;
      });
      const label = c.name.slice(s.owner.name.length + 1);
      const lines: HTMLElement[] = [];
      const wide = cells.length === 4 ? 2 : 3; /* quaternions in two lines */
      for (let i = 0; i < cells.length; i += wide)
        lines.push(h("tr", {}, h("th", { text: i ? "" : label, title: label, scope: "row" }), ...cells.slice(i, i + wide), ...(cells.length > 1 && i + wide > cells.length - (3 - wide) ? Array.from({ length: 3 - Math.min(wide, cells.length - i) }, () => h("td", {})) : []), h("td", { class: "unit", text: i ? "" : (c.unit ?? "") })));
      return lines;
    });
    const trace = s.owner.kind === "body";
    const tracing = this.state.options.tracePoints.has(s.owner.name);
    this.root.replaceChildren(
      h(
        "header",
        {},
        h("div", { class: "titles" }, h("strong", { text: s.owner.name }), h("span", { class: "detail", text: this.facts() + (this.state.runs.length > 1 ? ` · ${run.label}` : "") })),
        button("close", "Close (Esc)", () => this.actions.close()),
      ),
      h(
        "div",
        { class: "actions" },
        trace ? h("button", { type: "button", class: `text-button${this.actions.following() ? " on" : ""}`, onclick: () => this.actions.follow() }, icon("target"), "Follow") : null,
        trace ? h("button", { type: "button", class: `text-button${tracing ? " on" : ""}`, onclick: () => this.state.toggleTrace(s.owner.name) }, icon("trace"), "Trace") : null,
        channels.length ? h("button", { type: "button", class: "text-button", onclick: () => this.actions.plot(run.partsOf(channels[0]!).map((p) => p.name)) }, icon("plot"), "Plot") : null,
      ),
      rows.length ? h("div", { class: "values" }, h("table", {}, h("tbody", {}, ...rows))) : h("p", { class: "hint", text: "The result has no channels of this element." }),
    );
    this.values();
  }

  private values(): void {
    const s = this.state.selection;
    if (!s) return;
    const run = this.state.runs[s.run]!;
    for (const { part, cell } of this.cells) cell.textContent = format(run.value(part, this.state.time), 4);
  }
}
