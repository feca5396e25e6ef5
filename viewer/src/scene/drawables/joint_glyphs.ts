/* What joints look like: a table from types to drawings. Each side is drawn in the axes of its body,
 * with z the joint's axis, so that a joint can be seen to turn or slide. g is its size. */
import type { JointData, Vec3 } from "../../data/format";
import { darker, layerOf } from "../../geometry/default_shape";
import type { Frame } from "../../geometry/layout";
import { across, add, along, cross, dot, middle, mul, quat, sub, unit, unrotate, vec3 } from "../../geometry/vector";
import type { BuildContext } from "../drawable";
import { DARK_STEEL, DRIVEN, GROUND, SHEET, STEEL } from "../palette";

export interface JointView {
  context: BuildContext;
  joint: JointData;
  a: Frame;
  b: Frame;
  g: number;
  ground: number; /* size of what stands for the ground */
  driven: boolean;
}

type Glyph = (v: JointView) => void;

/* The sign of the ground: a plate with strokes, facing `down`. */
export function hatch(context: BuildContext, at: Vec3, down: Vec3, half: number): void {
  const { list, layout } = context;
  const color = list.color;
  const category = list.category;
  list.category = "ground";
  list.color = GROUND;
  const n: Vec3 = layout.planar ? [0, 0, 1] : across(down);
  const x = layout.planar ? unit(cross(n, down), [1, 0, 0]) : cross(n, down);
  const deep = layout.planar ? 0.8 * layout.layerHeight : 1.4 * half;
  list.box(-1, along(at, down, 0.08 * half), [x, n, down], [2.2 * half, deep, 0.16 * half]);
  const slant = unit(add(mul(down, 1), mul(x, -0.8)));
  for (let k = -2; k <= 2; ++k) {
    const p = add(along(at, down, 0.38 * half), mul(x, (k * 0.42 + 0.08) * half));
    list.box(-1, p, [slant, n, cross(slant, n)], [0.55 * half, deep * 0.9, 0.07 * half]);
  }
  list.color = color;
  list.category = category;
}

/* z of the layers between two bodies of a planar model: what a pin must pass. */
function depth(v: JointView): [number, number] {
  const { layout } = v.context;
  if (!layout.planar) return [0, 0];
  let low = 0;
  let high = 0;
  const z = [v.a, v.b].map((f) => layout.bodies[f.body]).filter((b) => b !== undefined).map((b) => layerOf(b, layout));
  if (z.length) {
    low = Math.min(...z);
    high = Math.max(...z);
  }
  return [low, high];
}

/* A pillar of the ground under a joint: two cheeks and a plate; round where the axis is upright. */
function pillar(v: JointView, f: Frame, half: number): void {
  const { list, layout } = v.context;
  const down = mul(layout.up, -1);
  const g = v.ground;
  const color = list.color;
  list.category = "ground";
  list.color = GROUND;
  if (Math.abs(dot(f.z, down)) > 0.7) {
    const top = along(f.origin, down, 0.75 * g);
    const foot = along(f.origin, down, Math.max(1.5 * g, 1.2 * v.g));
    list.cylinder(-1, top, foot, 0.75 * g);
    hatch(v.context, foot, down, 1.3 * g);
  } else {
    const foot = along(f.origin, down, Math.max(1.7 * g, v.g));
    const side = unit(cross(f.z, down));
    for (const k of layout.planar ? [layout.groundLayer] : [-half, half]) {
      const c = along(f.origin, f.z, k);
      list.triangle(-1, c, along(along(foot, f.z, k), side, 0.95 * g), along(along(foot, f.z, k), side, -0.95 * g), f.z, 0.22 * g);
      list.round("cylinder", -1, c, side, f.z, 0.62 * g, 0.22 * g);
    }
    hatch(v.context, layout.planar ? along(foot, f.z, layout.groundLayer) : foot, down, 1.3 * g);
  }
  list.category = "joints";
  list.color = color;
}

