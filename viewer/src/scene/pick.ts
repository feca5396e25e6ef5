/* What is under the pointer: the ray goes into the frame of each part, where solids are simple. On the
 * CPU, because parts are placed by the shader and no copy of their vertices exists. */
import type { Run } from "../data/run";
import { transform } from "../data/run";
import type { Category, PartList } from "./parts";

const enum Kind {
  box,
  ball,
  round,
  wedge,
  mesh,
}

const KINDS: Record<string, Kind> = { box: Kind.box, ball: Kind.ball, wedge: Kind.wedge };

function invert(m: number[], out: Float64Array, o: number): void {
  const [a, b, c, x, d, e, f, y, g, h, i, z] = m as [number, number, number, number, number, number, number, number, number, number, number, number];
  const A = e * i - f * h;
  const B = f * g - d * i;
  const C = d * h - e * g;
  const det = a * A + b * B + c * C;
  const s = Math.abs(det) > 1e-300 ? 1 / det : 0;
  const r = [A, c * h - b * i, b * f - c * e, B, a * i - c * g, c * d - a * f, C, b * g - a * h, a * e - b * d];
  for (let k = 0; k < 3; ++k) {
    const [p, q, w] = [r[3 * k]! * s, r[3 * k + 1]! * s, r[3 * k + 2]! * s];
    out[o + 4 * k] = p;
    out[o + 4 * k + 1] = q;
    out[o + 4 * k + 2] = w;
    out[o + 4 * k + 3] = -(p * x + q * y + w * z);
  }
}

/* Entry of the ray p + t d into the box, or Infinity. */
function slab(p: Float64Array, d: Float64Array, low: ArrayLike<number>, high: ArrayLike<number>): number {
  let near = -Infinity;
  let far = Infinity;
  for (let k = 0; k < 3; ++k) {
    if (Math.abs(d[k]!) < 1e-300) {
      if (p[k]! < low[k]! || p[k]! > high[k]!) return Infinity;
      continue;
    }
    let t0 = (low[k]! - p[k]!) / d[k]!;
    let t1 = (high[k]! - p[k]!) / d[k]!;
    if (t0 > t1) [t0, t1] = [t1, t0];
    if (t0 > near) near = t0;
    if (t1 < far) far = t1;
    if (near > far) return Infinity;
  }
  return far < 0 ? Infinity : Math.max(near, 0);
}

const BOX = [-0.5, -0.5, -0.5] as const;
const BOX_HIGH = [0.5, 0.5, 0.5] as const;
const ROUND = [-1, -1, -0.5] as const;
const ROUND_HIGH = [1, 1, 0.5] as const;
const WEDGE = [0, 0, -0.5] as const;
const WEDGE_HIGH = [1, 1, 0.5] as const;

function sphere(p: Float64Array, d: Float64Array): number {
  const a = d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!;
  const b = p[0]! * d[0]! + p[1]! * d[1]! + p[2]! * d[2]!;
  const c = p[0]! * p[0]! + p[1]! * p[1]! + p[2]! * p[2]! - 1;
  const h = b * b - a * c;
  if (h < 0) return Infinity;
  const t = (-b - Math.sqrt(h)) / a;
  return t >= 0 ? t : Infinity;
}

/* Infinite cylinder of radius 1 about z, within the slab. */
function cylinder(p: Float64Array, d: Float64Array): number {
  const t = slab(p, d, ROUND, ROUND_HIGH);
  if (t === Infinity) return t;
  const a = d[0]! * d[0]! + d[1]! * d[1]!;
  const b = p[0]! * d[0]! + p[1]! * d[1]!;
  const c = p[0]! * p[0]! + p[1]! * p[1]! - 1;
  const h = b * b - a * c;
  if (a > 0 && h < 0) return Infinity;
  return t;
}

function mesh(p: Float64Array, d: Float64Array, xyz: Float32Array): number {
  let best = Infinity;
  for (let i = 0; i + 8 < xyz.length; i += 9) {
    const e1x = xyz[i + 3]! - xyz[i]!;
    const e1y = xyz[i + 4]! - xyz[i + 1]!;
    const e1z = xyz[i + 5]! - xyz[i + 2]!;
    const e2x = xyz[i + 6]! - xyz[i]!;
    const e2y = xyz[i + 7]! - xyz[i + 1]!;
    const e2z = xyz[i + 8]! - xyz[i + 2]!;
    const hx = d[1]! * e2z - d[2]! * e2y;
    const hy = d[2]! * e2x - d[0]! * e2z;
    const hz = d[0]! * e2y - d[1]! * e2x;
    const a = e1x * hx + e1y * hy + e1z * hz;
    if (Math.abs(a) < 1e-30) continue;
    const sx = p[0]! - xyz[i]!;
    const sy = p[1]! - xyz[i + 1]!;
    const sz = p[2]! - xyz[i + 2]!;
    const u = (sx * hx + sy * hy + sz * hz) / a;
    if (u < 0 || u > 1) continue;
    const qx = sy * e1z - sz * e1y;
    const qy = sz * e1x - sx * e1z;
    const qz = sx * e1y - sy * e1x;
    const v = (d[0]! * qx + d[1]! * qy + d[2]! * qz) / a;
    if (v < 0 || u + v > 1) continue;
    const t = (e2x * qx + e2y * qy + e2z * qz) / a;
    if (t > 0 && t < best) best = t;
  }
  return best;
}

