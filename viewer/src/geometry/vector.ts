/* Vectors [x, y, z] and unit quaternions [w, x, y, z] as plain arrays; for building scenes, not for
 * loops over frames. */
import type { Quat, Vec3 } from "../data/format";

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const mul = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const along = (a: Vec3, d: Vec3, s: number): Vec3 => [a[0] + d[0] * s, a[1] + d[1] * s, a[2] + d[2] * s];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const norm = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const distance = (a: Vec3, b: Vec3): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
export const middle = (a: Vec3, b: Vec3): Vec3 => mul(add(a, b), 0.5);

export function unit(a: Vec3, fallback: Vec3 = [0, 0, 1]): Vec3 {
  const n = norm(a);
  return n > 1e-300 && Number.isFinite(n) ? mul(a, 1 / n) : fallback;
}

/* Any unit vector across a unit vector. */
export function across(a: Vec3): Vec3 {
  const x = Math.abs(a[0]);
  const y = Math.abs(a[1]);
  const z = Math.abs(a[2]);
  const other: Vec3 = x <= y && x <= z ? [1, 0, 0] : y <= z ? [0, 1, 0] : [0, 0, 1];
  return unit(cross(a, other));
}

export const IDENTITY: Quat = [1, 0, 0, 0];

export function rotate(q: Quat, v: Vec3): Vec3 {
  const u: Vec3 = [q[1], q[2], q[3]];
  const t = mul(cross(u, v), 2);
  return add(along(v, t, q[0]), cross(u, t));
}

export const conjugate = (q: Quat): Quat => [q[0], -q[1], -q[2], -q[3]];
export const unrotate = (q: Quat, v: Vec3): Vec3 => rotate(conjugate(q), v);

export function multiply(p: Quat, q: Quat): Quat {
  return [
    p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
    p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
    p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
    p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
  ];
}

const finite = (a: ArrayLike<number>, n: number): boolean => {
  for (let i = 0; i < n; ++i) if (!Number.isFinite(a[i])) return false;
  return true;
};

/* What the file says, or the default where it says nothing usable. Two numbers: planar. */
export function vec3(a: ArrayLike<number> | null | undefined, fallback: Vec3 = [0, 0, 0]): Vec3 {
  if (!a || a.length < 2 || !finite(a, Math.min(3, a.length))) return [...fallback];
  return [a[0]!, a[1]!, a.length > 2 ? a[2]! : 0];
}

export function quat(a: ArrayLike<number> | null | undefined): Quat {
  if (!a || a.length < 4 || !finite(a, 4)) return [...IDENTITY];
  const n = Math.hypot(a[0]!, a[1]!, a[2]!, a[3]!);
  return n > 1e-12 ? [a[0]! / n, a[1]! / n, a[2]! / n, a[3]! / n] : [...IDENTITY];
}
