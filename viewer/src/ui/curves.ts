/* Curves for plots: data of several results over one axis of time.
 *
 * Results have times of their own, so their samples are joined by value: the axis is the union of all
 * times, a curve has gaps where it has no sample, and lines run across them. NaN breaks a line. Long
 * results are thinned by extremes for the range in sight. */
import type uPlot from "uplot";
import { decimate } from "../data/decimate";
import { frameAt } from "../data/lookup";
import type { Part, Run } from "../data/run";

export interface Curve {
  run: Run;
  runIndex: number;
  part: Part;
}

/* Samples drawn at most for each result. */
const DENSE = 8000;

interface Piece {
  times: Float64Array;
  values: Float64Array[];
}

function thin(run: Run, parts: Part[], from: number, to: number): Piece {
  const columns = parts.map((p) => run.column(p));
  const first = Math.max(0, frameAt(run.times, from) - 1);
  const last = Math.min(run.frames - 1, frameAt(run.times, to) + 1);
  const whole = run.frames <= DENSE;
  const index = whole ? decimate([], 0, run.frames - 1, run.frames) : decimate(columns, first, last, DENSE / 4);
  return {
    times: Float64Array.from(index, (i) => run.times[i]!),
    values: columns.map((c) => Float64Array.from(index, (i) => c[i]!)),
  };
}

type Values = (number | null | undefined)[];

export function align(curves: Curve[], from: number, to: number): uPlot.AlignedData {
  const groups = new Map<Run, Curve[]>();
  for (const c of curves) {
    const list = groups.get(c.run);
    if (list) list.push(c);
    else groups.set(c.run, [c]);
  }
  const pieces = [...groups].map(([run, list]) => ({ list, ...thin(run, list.map((c) => c.part), from, to) }));
  const out = new Map<Curve, Values>();
  /* one result: its times as they are, also those that occur twice, at events */
  if (pieces.length === 1) {
    const { times, values, list } = pieces[0]!;
    list.forEach((c, k) => out.set(c, Array.from(values[k]!, (y) => (y === y ? y : null))));
    return [times as unknown as number[], ...curves.map((c) => out.get(c)!)] as uPlot.AlignedData;
  }
  const all = new Set<number>();
  for (const p of pieces) for (const t of p.times) all.add(t);
  const x = Float64Array.from(all).sort();
  for (const { list, times, values } of pieces) {
    const rows: Values[] = list.map(() => new Array<number | null | undefined>(x.length).fill(undefined));
    let at = 0;
    for (let i = 0; i < times.length; ++i) {
      while (x[at]! < times[i]!) ++at;
      rows.forEach((row, k) => {
        const y = values[k]![i]!;
        row[at] = y === y ? y : null;
      });
    }
    list.forEach((c, k) => out.set(c, rows[k]!));
  }
  return [x as unknown as number[], ...curves.map((c) => out.get(c)!)] as uPlot.AlignedData;
}

const quote = (s: string): string => (/[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);

/* Every sample of the curves, not what is drawn. Several results: the union of their times, empty where
 * a result has no sample. */
export function csv(curves: Curve[]): string {
  const several = new Set(curves.map((c) => c.run)).size > 1;
  const head = ["time", ...curves.map((c) => quote(several ? `${c.run.label}: ${c.part.name}` : c.part.name))].join(",");
  const number = (y: number | undefined): string => (y === undefined ? "" : y === y ? String(y) : "nan");
  const lines = [head];
  if (!several && curves.length) {
    const { run } = curves[0]!;
    const columns = curves.map((c) => run.column(c.part));
    for (let i = 0; i < run.frames; ++i) lines.push([run.times[i]!, ...columns.map((c) => number(c[i]))].join(","));
    return lines.join("\n") + "\n";
  }
  const rows = new Map<number, string[]>();
  curves.forEach((c, k) => {
    const column = c.run.column(c.part);
    c.run.times.forEach((t, i) => {
      let row = rows.get(t);
      if (!row) rows.set(t, (row = new Array<string>(curves.length).fill("")));
      row[k] = number(column[i]);
    });
  });
  for (const t of [...rows.keys()].sort((a, b) => a - b)) lines.push([t, ...rows.get(t)!].join(","));
  return lines.join("\n") + "\n";
}