const grounded = (v: JointView): Frame | null => (v.a.body < 0 ? v.a : v.b.body < 0 ? v.b : null);

const revolute: Glyph = (v) => {
  const { list, layout } = v.context;
  const { a, b } = v;
  let { g } = v;
  const ring = Math.max(layout.bodies[a.body]?.ring ?? 0, layout.bodies[b.body]?.ring ?? 0);
  if (ring > 0 && !layout.planar) {
    /* gimbals: pins on both sides, from the outer ring to the inner one */
    const small = Math.min(...[a, b].map((f) => layout.bodies[f.body]?.ring ?? 0).map((r) => (r > 0 ? r : 0.75 * ring)));
    g = 0.1 * ring;
    list.color = v.driven ? DRIVEN : DARK_STEEL;
    for (const s of [-1, 1]) list.cylinder(b.body, along(b.origin, b.z, 0.86 * small * s), along(b.origin, b.z, 1.03 * ring * s), 0.5 * g);
    const f = grounded(v);
    if (f) {
      const down = dot(f.z, layout.up) > 0 ? -1 : 1;
      pillar({ ...v, g, ground: g }, { ...f, origin: along(f.origin, f.z, down * 1.0 * ring) }, g);
    }
    return;
  }
  if (layout.planar) {
    const [low, high] = depth(v);
    const h = layout.layerHeight;
    const from = grounded(v) ? layout.groundLayer - 0.2 * h : low - 0.55 * h;
    list.color = v.driven ? DRIVEN : STEEL;
    list.cylinder(b.body, [b.origin[0], b.origin[1], from], [b.origin[0], b.origin[1], high + 0.62 * h], 0.34 * g);
    list.color = DARK_STEEL;
    if (list.detail < 2) list.cylinder(b.body, [b.origin[0], b.origin[1], high + 0.62 * h], [b.origin[0], b.origin[1], high + 0.72 * h], 0.2 * g);
  } else {
    list.color = STEEL;
    list.cylinder(a.body, along(a.origin, a.z, -0.62 * g), along(a.origin, a.z, 0.62 * g), 0.6 * g);
    list.color = v.driven ? DRIVEN : DARK_STEEL;
    list.cylinder(b.body, along(b.origin, b.z, -0.95 * g), along(b.origin, b.z, 0.95 * g), 0.34 * g);
    if (list.detail < 2) for (const k of [-0.8, 0.8]) list.cylinder(b.body, along(b.origin, b.z, (k - 0.1) * g), along(b.origin, b.z, (k + 0.1) * g), 0.6 * g);
  }
  const f = grounded(v);
  if (f) pillar(v, f, 1.05 * g);
};

/* Rail along z of a as long as the slide ever is; the block is the body itself, or a sleeve. */
function range(v: JointView, reach = 2.2 * v.g): [number, number] {
  const { run, layout } = v.context;
  let low = -reach;
  let high = reach;
  const step = Math.max(1, Math.floor(run.frames / 60));
  const pa = [0, 0, 0];
  const pb = [0, 0, 0];
  const qa = [0, 0, 0];
  for (let i = 0; i < run.frames; i += step) {
    run.pointAt(v.a.body, v.a.origin, i, pa, 0);
    run.pointAt(v.a.body, along(v.a.origin, v.a.z, 1), i, qa, 0);
    run.pointAt(v.b.body, v.b.origin, i, pb, 0);
    const s = (pb[0]! - pa[0]!) * (qa[0]! - pa[0]!) + (pb[1]! - pa[1]!) * (qa[1]! - pa[1]!) + (pb[2]! - pa[2]!) * (qa[2]! - pa[2]!);
    if (!Number.isFinite(s)) continue;
    low = Math.min(low, s - reach);
    high = Math.max(high, s + reach);
  }
  return [Math.max(low, -6 * layout.size), Math.min(high, 6 * layout.size)];
}

