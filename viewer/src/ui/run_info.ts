/* The panel about the computation: notices, settings, statistics, history of steps, balance of energy. */
import type { Channel, Part, Run } from "../data/run";
import { Chart, curveColor as colorOf } from "./chart";
import type { Curve } from "./curves";
import { format, h, icon } from "./dom";
import type { State } from "./state";

function show(value: unknown): string {
  if (typeof value === "number") return format(value);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null || value === undefined ? "–" : JSON.stringify(value);
}

function table(rows: [string, string][]): HTMLElement {
  return h("dl", { class: "facts" }, ...rows.flatMap(([k, v]) => [h("dt", { text: k.replaceAll("_", " ") }), h("dd", { text: v })]));
}

/* A curve that is no channel: computed here from channels. */
function made(run: Run, runIndex: number, name: string, unit: string, values: Float64Array): Curve {
  const channel: Channel = { name, unit, parts: null, columns: [0], owner: "", quantity: name };
  const part: Part = { name, channel, index: 0, unit };
  const host = Object.create(run, { column: { value: () => values } }) as Run;
  return { run: host, runIndex, part };
}

function steps(run: Run, i: number): { curve: Curve; own: boolean } | null {
  const part = run.part("solver.step");
  if (part) return { curve: { run, runIndex: i, part }, own: true };
  if (run.frames < 2) return null;
  const d = Float64Array.from(run.times, (t, k) => (k ? t - run.times[k - 1]! : run.times[1]! - t));
  return { curve: made(run, i, "time between frames", "s", d.map((x) => (x > 0 ? x : NaN))), own: false };
}

/* kinetic + potential + dissipated - work, less its value at the start: zero but for errors. */
export function balance(run: Run): Float64Array | null {
  const get = (n: string) => {
    const p = run.part(`energy.${n}`);
    return p ? run.column(p) : null;
  };
  const k = get("kinetic");
  const p = get("potential");
  if (!k || !p || !run.frames) return null;
  const d = get("dissipated");
  const w = get("work");
  const sum = (i: number): number => k[i]! + p[i]! + (d ? d[i]! : 0) - (w ? w[i]! : 0);
  const first = sum(0);
  return Float64Array.from(run.times, (_t, i) => sum(i) - first);
}

function largest(a: ArrayLike<number>): number {
  let m = 0;
  for (let i = 0; i < a.length; ++i) if (Math.abs(a[i]!) > m) m = Math.abs(a[i]!);
  return m;
}

export class RunInfo {
  readonly root = h("div", { class: "tab info", hidden: true });
  private readonly charts: { chart: Chart; curves: () => Curve[] }[] = [];
  private readonly state: State;

  constructor(state: State) {
    this.state = state;
    this.draw();
    state.on(["theme", "runs"], () => this.refresh());
    state.on(["notices"], () => this.draw());
    state.on(["time"], () => {
      if (!this.root.hidden) for (const c of this.charts) c.chart.moveMarker();
    });
  }

  private chart(title: string, note: string, log: boolean, curves: () => Curve[]): HTMLElement | null {
    if (!curves().length) return null;
    const chart = new Chart(this.state, { height: 150, log });
    this.charts.push({ chart, curves });
    const names = h("p", { class: "hint" });
    const keys = curves();
    names.textContent = note;
    return h("section", { class: "card" }, h("h3", { text: title }), names, chart.root, keys.length > 1 ? this.keys(curves) : null);
  }

  private keys(curves: () => Curve[]): HTMLElement {
    const list = curves();
    return h(
      "div",
      { class: "keys" },
      ...list.map((c, k) => {
        const s = h("span", { class: c.runIndex > 0 ? "swatch dashed" : "swatch" });
        s.style.color = colorOf(list, k);
        return h("span", { class: "key" }, s, h("span", { text: this.state.runs.length > 1 ? `${c.part.name} · ${c.run.label}` : c.part.name }));
      }),
    );
  }

  private draw(): void {
    const { state } = this;
    this.charts.length = 0;
    const parts: (HTMLElement | null)[] = [];
    state.runs.forEach((run) => {
      const name = state.runs.length > 1 ? `: ${run.label}` : "";
      if (run.notices.length)
        parts.push(
          h("section", { class: "card notices" }, h("h3", { text: `Notices${name}` }), h("ul", {}, ...run.notices.map((n) => h("li", {}, icon("warn"), h("span", { text: n }))))),
        );
    });
    const visible = (): [Run, number][] => state.runs.map((r, i): [Run, number] => [r, i]).filter(([, i]) => state.visible[i]);
    const energies = ["kinetic", "potential", "dissipated", "work", "total"];
    parts.push(
      this.chart("Energy", "J", false, () =>
        visible().flatMap(([run, i]) => energies.flatMap((e) => {
          const part = run.part(`energy.${e}`);
          return part ? [{ run, runIndex: i, part }] : [];
        })),
      ),
    );
    const drift = state.runs.map(balance);
    if (drift.some((d) => d)) {
      const worst = Math.max(...drift.map((d) => (d ? largest(d) : 0)));
      parts.push(
        this.chart("Energy balance", `largest error ${format(worst, 3)} J: deviation of kinetic + potential + dissipated − work from its initial value`, false, () =>
          visible().flatMap(([run, i]) => (drift[i] ? [made(run, i, "balance", "J", drift[i]!)] : [])),
        ),
      );
    }
    const own = state.runs.some((r, i) => steps(r, i)?.own);
    parts.push(
      this.chart("Step size", own ? "step size at output times, s" : "time between frames, s: the result has no solver.step", true, () =>
        visible().flatMap(([run, i]) => {
          const s = steps(run, i);
          return s ? [s.curve] : [];
        }),
      ),
    );
    for (const run of state.runs) parts.push(this.facts(run));
    this.root.replaceChildren(...parts.filter((p) => p !== null));
    if (!this.root.hidden) this.refresh();
  }

  private facts(run: Run): HTMLElement {
    const scene = run.scene;
    const mass = (scene.bodies ?? []).reduce((m, b) => m + (b.mass ?? 0), 0);
    const counted: [string, string][] = [
      ["frames", run.header.frames_in_file && run.header.frames_in_file !== run.frames ? `${run.frames} of ${run.header.frames_in_file}` : String(run.frames)],
      ["time", `${format(run.start)} … ${format(run.end)} s`],
      ["bodies, joints, forces", `${scene.bodies?.length ?? 0}, ${scene.joints?.length ?? 0}, ${scene.forces?.length ?? 0}`],
      ["mass", mass > 0 ? `${format(mass)} kg` : "–"],
      ["channels", String(run.channels.length)],
    ];
    const solver = Object.entries(run.header.solver ?? {}).map(([k, v]): [string, string] => [k, show(v)]);
    const stats = Object.entries(run.header.statistics ?? {}).map(([k, v]): [string, string] => [k, show(v)]);
    return h(
      "section",
      { class: "card" },
      h("h3", { text: this.state.runs.length > 1 ? run.label : "Result" }),
      table(counted),
      h("h3", { text: "Solver" }),
      solver.length ? table(solver) : h("p", { class: "hint", text: "No solver data: the run did not finish." }),
      stats.length ? h("h3", { text: "Statistics" }) : null,
      stats.length ? table(stats) : null,
    );
  }

  refresh(): void {
    if (this.root.hidden) return;
    for (const { chart, curves } of this.charts) chart.show(curves());
  }
  resize(): void {
    for (const { chart } of this.charts) chart.resize();
  }
}
