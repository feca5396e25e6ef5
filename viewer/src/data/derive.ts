/* Velocities from positions: derivatives of parabolas through three neighbouring frames, which is
 * exact for constant accelerations. Two frames of the same time, at an event, are a jump: no parabola
 * reaches across it. */
import type { Column } from "./decode";

/* First and last frame of the stretch without jumps around i. */
function stretches(times: ArrayLike<number>): [number, number][] {
  const out: [number, number][] = [];
  let first = 0;
  for (let i = 1; i <= times.length; ++i)
    if (i === times.length || !(times[i]! > times[i - 1]!)) {
      out.push([first, i - 1]);
      first = i;
    }
  return out;
}

export function rates(times: ArrayLike<number>, y: ArrayLike<number>): Float64Array {
  const out = new Float64Array(times.length).fill(NaN);
  for (const [first, last] of stretches(times)) {
    if (last === first) {
      /* a lone frame between two events: as on the frame before */
      out[first] = first > 0 ? out[first - 1]! : 0;
      continue;
    }
    for (let i = first; i <= last; ++i) {
      if (last === first + 1) {
        out[i] = (y[last]! - y[first]!) / (times[last]! - times[first]!);
        continue;
      }
      const b = i === first ? i + 1 : i === last ? i - 1 : i;
      const ab = (y[b]! - y[b - 1]!) / (times[b]! - times[b - 1]!);
      const bc = (y[b + 1]! - y[b]!) / (times[b + 1]! - times[b]!);
      out[i] = ab + ((bc - ab) / (times[b + 1]! - times[b - 1]!)) * (2 * times[i]! - times[b - 1]! - times[b]!);
    }
  }
  return out;
}

/* In body axes: 2 q* q' of a quaternion, the rate of a planar angle. Quaternions may change sign from
 * frame to frame. */
export function angularVelocity(times: ArrayLike<number>, rotation: Column[]): Float64Array[] {
  if (rotation.length < 4) return [rates(times, rotation[0]!)];
  const n = times.length;
  const q = rotation.map((c) => Float64Array.from({ length: n }, (_, i) => c[i]!));
  for (let i = 1; i < n; ++i) {
    let dot = 0;
    for (let k = 0; k < 4; ++k) dot += q[k]![i]! * q[k]![i - 1]!;
    if (dot < 0) for (let k = 0; k < 4; ++k) q[k]![i] = -q[k]![i]!;
  }
  const d = q.map((c) => rates(times, c));
  const out = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  for (let i = 0; i < n; ++i) {
    const [w, x, y, z] = q.map((c) => c[i]!) as [number, number, number, number];
    const [dw, dx, dy, dz] = d.map((c) => c[i]!) as [number, number, number, number];
    out[0]![i] = 2 * (w * dx - x * dw - y * dz + z * dy);
    out[1]![i] = 2 * (w * dy - y * dw - z * dx + x * dz);
    out[2]![i] = 2 * (w * dz - z * dw - x * dy + y * dx);
  }
  return out;
}
