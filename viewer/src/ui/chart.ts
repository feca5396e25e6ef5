/* One uPlot chart with the page's looks, a line at the time of the animation, and a pointer that is
 * shared by all charts. Click: go to that time. Drag: zoom. Double click: all. */
import uPlot from "uplot";
import { RUN_COLORS, SERIES_COLORS } from "../scene/palette";
import { align, type Curve } from "./curves";
import { css, h } from "./dom";
import type { State } from "./state";
import { tickTexts } from "./ticks";

export interface ChartOptions {
  height: number;
  log?: boolean;
  label?: string;
}

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

export function curveColor(curves: Curve[], k: number): string {
  const parts = new Set(curves.map((c) => c.part.name));
  const runs = new Set(curves.map((c) => c.runIndex));
  if (runs.size > 1 && parts.size === 1) return RUN_COLORS[curves[k]!.runIndex % RUN_COLORS.length]!;
  return SERIES_COLORS[[...parts].indexOf(curves[k]!.part.name) % SERIES_COLORS.length]!;
}

const tick = (_u: uPlot, values: number[], _axis: number, _space: number, step: number): string[] => tickTexts(values, step);

/* Room for the longest label; mostly the same, so that panes stand in line. */
const width = (_u: uPlot, values: string[] | null): number => Math.max(58, 18 + 6.6 * Math.max(0, ...(values ?? []).map((v) => v.length)));

export class Chart {
  readonly root = h("div", { class: "chart" });
  plot: uPlot | null = null;
  onHover: (t: number | null) => void = () => undefined;
  private readonly marker = h("div", { class: "time-line" });
  private readonly state: State;
  private readonly options: ChartOptions;
  private curves: Curve[] = [];
  private width = 0;
  private zoomed: [number, number] | null = null;

  constructor(state: State, options: ChartOptions) {
    this.state = state;
    this.options = options;
    this.dragMarker();
  }

  show(curves: Curve[]): void {
    this.curves = curves;
    this.rebuild();
  }

  range(): [number, number] {
    const { start, end } = this.state;
    return this.zoomed ?? (end > start ? [start, end] : [start - 0.5, start + 0.5]);
  }

  private data(): uPlot.AlignedData {
    const [from, to] = this.range();
    return this.curves.length ? align(this.curves, from, to) : ([[], []] as unknown as uPlot.AlignedData);
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    const wide = Math.floor(this.root.clientWidth);
    if (wide < 40) return;
    this.width = wide;
    const text = css("--text-2");
    const line = css("--grid-line");
    const font = `11px ${css("--font") || "system-ui"}`;
    const axis: uPlot.Axis = {
      stroke: text,
      font,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
      values: tick,
      labelFont: font,
    };
    const several = this.curves.some((c) => c.runIndex !== this.curves[0]!.runIndex);
    const parts = new Set(this.curves.map((c) => c.part.name));
    const opts: uPlot.Options = {
      width: wide,
      height: this.options.height,
      pxAlign: 0, /* rounding to pixels makes stairs of flat curves */
      padding: [10, 12, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => this.range() },
        y: this.options.log ? { distr: 3 } : { range: (_u, low, high) => roomy(low, high) },
      },
      axes: [
        { ...axis, size: 30, space: 56 },
        { ...axis, size: width, space: 30, ...(this.options.label ? { label: this.options.label, labelSize: 16, labelGap: 0 } : {}) },
      ],
      cursor: {
        sync: { key: "galpha", setSeries: false },
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        bind: { dblclick: () => () => (this.zoom(null), null) },
      },
      series: [
        {},
        ...(this.curves.length ? this.curves : [null]).map((c, k): uPlot.Series => ({
          label: c?.part.name ?? "",
          stroke: c ? curveColor(this.curves, k) : "transparent",
          width: 1.6,
          dash: c && parts.size > 1 ? DASHES[c.runIndex % DASHES.length] : [], /* colours alone tell results apart where they can */
          spanGaps: several,
          points: { show: c !== null && c.run.frames === 1 },
        })),
      ],
      hooks: {
        setSelect: [
          (u) => {
            if (u.select.width > 4) this.zoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        setCursor: [(u) => this.onHover(u.cursor.left !== undefined && u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null)],
        draw: [() => this.moveMarker()],
      },
    };
    this.plot = new uPlot(opts, this.data(), this.root);
    this.plot.over.append(this.marker);
    this.clickSetsTime(this.plot);
    this.moveMarker();
  }

  zoom(range: [number, number] | null): void {
    this.zoomed = range && range[1] > range[0] ? range : null;
    this.plot?.setData(this.data());
    this.root.dispatchEvent(new CustomEvent("zoomed"));
  }

  get isZoomed(): boolean {
    return this.zoomed !== null;
  }

  /* Call when the page's layout has changed. */
  resize(): void {
    const width = Math.floor(this.root.clientWidth);
    if (width < 40 || width === this.width) return;
    if (!this.plot) this.rebuild();
    else {
      this.width = width;
      this.plot.setSize({ width, height: this.options.height });
    }
  }

  moveMarker(): void {
    const u = this.plot;
    if (!u) return;
    const x = u.valToPos(this.state.time, "x");
    const inside = x >= -1 && x <= u.over.clientWidth + 1;
    this.marker.classList.toggle("outside", !inside || !Number.isFinite(x));
    if (inside) this.marker.style.transform = `translateX(${x.toFixed(1)}px)`;
  }

  private clickSetsTime(u: uPlot): void {
    let down: { x: number; y: number } | null = null;
    u.over.addEventListener("pointerdown", (e) => (down = { x: e.clientX, y: e.clientY }));
    u.over.addEventListener("click", (e) => {
      if (!down || Math.hypot(e.clientX - down.x, e.clientY - down.y) > 4) return;
      this.state.setPlaying(false);
      this.state.setTime(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x"));
    });
  }

  private dragMarker(): void {
    const move = (e: PointerEvent): void => {
      const u = this.plot;
      if (!u) return;
      this.state.setPlaying(false);
      this.state.setTime(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x"));
    };
    this.marker.addEventListener("pointerdown", (e) => {
      e.preventDefault();
      e.stopPropagation();
      this.marker.setPointerCapture(e.pointerId);
      this.marker.addEventListener("pointermove", move);
    });
    this.marker.addEventListener("mousedown", (e) => e.stopPropagation());
    for (const end of ["pointerup", "pointercancel"]) this.marker.addEventListener(end, () => this.marker.removeEventListener("pointermove", move));
  }
}

/* Some air; constant curves get a range of their own size. */
function roomy(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const d = high - low;
  if (d <= 1e-12 * size || d === 0) {
    const r = size > 0 ? 0.1 * size : 1;
    return [low - r, high + r];
  }
  return [low - 0.06 * d, high + 0.06 * d];
}