const prismatic: Glyph = (v) => {
  const { list, layout } = v.context;
  const { g, a, b } = v;
  /* seen on both sides of the block even when that rests */
  const block = Math.max(layout.bodies[a.body]?.block ?? 0, layout.bodies[b.body]?.block ?? 0);
  const [low, high] = range(v, Math.max(2.2 * g, block + 1.6 * g));
  const z = layout.planar ? (a.body < 0 ? layout.groundLayer : depth(v)[0] - 0.5 * layout.layerHeight) : 0;
  const c = along(a.origin, [0, 0, 1], z);
  const p = along(c, a.z, low);
  const q = along(c, a.z, high);
  list.color = a.body < 0 ? GROUND : STEEL;
  const x = layout.planar ? unit(cross([0, 0, 1], a.z), [0, 1, 0]) : Math.abs(dot(a.z, layout.up)) > 0.9 ? across(a.z) : unit(cross(layout.up, a.z));
  const y = cross(a.z, x);
  list.box(a.body, middle(p, q), [a.z, x, y], [high - low, 0.42 * g, layout.planar ? 0.3 * layout.layerHeight : 0.42 * g]);
  if (a.body < 0)
    for (const e of [p, q]) {
      const down = layout.planar && Math.abs(dot(a.z, layout.up)) > 0.7 ? x : mul(layout.up, -1);
      if (Math.abs(dot(a.z, down)) > 0.9) hatch(v.context, e, dot(sub(e, c), down) > 0 ? down : mul(down, -1), 0.8 * v.ground);
      else hatch(v.context, along(e, down, 0.2 * g), down, 0.8 * v.ground);
    }
  list.color = v.driven ? DRIVEN : DARK_STEEL;
  const bz = layout.planar ? depth(v)[0] : 0;
  const cb = along(b.origin, [0, 0, 1], bz);
  const bx = layout.planar ? unit(cross([0, 0, 1], b.z), [0, 1, 0]) : across(b.z);
  list.box(b.body, cb, [b.z, bx, cross(b.z, bx)], [1.5 * g, layout.planar ? 0.9 * g : 0.8 * g, layout.planar ? 0.9 * layout.layerHeight : 0.8 * g]);
};

const cylindrical: Glyph = (v) => {
  const { list } = v.context;
  const { g, a, b } = v;
  const [low, high] = range(v);
  list.color = STEEL;
  list.cylinder(a.body, along(a.origin, a.z, low), along(a.origin, a.z, high), 0.26 * g);
  list.color = v.driven ? DRIVEN : DARK_STEEL;
  list.round("tube", b.body, b.origin, b.x, b.z, 0.62 * g, 1.5 * g);
  list.round("cylinder", b.body, b.origin, b.x, b.z, 0.54 * g, 1.3 * g);
  if (a.body < 0) pillar(v, a, 1.1 * g);
};

const spherical: Glyph = (v) => {
  const { list, layout } = v.context;
  const { g, a, b } = v;
  list.color = STEEL;
  const z = a.body < 0 ? layout.up : a.z;
  list.round("tube", a.body, along(a.origin, z, -0.12 * g), across(z), z, 0.72 * g, 0.5 * g);
  list.color = DARK_STEEL;
  list.ball(b.body, b.origin, 0.58 * g);
  if (a.body < 0) {
    list.category = "ground";
    list.color = GROUND;
    const foot = along(a.origin, layout.up, -Math.max(0.9 * g, 2 * v.ground));
    list.between("cone", -1, foot, along(a.origin, layout.up, -0.1 * g), v.ground);
    hatch(v.context, foot, mul(layout.up, -1), 1.3 * v.ground);
    list.category = "joints";
  }
};

