/* Which samples of long curves to draw: in each of `buckets` pieces of the index range the smallest
 * and the largest value of every curve, so that no peak is lost, and the ends. Ascending. */

export function decimate(curves: ArrayLike<number>[], first: number, last: number, buckets: number): Int32Array {
  const n = last - first + 1;
  if (n <= 0) return new Int32Array(0);
  if (n <= 2 * buckets || buckets < 1) {
    const all = new Int32Array(n);
    for (let i = 0; i < n; ++i) all[i] = first + i;
    return all;
  }
  const keep = new Set<number>([first, last]);
  for (let b = 0; b < buckets; ++b) {
    const from = first + Math.floor((b * n) / buckets);
    const to = first + Math.floor(((b + 1) * n) / buckets);
    for (const curve of curves) {
      let low = -1;
      let high = -1;
      for (let i = from; i < to; ++i) {
        const y = curve[i]!;
        if (y !== y) {
          /* a gap must stay a gap */
          if (i === from || curve[i - 1] === curve[i - 1]) keep.add(i);
          continue;
        }
        if (low < 0 || y < curve[low]!) low = i;
        if (high < 0 || y > curve[high]!) high = i;
      }
      if (low >= 0) keep.add(low).add(high);
    }
  }
  return Int32Array.from(keep).sort();
}

/* Every how many frames to keep at most `limit` of n. */
export const stride = (n: number, limit: number): number => Math.max(1, Math.ceil(n / Math.max(1, limit)));
