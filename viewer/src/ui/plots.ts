/* The panel of plots: a tree of channels that can be searched, and panes below it. A click on a channel
 * puts it into the active pane. */
import type uPlot from "uplot";
import type { Channel, Part } from "../data/run";
import { Chart, curveColor } from "./chart";
import { csv, type Curve } from "./curves";
import { button, css, fileName, format, h, icon, save } from "./dom";
import { firstCurves } from "./first_curves";
import type { State } from "./state";

const OWNERS_SHOWN = 150; /* of the tree; beyond that the search must help */

/* Of the largest value of a curve: smaller ones are shown as zero. */
const ROUND_OFF = 1e-12;

function largest(column: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < column.length; ++i) if (Math.abs(column[i]!) > most) most = Math.abs(column[i]!);
  return most;
}

export class Pane {
  readonly root: HTMLElement;
  readonly names: string[] = [];
  readonly chart: Chart;
  private readonly legend = h("div", { class: "legend" });
  private readonly hint = h("p", { class: "hint", text: "Pick channels from the list above." });
  private readonly when = h("span", { class: "when" });
  private readonly reset: HTMLButtonElement;
  private readonly state: State;
  private cells: { curve: Curve; value: HTMLElement; round: number }[] = [];
  private hovered: number | null = null;

  constructor(state: State, close: () => void, activate: () => void) {
    this.state = state;
    this.chart = new Chart(state, { height: 168 });
    this.reset = button("reset", "Zoom out (double click)", () => this.chart.zoom(null), { hidden: true });
    this.chart.root.addEventListener("zoomed", () => (this.reset.hidden = !this.chart.isZoomed));
    this.chart.onHover = (t) => {
      this.hovered = t;
      this.values();
    };
    this.root = h(
      "section",
      { class: "pane", onpointerdown: activate },
      h(
        "div",
        { class: "pane-head" },
        this.when,
        h("span", { class: "spacer" }),
        this.reset,
        button("image", "Save as PNG", () => void this.png()),
        button("table", "Save as CSV", () => this.saveCsv()),
        button("close", "Close this pane", close),
      ),
      this.legend,
      this.chart.root,
      this.hint,
    );
  }

  curves(): Curve[] {
    const out: Curve[] = [];
    for (const name of this.names)
      this.state.runs.forEach((run, runIndex) => {
        const part = this.state.visible[runIndex] ? run.part(name) : null;
        if (part) out.push({ run, runIndex, part });
      });
    return out;
  }

  toggle(name: string): void {
    const at = this.names.indexOf(name);
    if (at >= 0) this.names.splice(at, 1);
    else this.names.push(name);
    this.rebuild();
  }

  rebuild(): void {
    const curves = this.curves();
    this.hint.hidden = curves.length > 0;
    this.chart.root.hidden = curves.length === 0;
    this.chart.show(curves);
    const several = this.state.runs.length > 1;
    this.cells = curves.map((curve) => ({ curve, value: h("span", { class: "value" }), round: ROUND_OFF * largest(curve.run.column(curve.part)) }));
    this.legend.replaceChildren(
      ...this.cells.map(({ curve, value }, k) => {
        const swatch = h("span", { class: curve.runIndex > 0 ? "swatch dashed" : "swatch" });
        swatch.style.color = curveColor(curves, k);
        return h(
          "button",
          { type: "button", class: "entry", title: `Remove ${curve.part.name}`, onclick: () => this.remove(curve.part.name) },
          swatch,
          h("span", { class: "name", text: several ? `${curve.part.name} · ${curve.run.label}` : curve.part.name }),
          value,
          h("span", { class: "unit", text: curve.part.unit }),
        );
      }),
    );
    this.values();
  }

  private remove(name: string): void {
    this.toggle(name);
    this.root.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
  }

  values(): void {
    const t = this.hovered ?? this.state.time;
    this.when.textContent = `${this.hovered === null ? "" : "at "}t = ${format(t, 5)} s`;
    for (const { curve, value, round } of this.cells) {
      const y = curve.run.value(curve.part, t);
      value.textContent = format(Math.abs(y) < round ? 0 : y);
    }
  }

  tick(): void {
    this.chart.moveMarker();
    if (this.hovered === null) this.values();
  }