/* Two prongs from the ends of an arm back to the body. */
function fork(v: JointView, f: Frame, arm: Vec3): void {
  const { list } = v.context;
  const { g } = v;
  let back = sub([0, 0, 0], f.origin);
  back = unit(sub(back, mul(arm, dot(back, arm))), f.body < 0 ? mul(v.context.layout.up, -1) : across(arm));
  if (f.body < 0) back = unit(sub(mul(v.context.layout.up, -1), mul(arm, -dot(v.context.layout.up, arm))), across(arm));
  const ends: Vec3[] = [];
  for (const s of [-1, 1]) {
    const c = along(f.origin, arm, 0.95 * s * g);
    list.cylinder(f.body, along(c, arm, -0.14 * g), along(c, arm, 0.14 * g), 0.36 * g);
    const e = along(c, back, 1.75 * g);
    list.bar(f.body, c, e, arm, 0.5 * g, 0.22 * g);
    ends.push(e);
  }
  list.bar(f.body, ends[0]!, ends[1]!, back, 0.5 * g, 0.3 * g);
}

/* A cross: an arm held by each body, each in a fork of its own. */
const universal: Glyph = (v) => {
  const { list } = v.context;
  const { g, a, b } = v;
  const arms: [Frame, Vec3, number][] = [
    [a, a.z, STEEL],
    [b, b.x, DARK_STEEL],
  ];
  for (const [f, arm, color] of arms) {
    list.color = v.driven ? DRIVEN : color;
    list.cylinder(f.body, along(f.origin, arm, -1.0 * g), along(f.origin, arm, 1.0 * g), 0.2 * g);
    list.color = color;
    fork(v, f, arm);
  }
  list.color = STEEL;
  list.ball(b.body, b.origin, 0.36 * g);
  if (a.body < 0) {
    list.color = GROUND;
    hatch(v.context, along(a.origin, v.context.layout.up, -1.1 * g), mul(v.context.layout.up, -1), 1.2 * v.ground);
    list.category = "ground";
    list.cylinder(-1, along(a.origin, v.context.layout.up, -1.1 * g), along(a.origin, v.context.layout.up, -0.3 * g), 0.4 * g);
    list.category = "joints";
  }
};

/* The place where the second body ever is in a plane of the first: its centre and its edges. */
function field(v: JointView, below: number): { centre: Vec3; edges: [number, number] } {
  const { layout, run } = v.context;
  const { a, b, g } = v;
  const p = [0, 0, 0];
  const low = [0, 0];
  const high = [0, 0];
  const step = Math.max(1, Math.floor(run.frames / 80));
  if (a.body < 0)
    for (let i = 0; i < run.frames; i += step) {
      run.pointAt(b.body, b.origin, i, p, 0);
      const d = sub(vec3(p), a.origin);
      [a.x, a.y].forEach((e, k) => {
        const s = Math.min(Math.max(dot(d, e), -4 * layout.size), 4 * layout.size);
        low[k] = i === 0 ? s : Math.min(low[k]!, s);
        high[k] = i === 0 ? s : Math.max(high[k]!, s);
      });
    }
  const edge = Math.max(3 * g, 0.08 * layout.size);
  const centre = add(a.origin, add(mul(a.x, (low[0]! + high[0]!) / 2), mul(a.y, (low[1]! + high[1]!) / 2)));
  return { centre: along(centre, a.z, -below), edges: [high[0]! - low[0]! + 2 * edge, high[1]! - low[1]! + 2 * edge] };
}

function sheet(v: JointView, below: number): void {
  const { list } = v.context;
  const { a, g } = v;
  const { centre, edges } = field(v, below);
  list.color = SHEET;
  list.box(a.body, centre, [a.x, a.y, a.z], [...edges, 0.1 * g]);
}

/* The border of a sheet, which hides nothing. */
function frame(v: JointView, below: number): void {
  const { list } = v.context;
  const { a, g } = v;
  const { centre, edges } = field(v, below);
  const wide = 0.25 * g;
  list.color = SHEET;
  for (const side of [-0.5, 0.5]) {
    list.box(a.body, along(centre, a.x, side * edges[0]), [a.x, a.y, a.z], [wide, edges[1] + wide, 0.1 * g]);
    list.box(a.body, along(centre, a.y, side * edges[1]), [a.x, a.y, a.z], [edges[0] + wide, wide, 0.1 * g]);
  }
}

