/* What a body's mass and inertia look like: principal axes by Jacobi's rotations, and the solid of
 * even density that has these moments.
 *
 *     box       l_x^2 = 6 (I_y + I_z - I_x)/m
 *     cylinder  r^2 = 2 I_a/m,  h^2 = 12 I_t/m - 3 r^2      (I_a about its axis, I_t across)
 */
import type { Vec3 } from "../data/format";
import { unit } from "./vector";

export interface Principal {
  moments: Vec3 /* ascending */;
  axes: [Vec3, Vec3, Vec3];
}

/* xx, yy, zz, xy, xz, yz: entries of the matrix. */
export function principal(inertia: ArrayLike<number>): Principal {
  const m = [
    [inertia[0] ?? 0, inertia[3] ?? 0, inertia[4] ?? 0],
    [inertia[3] ?? 0, inertia[1] ?? 0, inertia[5] ?? 0],
    [inertia[4] ?? 0, inertia[5] ?? 0, inertia[2] ?? 0],
  ];
  const v = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  for (let sweep = 0; sweep < 30; ++sweep) {
    const off = Math.abs(m[0]![1]!) + Math.abs(m[0]![2]!) + Math.abs(m[1]![2]!);
    const size = Math.abs(m[0]![0]!) + Math.abs(m[1]![1]!) + Math.abs(m[2]![2]!);
    if (!(off > 1e-14 * size)) break;
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const apq = m[p]![q]!;
      if (apq === 0) continue;
      const theta = (m[q]![q]! - m[p]![p]!) / (2 * apq);
      const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
      const c = 1 / Math.sqrt(t * t + 1);
      const s = t * c;
      for (let k = 0; k < 3; ++k) {
        const a = m[k]![p]!;
        const b = m[k]![q]!;
        m[k]![p] = c * a - s * b;
        m[k]![q] = s * a + c * b;
      }
      for (let k = 0; k < 3; ++k) {
        const a = m[p]![k]!;
        const b = m[q]![k]!;
        m[p]![k] = c * a - s * b;
        m[q]![k] = s * a + c * b;
        const x = v[k]![p]!;
        const y = v[k]![q]!;
        v[k]![p] = c * x - s * y;
        v[k]![q] = s * x + c * y;
      }
    }
  }
  const order = [0, 1, 2].sort((a, b) => m[a]![a]! - m[b]![b]!);
  const axis = (k: number): Vec3 => unit([v[0]![k]!, v[1]![k]!, v[2]![k]!]);
  return {
    moments: order.map((k) => Math.max(0, m[k]![k]!)) as Vec3,
    axes: order.map(axis) as [Vec3, Vec3, Vec3],
  };
}

/* Edges along the principal axes; the first is the longest. */
export function equivalentBox(moments: Vec3, mass: number): Vec3 {
  if (!(mass > 0)) return [0, 0, 0];
  const sum = moments[0] + moments[1] + moments[2];
  return moments.map((i) => Math.sqrt(Math.max(0, (6 * (sum - 2 * i)) / mass))) as Vec3;
}

export function equivalentCylinder(about: number, transverse: number, mass: number): { radius: number; height: number } {
  if (!(mass > 0)) return { radius: 0, height: 0 };
  const radius = Math.sqrt(Math.max(0, (2 * about) / mass));
  const height = Math.sqrt(Math.max(0, (12 * transverse) / mass - 3 * radius * radius));
  return { radius, height };
}