  private title(): string {
    return fileName(`${this.state.title}_${this.names.join("_")}`);
  }

  private saveCsv(): void {
    const curves = this.curves();
    if (curves.length) save(`${this.title()}.csv`, new Blob([csv(curves)], { type: "text/csv" }));
  }

  /* The chart drawn anew, large enough for a report, with title and legend. */
  async png(): Promise<void> {
    const blob = await this.picture();
    if (blob) save(`${this.title()}.png`, blob);
  }

  async picture(): Promise<Blob | null> {
    const curves = this.curves();
    if (!curves.length) return null;
    const chart = new Chart(this.state, { height: 460 });
    const host = h("div", { class: "offscreen" }, chart.root);
    document.body.append(host);
    chart.zoom(this.chart.isZoomed ? this.chart.range() : null);
    chart.show(curves);
    await new Promise((done) => requestAnimationFrame(done)); /* it draws when the script pauses */
    const u = chart.plot;
    const blob = u ? await this.compose(u, curves) : null;
    u?.destroy();
    host.remove();
    return blob;
  }

  private compose(u: uPlot, curves: Curve[]): Promise<Blob | null> {
    const source = u.ctx.canvas;
    const ratio = source.width / Math.max(1, u.width);
    const row = 18;
    const head = 30 + row * curves.length;
    const canvas = h("canvas", { width: source.width, height: source.height + head * ratio });
    const g = canvas.getContext("2d")!;
    g.fillStyle = css("--surface");
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.scale(ratio, ratio);
    g.font = `600 13px ${css("--font")}`;
    g.fillStyle = css("--text");
    g.fillText(this.state.title, 12, 19);
    g.font = `12px ${css("--font")}`;
    curves.forEach((c, k) => {
      const y = 36 + row * k;
      g.fillStyle = curveColor(curves, k);
      g.fillRect(12, y - 5, 16, 3);
      g.fillStyle = css("--text");
      const unit = c.part.unit ? ` [${c.part.unit}]` : "";
      g.fillText(`${c.part.name}${unit}${this.state.runs.length > 1 ? `, ${c.run.label}` : ""}`, 34, y);
    });
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.drawImage(source, 0, head * ratio);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }
}

interface Group {
  owner: string;
  channels: Channel[];
}

export class Plots {
  readonly root: HTMLElement;
  readonly panes: Pane[] = [];
  readonly search: HTMLInputElement;
  private active: Pane | null = null;
  private readonly state: State;
  private readonly tree = h("div", { class: "tree", role: "tree" });
  private readonly stack = h("div", { class: "panes" });
  private readonly groups: Group[];
  private readonly open = new Set<string>();

  constructor(state: State) {
    this.state = state;
    this.groups = this.collect();
    this.search = h("input", {
      type: "search",
      placeholder: `Search ${this.groups.reduce((n, g) => n + g.channels.length, 0)} channels`,
      "aria-label": "Search channels",
      oninput: () => this.drawTree(),
    });
    this.root = h(
      "div",
      { class: "tab plots" },
      h("div", { class: "search" }, icon("search"), this.search, h("button", { type: "button", class: "text-button", title: "New plot pane (N)", onclick: () => this.add([]) }, icon("plus"), "Pane")),
      this.tree,
      this.stack,
    );
    this.stack.addEventListener("changed", () => this.drawTree());
    state.on(["time"], () => {
      if (!this.root.hidden) for (const p of this.panes) p.tick();
    });
    state.on(["theme", "runs"], () => this.rebuild());
    this.defaults();
    this.drawTree();
  }

  private collect(): Group[] {
    const groups = new Map<string, Map<string, Channel>>();
    for (const run of this.state.runs)
      for (const c of run.channels) {
        const owner = c.owner || c.name;
        const g = groups.get(owner) ?? new Map<string, Channel>();
        if (!g.has(c.name)) g.set(c.name, c);
        groups.set(owner, g);
      }
    return [...groups].map(([owner, m]) => ({ owner, channels: [...m.values()] }));
  }

  private defaults(): void {
    const run = this.state.runs[0];
    for (const names of run ? firstCurves(run) : []) this.add(names);
    this.active = this.panes[0] ?? null;
    this.markActive();
  }