const planar: Glyph = (v) => {
  const { list } = v.context;
  const { g, b } = v;
  sheet(v, 0.25 * g);
  list.color = DARK_STEEL;
  list.round("cylinder", b.body, along(b.origin, b.z, -0.1 * g), b.x, b.z, 0.9 * g, 0.2 * g);
};

const screw: Glyph = (v) => {
  const { list } = v.context;
  const { a, b } = v;
  const shaft = Math.max(v.context.layout.bodies[a.body]?.thick ?? 0, v.context.layout.bodies[b.body]?.thick ?? 0);
  const g = Math.max(v.g, 3 * shaft);
  const [low, high] = range(v);
  const turns = Math.max(6, Math.min(60, Math.round((high - low) / (0.5 * g))));
  list.color = STEEL;
  list.round(`thread:${turns}`, a.body, along(a.origin, a.z, (low + high) / 2), a.x, a.z, 0.4 * g, high - low);
  list.color = v.driven ? DRIVEN : DARK_STEEL;
  for (let k = 0; k < 3; ++k) {
    const d = add(mul(b.x, Math.cos((k * Math.PI) / 3)), mul(b.y, Math.sin((k * Math.PI) / 3)));
    list.box(b.body, b.origin, [d, cross(b.z, d), b.z], [1.35 * g, 0.78 * g, 0.8 * g]); /* a nut of three boxes: hexagonal */
  }
};

const rod: Glyph = (v) => {
  const { list, layout } = v.context;
  const { a, b } = v;
  const many = layout.bodies.length > 40 ? 0.5 : 1;
  const point = (f: Frame): { body: number; point: Vec3 } => {
    const body = layout.bodies[f.body];
    return { body: f.body, point: layout.planar && body ? along(f.origin, [0, 0, 1], layerOf(body, layout)) : f.origin };
  };
  const r = Math.min(Math.max(0.2 * v.g, 0.004 * many * layout.size), 0.008 * layout.size);
  list.color = STEEL;
  list.span("rod", point(a), point(b), r, 0);
  list.color = DARK_STEEL;
  for (const f of [point(a), point(b)]) list.ball(f.body, f.point, 1.9 * r);
  if (a.body < 0) hatch(v.context, a.origin, layout.up, 6 * r);
};

const pointOnLine: Glyph = (v) => {
  const { list, layout } = v.context;
  const { a, b } = v;
  const g = Math.min(v.g, layout.bodies[b.body]?.width ?? v.g);
  const [low, high] = range(v, 1.4 * g);
  const host = layout.bodies[a.body];
  const z = layout.planar ? (host ? layerOf(host, layout) : layout.groundLayer) : 0;
  const deep = layout.planar ? 1.15 * layout.layerHeight : 0.4 * g;
  const x = layout.planar ? unit(cross([0, 0, 1], a.z), [0, 1, 0]) : across(a.z);
  const y = cross(a.z, x);
  const c = along(along(a.origin, a.z, (low + high) / 2), [0, 0, 1], z);
  list.color = a.body < 0 ? GROUND : STEEL;
  /* two rails, a slot between them */
  for (const s of [-1, 1]) list.box(a.body, along(c, x, 0.55 * s * g), [a.z, x, y], [high - low, 0.2 * g, deep]);
  for (const s of [low, high]) list.box(a.body, along(c, a.z, s - (low + high) / 2), [a.z, x, y], [0.2 * g, 1.2 * g, deep]);
  list.color = DARK_STEEL;
  const body = layout.bodies[b.body];
  const p = layout.planar && body ? along(b.origin, [0, 0, 1], layerOf(body, layout)) : b.origin;
  if (layout.planar) list.cylinder(b.body, [p[0], p[1], Math.min(z, p[2] - layout.layerHeight)], along(p, [0, 0, 1], 0.6 * layout.layerHeight), 0.4 * g);
  else list.ball(b.body, p, 0.42 * g);
};