export class Picker {
  private readonly list: PartList;
  private readonly inverse: Float64Array;
  private readonly kinds: Uint8Array;
  private readonly p = new Float64Array(3);
  private readonly d = new Float64Array(3);
  private readonly bp = new Float64Array(3);
  private readonly bd = new Float64Array(3);
  private readonly u = new Float64Array(3);
  private readonly v = new Float64Array(3);

  constructor(list: PartList) {
    this.list = list;
    this.inverse = new Float64Array(12 * list.parts.length);
    this.kinds = new Uint8Array(list.parts.length);
    list.parts.forEach((part, i) => {
      invert(part.rows, this.inverse, 12 * i);
      this.kinds[i] = list.meshes.has(part.solid) ? Kind.mesh : (KINDS[part.solid] ?? Kind.round);
    });
  }

  /* The nearest owner hit by the ray from `from` along `to`, both in world axes; -1: none. */
  pick(run: Run, from: ArrayLike<number>, to: ArrayLike<number>, shown: (c: Category) => boolean): { owner: number; distance: number } {
    let owner = -1;
    let best = Infinity;
    let body = NaN;
    const { parts, spans, meshes } = this.list;
    for (let i = 0; i < parts.length; ++i) {
      const part = parts[i]!;
      if (part.owner < 0 || !shown(part.category)) continue;
      if (part.body !== body) {
        body = part.body;
        this.intoBody(run, body, from, to);
      }
      const m = this.inverse;
      const o = 12 * i;
      for (let k = 0; k < 3; ++k) {
        const r = o + 4 * k;
        this.p[k] = m[r]! * this.bp[0]! + m[r + 1]! * this.bp[1]! + m[r + 2]! * this.bp[2]! + m[r + 3]!;
        this.d[k] = m[r]! * this.bd[0]! + m[r + 1]! * this.bd[1]! + m[r + 2]! * this.bd[2]!;
      }
      const t = this.enter(this.kinds[i]!, meshes.get(part.solid));
      if (t < best) {
        best = t;
        owner = part.owner;
      }
    }
    for (const s of spans) {
      if (s.owner < 0 || !shown(s.category)) continue;
      this.place(run, s.a.body, s.a.point, this.u);
      this.place(run, s.b.body, s.b.point, this.v);
      const t = segment(from, to, this.u, this.v, s.radius);
      if (t < best) {
        best = t;
        owner = s.owner;
      }
    }
    return { owner, distance: best };
  }

  private enter(kind: Kind, xyz: Float32Array | undefined): number {
    const { p, d } = this;
    if (kind === Kind.ball) return sphere(p, d);
    if (kind === Kind.box) return slab(p, d, BOX, BOX_HIGH);
    if (kind === Kind.mesh) return xyz ? mesh(p, d, xyz) : Infinity;
    if (kind === Kind.round) return cylinder(p, d);
    const t = slab(p, d, WEDGE, WEDGE_HIGH);
    return t < Infinity && p[0]! + t * d[0]! + p[1]! + t * d[1]! > 1.0001 ? Infinity : t;
  }

  private place(run: Run, body: number, point: [number, number, number], out: Float64Array): void {
    if (body < 0) out.set(point);
    else transform(run.poses, 7 * body, point, out, 0);
  }

  private intoBody(run: Run, body: number, from: ArrayLike<number>, to: ArrayLike<number>): void {
    if (body < 0) {
      for (let k = 0; k < 3; ++k) {
        this.bp[k] = from[k]!;
        this.bd[k] = to[k]!;
      }
      return;
    }
    const q = run.poses;
    const o = 7 * body;
    turnBack(q, o, from[0]! - q[o]!, from[1]! - q[o + 1]!, from[2]! - q[o + 2]!, this.bp);
    turnBack(q, o, to[0]!, to[1]!, to[2]!, this.bd);
  }
}

function turnBack(q: Float64Array, o: number, vx: number, vy: number, vz: number, out: Float64Array): void {
  const w = q[o + 3]!;
  const x = -q[o + 4]!;
  const y = -q[o + 5]!;
  const z = -q[o + 6]!;
  const tx = 2 * (y * vz - z * vy);
  const ty = 2 * (z * vx - x * vz);
  const tz = 2 * (x * vy - y * vx);
  out[0] = vx + w * tx + y * tz - z * ty;
  out[1] = vy + w * ty + z * tx - x * tz;
  out[2] = vz + w * tz + x * ty - y * tx;
}

/* Where the ray (unit direction d) comes within r of the segment a b; Infinity: nowhere. */
function segment(p: ArrayLike<number>, d: ArrayLike<number>, a: Float64Array, b: Float64Array, r: number): number {
  let uu = 0;
  let ud = 0;
  let uw = 0;
  let dw = 0;
  for (let k = 0; k < 3; ++k) {
    const u = b[k]! - a[k]!;
    const w = a[k]! - p[k]!;
    uu += u * u;
    ud += u * d[k]!;
    uw += u * w;
    dw += d[k]! * w;
  }
  const den = uu - ud * ud;
  let s = den > 1e-12 * uu ? (dw * ud - uw) / den : 0;
  s = Math.min(1, Math.max(0, s));
  const t = dw + s * ud;
  if (t < 0) return Infinity;
  let gap = 0;
  for (let k = 0; k < 3; ++k) {
    const e = a[k]! + s * (b[k]! - a[k]!) - p[k]! - t * d[k]!;
    gap += e * e;
  }
  return gap <= r * r ? t - r : Infinity;
}
