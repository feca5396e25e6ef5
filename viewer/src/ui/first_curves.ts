/* Which curves a page shows first: what is driven and what joints do, energies. Constants are left
 * out, and so is what only round-off moves. */
import type { Channel, Part, Run } from "../data/run";

const COORDINATE = /^(angle|displacement|angle1|angle2|x|y|length)$/;
const RATE = /^(rate|angle_rate|displacement_rate|angular_velocity|velocity)$/;
const MOST = 4; /* curves in a pane */
const MOST_PANES = 3; /* of motion */

interface Range {
  low: number;
  high: number;
}

function rangeOf(column: ArrayLike<number>): Range {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < column.length; ++i) {
    const x = column[i]!;
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return { low, high };
}

const size = (r: Range): number => Math.max(Math.abs(r.low), Math.abs(r.high));

/* Curves of the channels that move: by a thousandth of themselves and not only by round-off of what is
 * largest among them. */
function moving(run: Run, channels: Channel[]): { part: Part; travel: number }[] {
  const all = channels.flatMap((c) => run.partsOf(c)).map((part) => ({ part, range: rangeOf(run.column(part)) }));
  const finite = all.filter(({ range }) => Number.isFinite(range.low) && Number.isFinite(range.high));
  const largest = Math.max(0, ...finite.map(({ range }) => size(range)));
  return finite
    .map(({ part, range }) => ({ part, range, travel: range.high - range.low }))
    .filter(({ range, travel }) => travel > 1e-3 * size(range) && travel > 1e-6 * largest)
    .map(({ part, travel }) => ({ part, travel }));
}

const names = (list: { part: Part }[]): string[] => list.map((x) => x.part.name);

/* A pane for each unit, and another for what travels much less than the rest of its unit. */
function byUnit(list: { part: Part; travel: number }[]): string[][] {
  const muchLess = 0.2;
  const panes: string[][] = [];
  for (const unit of new Set(list.map((x) => x.part.unit))) {
    const alike = list.filter((x) => x.part.unit === unit);
    const most = Math.max(...alike.map((x) => x.travel));
    for (const small of [false, true]) panes.push(names(alike.filter((x) => x.travel < muchLess * most === small)).slice(0, MOST));
  }
  return panes.filter((p) => p.length).slice(0, MOST_PANES);
}

/* Channels of joints: those in `first`, then joints on the ground, then the others, as in the model. */
function coordinates(run: Run, few: Channel[], first: Set<string>): { part: Part; travel: number }[] {
  const joints = run.scene.joints ?? [];
  const rank = new Map(joints.map((j, i) => [j.name, first.has(j.name) ? i : (j.a?.body ?? -1) < 0 || (j.b?.body ?? -1) < 0 ? 1e6 + i : 2e6 + i]));
  const own = few.filter((c) => rank.has(c.owner) && COORDINATE.test(c.quantity));
  return moving(run, own.sort((a, b) => rank.get(a.owner)! - rank.get(b.owner)!));
}

/* The channel whose curves travel farthest. */
function farthest(run: Run, channels: Channel[]): string[] {
  const moved = moving(run, channels);
  const travel = new Map<Channel, number>();
  for (const m of moved) travel.set(m.part.channel, Math.hypot(travel.get(m.part.channel) ?? 0, m.travel));
  const best = [...travel].sort((a, b) => b[1] - a[1])[0]?.[0];
  return best ? names(moved.filter((m) => m.part.channel === best)) : [];
}

/* Motion of the model without any drive: joints first, then bodies, then whatever there is. */
function free(run: Run, few: Channel[]): string[][] {
  const joints = coordinates(run, few, new Set());
  if (joints.length) return byUnit(joints);
  const places = farthest(run, few.filter((c) => c.quantity === "position"));
  if (places.length) return [places];
  const turns = moving(run, few.filter((c) => c.quantity === "rotation" && c.columns.length === 1));
  if (turns.length) return [names(turns).slice(0, MOST)];
  const rates = moving(run, few.filter((c) => RATE.test(c.quantity)));
  if (rates.length) return byUnit(rates).slice(0, 1);
  const rest = moving(run, few.filter((c) => c.owner !== "energy" && c.owner !== "solver"));
  return byUnit(rest).slice(0, 1);
}

/* What is driven, and with coordinates what the other joints do. */
function driven(run: Run, few: Channel[]): string[][] {
  const motions = run.scene.motions ?? [];
  const joints = new Set(motions.map((m) => m.joint).filter((j) => j !== undefined));
  const owners = new Set(motions.map((m) => m.name));
  const of = (names_: Set<string>, what: RegExp): Channel[] => few.filter((c) => names_.has(c.owner) && what.test(c.quantity));
  if (moving(run, of(joints, COORDINATE)).length) return byUnit(coordinates(run, few, joints));
  for (const list of [of(joints, RATE), of(owners, /./)]) {
    const moved = moving(run, list);
    if (moved.length) return [...byUnit(moved).slice(0, 1), ...free(run, few)].slice(0, MOST_PANES);
  }
  return [];
}

/* Names of curves, pane by pane. */
export function firstCurves(run: Run): string[][] {
  if (run.frames < 2) return [];
  const few = run.channels.slice(0, 2000); /* a crowd is not searched to its end */
  const drive = driven(run, few);
  const panes = drive.length ? drive : free(run, few);
  const energies = ["kinetic", "potential", "total", "dissipated", "work"].map((e) => run.channel(`energy.${e}`)).filter((c) => c !== undefined);
  const moved = names(moving(run, energies));
  /* the total alone is a constant, or its error; what is dissipated and the work explain it */
  const shown = energies.map((c) => c.name).filter((n) => moved.includes(n) || !/dissipated|work/.test(n));
  if (moved.some((n) => n !== "energy.total")) panes.push(shown);
  return panes;
}