const pointOnPlane: Glyph = (v) => {
  const { list } = v.context;
  frame(v, 0.1 * v.g);
  list.color = DARK_STEEL;
  list.ball(v.b.body, v.b.origin, 0.45 * v.g);
};

const constantVelocity: Glyph = (v) => {
  const { list } = v.context;
  const { g, a, b } = v;
  list.color = STEEL;
  list.round("tube", a.body, a.origin, a.x, a.z, 0.95 * g, 1.1 * g);
  list.color = DARK_STEEL;
  list.ball(b.body, b.origin, 0.62 * g);
  list.color = v.driven ? DRIVEN : 0xd5dae1;
  for (let k = 0; k < 6; ++k) {
    const t = (k * Math.PI) / 3;
    list.ball(b.body, add(b.origin, add(mul(b.x, 0.7 * g * Math.cos(t)), mul(b.y, 0.7 * g * Math.sin(t)))), 0.2 * g);
  }
};

const fixed: Glyph = (v) => {
  const { list, layout } = v.context;
  const { g, a, b } = v;
  list.color = STEEL;
  const body = layout.bodies[b.body];
  const c = layout.planar && body ? along(b.origin, [0, 0, 1], layerOf(body, layout)) : b.origin;
  const s = 0.62 * g;
  list.box(b.body, c, [unit(add(b.x, b.y)), unit(sub(b.y, b.x)), b.z], [s, s, layout.planar ? 1.3 * layout.layerHeight : s]);
  if (a.body < 0) hatch(v.context, along(a.origin, layout.up, -0.5 * g), mul(layout.up, -1), 1.1 * v.ground);
};

/* The wheel is the body; here its plane, where the ground is not already it. */
const rolling: Glyph = (v) => {
  const { list, layout } = v.context;
  const n = unit(vec3(v.joint.plane?.normal, layout.up), layout.up);
  const p = vec3(v.joint.plane?.point);
  if (layout.planar) {
    const x = unit(cross(n, [0, 0, 1]), [1, 0, 0]);
    list.category = "ground";
    list.color = GROUND;
    list.box(-1, along(p, n, -0.01 * layout.size), [x, n, [0, 0, 1]], [8 * layout.size, 0.02 * layout.size, 4 * layout.layerHeight]);
    list.category = "joints";
  } else if (dot(n, layout.up) < 0.999) {
    const x = across(n);
    list.color = GROUND;
    list.box(-1, along(p, n, -0.01 * layout.size), [x, cross(n, x), n], [6 * layout.size, 6 * layout.size, 0.01 * layout.size]);
  }
};

/* Toothed wheels of a gear stand in a plane of their own, so that a shaft may carry several: one
 * layer per pair in planar models, beside each other along the shaft in space. Bodies with shapes of
 * their own look as the file says: no wheels are drawn over them. */
export function gears(context: BuildContext, ownerOf: (joint: string) => number, ownerOfBody: (body: number) => number, colorOf: (body: number) => number): void {
  const { list, layout } = context;
  const bodies = context.run.scene.bodies ?? [];
  layout.gears.forEach((pair, k) => {
    for (const w of pair.wheels) {
      const thick = layout.planar ? Math.min(0.9 * layout.layerHeight, 0.5 * w.radius) : w.width;
      /* a rack and its pinion in front of the bar that carries the teeth */
      const plane = layout.planar ? ((k % 6) + (pair.joint.type === "rack" ? 1 : 0)) * 1.15 * layout.layerHeight : w.shift;
      if (!layout.bodies[w.frame.body]?.shapes.length) {
        const c = along(w.frame.origin, w.frame.z, plane);
        const x = add(mul(w.frame.x, Math.cos(w.phase)), mul(w.frame.y, Math.sin(w.phase)));
        list.category = "bodies";
        list.owner = ownerOfBody(w.frame.body);
        list.color = colorOf(w.frame.body);
        list.round(`gear:${w.teeth}`, w.frame.body, c, x, w.frame.z, w.radius, thick);
        list.color = DARK_STEEL;
        list.round("cylinder", w.frame.body, c, x, w.frame.z, 0.22 * w.radius, 1.5 * thick);
      }
      list.category = "joints";
      list.owner = ownerOf(pair.joint.name);
      if (pair.joint.type === "rack") rackTeeth(context, pair.joint, w.radius, thick, plane, ownerOfBody, colorOf);
    }
    if (!pair.wheels.length && pair.joint.joints)
      for (const name of pair.joint.joints) {
        /* shafts that are not parallel, or on one line: rings that say they turn together */
        const j = context.run.scene.joints?.find((x) => x.name === name);
        if (!j?.b) continue;
        const f = layout.frames(j)[1];
        if (layout.bodies[f.body]?.shapes.length) continue;
        const r = 1.5 * layout.jointSize(j);
        list.category = "joints";
        list.owner = ownerOf(pair.joint.name);
        list.color = STEEL;
        list.round("gear:16", f.body, along(f.origin, f.z, 1.2 * r * (bodies.length ? 1 : 0)), f.x, f.z, r, 0.4 * r);
      }
  });
}

