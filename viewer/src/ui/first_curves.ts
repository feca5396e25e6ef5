/* Which curves a page shows first: what is driven, what answers to it, energies. Constants are left
 * out, and so is what only round-off moves. */
import type { Channel, Part, Run } from "../data/run";

const COORDINATE = /^(angle|displacement|angle1|angle2|x|y|length)$/;
const RATE = /^(rate|angle_rate|displacement_rate|angular_velocity|velocity)$/;
const MOST = 4; /* curves in a pane */

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

/* Of one unit, that of the first. */
function alike(list: { part: Part; travel: number }[]): { part: Part; travel: number }[] {
  return list.filter((x) => x.part.unit === list[0]!.part.unit);
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
function free(run: Run, few: Channel[]): string[] {
  const joints = new Set((run.scene.joints ?? []).map((j) => j.name));
  const coordinates = moving(run, few.filter((c) => joints.has(c.owner) && COORDINATE.test(c.quantity)));
  if (coordinates.length) return names(alike(coordinates)).slice(0, MOST);
  const places = farthest(run, few.filter((c) => c.quantity === "position"));
  if (places.length) return places;
  const turns = moving(run, few.filter((c) => c.quantity === "rotation" && c.columns.length === 1));
  if (turns.length) return names(turns).slice(0, MOST);
  const rates = moving(run, few.filter((c) => RATE.test(c.quantity)));
  if (rates.length) return names(alike(rates)).slice(0, MOST);
  const rest = moving(run, few.filter((c) => c.owner !== "energy" && c.owner !== "solver"));
  return rest.length ? names(alike(rest)).slice(0, MOST) : [];
}

function driven(run: Run, few: Channel[]): string[] {
  const motions = run.scene.motions ?? [];
  const joints = new Set(motions.map((m) => m.joint).filter((j) => j !== undefined));
  const owners = new Set(motions.map((m) => m.name));
  const of = (names_: Set<string>, what: RegExp): Channel[] => few.filter((c) => names_.has(c.owner) && what.test(c.quantity));
  for (const list of [of(joints, COORDINATE), of(joints, RATE), of(owners, /./)]) {
    const moved = moving(run, list);
    if (!moved.length) continue;
    const first = names(alike(moved)).slice(0, MOST);
    /* what other joints do in the same unit stands beside it */
    const others = new Set((run.scene.joints ?? []).map((j) => j.name).filter((j) => !joints.has(j)));
    const answers = moving(run, of(others, COORDINATE));
    const same = answers.filter((a) => a.part.unit === moved[0]!.part.unit);
    return [...first, ...names(same)].slice(0, MOST);
  }
  return [];
}

/* Names of curves, pane by pane. */
export function firstCurves(run: Run): string[][] {
  if (run.frames < 2) return [];
  const few = run.channels.slice(0, 2000); /* a crowd is not searched to its end */
  const panes: string[][] = [];
  const drive = driven(run, few);
  if (drive.length) panes.push(drive);
  const coordinates = drive.some((n) => COORDINATE.test(n.slice(n.lastIndexOf(".") + 1)));
  if (!coordinates) {
    const motion = free(run, few).filter((n) => !drive.includes(n));
    if (motion.length) panes.push(motion);
  }
  const energies = ["kinetic", "potential", "total"].map((e) => run.channel(`energy.${e}`)).filter((c) => c !== undefined);
  const moved = names(moving(run, energies));
  /* the total alone is a constant, or its error */
  if (moved.some((n) => n !== "energy.total")) panes.push(energies.map((c) => c.name));
  return panes;
}
