/* The panel of things: what is shown, and a list of all bodies, joints and forces to choose from. */
import { format, h, icon } from "./dom";
import type { State } from "./state";
import type { GapData } from "../data/format";
import type { Owner } from "../scene/parts";

const SHOWN = 200;

const SWITCHES = [
  ["bodies", "Bodies", "B"],
  ["joints", "Joints", "J"],
  ["forces", "Springs and forces", "S"],
  ["grid", "Grid", "G"],
  ["traces", "Traces", "T"],
  ["velocities", "Velocity arrows", "V"],
  ["reactions", "Reaction arrows", "R"],
] as const;

export interface SceneActions {
  owners(run: number): Owner[];
  select(run: number, id: number): void;
  missing(): string[];
}

/* "1.3 m apart, rotated by 0.21 rad (12°)" */
export function gapText(gap: GapData): string {
  const parts: string[] = [];
  if (gap.distance) parts.push(`${format(gap.distance, 3)} m apart`);
  if (gap.angle) parts.push(`rotated by ${format(gap.angle, 3)} rad (${format((gap.angle * 180) / Math.PI, 3)}°)`);
  return parts.length ? parts.join(", ") : `${gap.row || "constraint"} off by ${format(gap.residual ?? NaN, 3)}`;
}

export class SceneTab {
  readonly root: HTMLElement;
  private readonly list = h("div", { class: "things" });
  private readonly search: HTMLInputElement;
  private readonly switches = h("div", { class: "switches" });
  private readonly missing = h("p", { class: "hint missing" });
  private readonly state: State;
  private readonly actions: SceneActions;

  constructor(state: State, actions: SceneActions) {
    this.state = state;
    this.actions = actions;
    this.search = h("input", { type: "search", placeholder: "Search bodies, joints, forces", "aria-label": "Search the scene", oninput: () => this.drawList() });
    const length = h("input", {
      type: "range",
      min: "-1.5",
      max: "1.5",
      step: "0.05",
      value: "0",
      "aria-label": "Arrow length",
      oninput: () => {
        state.options.arrowScale = 10 ** Number(length.value);
        state.emit("options");
      },
    });
    this.root = h(
      "div",
      { class: "tab scene", hidden: true },
      ...state.runs.map((_, run) => this.gaps(run)),
      this.switches,
      h("label", { class: "slider" }, h("span", { text: "Arrow length" }), length),
      this.missing,
      h("div", { class: "search" }, icon("search"), this.search),
      this.list,
    );
    state.on(["options"], () => this.drawSwitches());
    state.on(["select", "options"], () => this.drawList());
    this.drawSwitches();
    this.drawList();
  }

  /* Joints whose sides are apart, as a list to choose from. */
  private gaps(run: number): HTMLElement | null {
    const { scene, header, label } = this.state.runs[run]!;
    const gaps = scene.gaps ?? [];
    if (!gaps.length) return null;
    const failed = header.solver?.["status"] === "not assembled";
    const title = failed ? "The model cannot be assembled" : "Moved by assembly";
    const text = failed ? `Joints that do not close, ${label}:` : "Joints that do not close in the model file:";
    return h(
      "section",
      { class: "card notices gaps" },
      h("h3", { text: title }),
      h("p", { class: "hint", text }),
      h(
        "ul",
        {},
        ...gaps.slice(0, SHOWN).map((gap) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                class: "gap",
                title: `Select ${gap.element}`,
                onclick: () => {
                  const id = this.actions.owners(run).findIndex((o) => o.name === gap.element);
                  if (id >= 0) this.actions.select(run, id);
                },
              },
              h("strong", { text: gap.element }),
              h("span", { text: gapText(gap) }),
            ),
          ),
        ),
      ),
    );
  }

  private drawSwitches(): void {
    const { options } = this.state;
    this.switches.replaceChildren(
      ...SWITCHES.map(([key, label, letter]) =>
        h(
          "label",
          { class: "switch" },
          h("input", { type: "checkbox", checked: options[key], onchange: () => this.state.toggle(key) }),
          h("span", { text: label }),
          h("kbd", { text: letter }),
        ),
      ),
    );
    const missing = this.actions.missing();
    this.missing.textContent = missing.join("; ");
    this.missing.hidden = missing.length === 0;
  }

  drawList(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const run = 0;
    const owners = this.actions.owners(run);
    const bodies = this.state.runs[run]?.scene.bodies ?? [];
    const rows: HTMLElement[] = [];
    let left = 0;
    owners.forEach((o, id) => {
      const text = `${o.name} ${o.detail} ${o.kind}`.toLowerCase();
      if (!words.every((w) => text.includes(w))) return;
      if (rows.length >= SHOWN) {
        ++left;
        return;
      }
      const chosen = this.state.selection?.run === run && this.state.selection.id === id;
      const points = o.kind === "body" ? [o.name, ...(bodies[o.index]?.points ?? []).map((p) => `${o.name}.${p.name}`)] : [];
      rows.push(
        h(
          "div",
          { class: `thing${chosen ? " on" : ""}` },
          h("button", { type: "button", class: "pick", onclick: () => this.actions.select(run, id) }, h("span", { class: `dot ${o.kind}` }), h("span", { class: "name", text: o.name }), h("span", { class: "detail", text: o.detail })),
          ...points.map((p, k) =>
            h("button", {
              type: "button",
              class: `chip${this.state.options.tracePoints.has(p) ? " on" : ""}`,
              title: `Trace ${p}`,
              text: k === 0 ? "trace" : p.slice(o.name.length),
              onclick: () => this.state.toggleTrace(p),
            }),
          ),
        ),
      );
    });
    if (left) rows.push(h("p", { class: "hint", text: `… and ${left} more: refine the search` }));
    if (!rows.length) rows.push(h("p", { class: "hint", text: "Nothing matches." }));
    this.list.replaceChildren(...rows);
  }
}