  add(names: string[]): Pane {
    const pane: Pane = new Pane(
      this.state,
      () => this.remove(pane),
      () => {
        this.active = pane;
        this.markActive();
        this.drawTree();
      },
    );
    this.panes.push(pane);
    this.stack.append(pane.root);
    this.active = pane;
    pane.names.push(...names);
    pane.rebuild();
    this.markActive();
    this.drawTree();
    return pane;
  }

  private remove(pane: Pane): void {
    const at = this.panes.indexOf(pane);
    if (at < 0) return;
    this.panes.splice(at, 1);
    pane.root.remove();
    if (this.active === pane) this.active = this.panes[Math.min(at, this.panes.length - 1)] ?? null;
    this.markActive();
    this.drawTree();
  }

  private markActive(): void {
    for (const p of this.panes) p.root.classList.toggle("active", p === this.active && this.panes.length > 1);
  }

  toggle(name: string): void {
    (this.active ?? this.add([])).toggle(name);
    this.drawTree();
  }

  rebuild(): void {
    for (const p of this.panes) p.rebuild();
  }
  resize(): void {
    for (const p of this.panes) p.chart.resize();
  }

  private parts(c: Channel): Part[] {
    for (const r of this.state.runs) {
      const own = r.channel(c.name);
      if (own) return r.partsOf(own);
    }
    return [];
  }

  private drawTree(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text: string): boolean => words.every((w) => text.toLowerCase().includes(w));
    const shown = new Set(this.active?.names ?? []);
    const rows: Node[] = [];
    let left = 0;
    for (const g of this.groups) {
      const channels = words.length ? g.channels.filter((c) => matches(`${c.name} ${c.description ?? ""}`) || this.parts(c).some((p) => matches(p.name))) : g.channels;
      if (!channels.length) continue;
      if (rows.length >= OWNERS_SHOWN) {
        ++left;
        continue;
      }
      const open = this.open.has(g.owner) || words.length > 0 || this.groups.length <= 2;
      rows.push(this.groupRow(g.owner, channels, open, shown));
    }
    if (left) rows.push(h("p", { class: "hint", text: `… and ${left} more: refine the search` }));
    if (!rows.length) rows.push(h("p", { class: "hint", text: words.length ? "No channel matches." : "The result has no channels." }));
    this.tree.replaceChildren(...rows);
  }

  private groupRow(owner: string, channels: Channel[], open: boolean, shown: Set<string>): HTMLElement {
    const used = channels.some((c) => this.parts(c).some((p) => shown.has(p.name)));
    const head = h(
      "button",
      {
        type: "button",
        class: `owner${open ? " open" : ""}${used ? " used" : ""}`,
        "aria-expanded": String(open),
        onclick: () => {
          if (open) this.open.delete(owner);
          else this.open.add(owner);
          this.drawTree();
        },
      },
      h("span", { class: "twist" }),
      h("span", { class: "name", text: owner }),
      h("span", { class: "count", text: channels.map((c) => c.name.slice(owner.length + 1) || c.name).join(", ") }),
    );
    const box = h("div", { class: "group", role: "treeitem" }, head);
    if (open)
      for (const c of channels) {
        const parts = this.parts(c);
        const all = parts.every((p) => shown.has(p.name));
        box.append(
          h(
            "div",
            { class: "channel", title: c.description ?? c.name },
            h("button", { type: "button", class: `chip whole${all ? " on" : ""}`, text: c.name.slice(owner.length + 1) || c.name, onclick: () => this.toggleAll(parts, all) }),
            ...(parts.length > 1 ? parts.map((p) => h("button", { type: "button", class: `chip${shown.has(p.name) ? " on" : ""}`, text: p.channel.parts?.[p.index] ?? String(p.index), onclick: () => this.toggle(p.name) })) : []),
            h("span", { class: "unit", text: c.unit ?? "" }),
          ),
        );
      }
    return box;
  }

  private toggleAll(parts: Part[], all: boolean): void {
    const pane = this.active ?? this.add([]);
    for (const p of parts) if (pane.names.includes(p.name) === all) pane.toggle(p.name);
    this.drawTree();
  }
}
