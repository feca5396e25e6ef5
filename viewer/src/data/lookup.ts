/* Time to frames: the last frame not after t, and how far t is on the way to the next. */

export interface Place {
  frame: number;
  next: number;
  part: number; /* 0 at frame, 1 at next */
}

/* Last index with times[i] <= t, or 0; -1 if there are no times. */
export function frameAt(times: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = times.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function nearestFrame(times: ArrayLike<number>, t: number): number {
  const i = frameAt(times, t);
  if (i < 0 || i + 1 >= times.length) return i;
  return t - times[i]! <= times[i + 1]! - t ? i : i + 1;
}

export function place(times: ArrayLike<number>, t: number, out: Place): Place {
  const i = frameAt(times, t);
  out.frame = i;
  out.next = i;
  out.part = 0;
  if (i < 0 || i + 1 >= times.length) return out;
  const span = times[i + 1]! - times[i]!;
  const part = span > 0 ? (t - times[i]!) / span : 0;
  if (part > 0) {
    out.next = i + 1;
    out.part = Math.min(part, 1);
  }
  return out;
}