function rackTeeth(context: BuildContext, joint: JointData, radius: number, thick: number, plane: number, ownerOfBody: (body: number) => number, colorOf: (body: number) => number): void {
  const { list, layout, run } = context;
  const bodies = run.scene.bodies ?? [];
  const slide = joint.joints?.map((n) => run.scene.joints?.find((j) => j.name === n)).find((j) => j?.type === "prismatic" || j?.type === "cylindrical");
  const wheel = joint.joints?.map((n) => run.scene.joints?.find((j) => j.name === n)).find((j) => j !== slide);
  if (!slide?.b || !wheel?.b) return;
  const f = layout.frames(slide)[1];
  if (layout.bodies[f.body]?.shapes.length) return;
  const body = bodies[f.body];
  const centre = layout.frames(wheel)[1];
  const host = bodies[centre.body];
  if (!body || !host) return;
  /* in the rack's axes: the pinion's centre, and the foot of the tooth line below it */
  const world = add(vec3(host.position), centre.origin);
  const c = unrotate(quat(body.rotation), sub(world, vec3(body.position)));
  const away = sub(c, along(f.origin, f.z, dot(sub(c, f.origin), f.z)));
  const up = unit(away, across(f.z));
  const pitch = (2 * Math.PI * radius) / 14;
  const base = along(along(c, up, -radius), f.z, 0);
  const [low, high] = range({ context, joint: slide, a: layout.frames(slide)[0], b: f, g: radius, ground: radius, driven: false });
  const n = Math.min(200, Math.ceil((high - low) / pitch / 2));
  list.category = "bodies";
  list.owner = ownerOfBody(f.body);
  list.color = darker(colorOf(f.body), 0.75);
  const z = cross(f.z, up);
  const lift = layout.planar ? plane : 0;
  const at = (p: Vec3): Vec3 => (layout.planar ? [p[0], p[1], lift] : p);
  for (let k = -n; k <= n; ++k) list.box(f.body, at(along(base, f.z, (k + 0.5) * pitch)), [f.z, up, z], [0.45 * pitch, 0.36 * pitch * 2, thick]);
  list.box(f.body, at(along(base, up, -0.3 * radius)), [f.z, up, z], [(2 * n + 1) * pitch, 0.35 * radius, thick]);
  list.category = "joints";
}

const axisOf: Glyph = (v) => {
  v.context.list.color = STEEL;
  v.context.list.ball(v.b.body, v.b.origin, 0.5 * v.g);
};

export const GLYPHS: Record<string, Glyph> = {
  revolute,
  prismatic,
  cylindrical,
  spherical,
  universal,
  planar,
  screw,
  distance: rod,
  "point-on-line": pointOnLine,
  "point-on-plane": pointOnPlane,
  "constant-velocity": constantVelocity,
  fixed,
  "rolling-disc": rolling,
  gear: () => undefined,
  rack: () => undefined,
};

export const unknownGlyph: Glyph = axisOf;
