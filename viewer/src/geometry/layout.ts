/* How large things are drawn. A model may be a watch or a satellite with its tether, and nothing in
 * it says how thick a link is; so sizes come from distances:
 *
 *     size of the model      diagonal of the box around all centres of mass and attachment points
 *     span of a body         largest distance of its attachment points (and its centre of mass)
 *     width of a body        the same for all: the median seventh of their spans, within bounds of the
 *                            model's size; less for bodies too short for it
 *     size of a joint        the smaller width of what it joins; of given shapes how thick they are there
 *     size of the ground     under a joint: that of the joint, and small compared with the body it carries
 *
 * Planar models are drawn in layers, as a real linkage is built: neighbours get different ones, wheels,
 * blocks and plates lie behind the bars joined to them, and the ground behind everything. */
import type { AnchorData, BodyData, JointData, Quat, SceneData, Vec3 } from "../data/format";
import { equivalentBox, principal, type Principal } from "./inertia";
import { corners, shapeBoxes, thicknessAt, type ShapeBox } from "./shape_box";
import { add, conjugate, cross, distance, dot, norm, quat, rotate, sub, unit, vec3 } from "./vector";

export interface Attachment {
  point: Vec3; /* body axes */
  axis: Vec3 | null;
  type: string; /* of the joint; "force" or "point" */
  owner: string;
  inner: boolean; /* the second side of its joint */
}

export interface BodyLayout {
  index: number;
  data: BodyData;
  mass: number;
  principal: Principal;
  box: Vec3; /* of the same inertia, along the principal axes */
  attachments: Attachment[];
  span: number;
  width: number;
  layer: number;
  gear: number; /* radius of the pitch circle, 0: not a gear */
  rack: number; /* radius of the pinion that drives this rack */
  discs: number; /* radius as rolling disc */
  ring: number; /* radius as gimbal: axes that cross in its centre of mass */
  thick: number; /* radius of the rod that is drawn, 0: none */
  block: number; /* half the length, along its rail, of the block that is drawn, 0: none */
  shapes: ShapeBox[]; /* given in the file; none: drawn by default_shape */
}

export interface Frame {
  body: number;
  origin: Vec3;
  x: Vec3;
  y: Vec3;
  z: Vec3;
}

export interface GearPair {
  joint: JointData;
  /* shift: along the axis, into the common plane of a pair; width: of the teeth */
  wheels: { frame: Frame; radius: number; teeth: number; phase: number; other: Vec3; shift: number; width: number }[];
}

export interface Layout {
  planar: boolean;
  size: number;
  centre: Vec3;
  up: Vec3;
  bodies: BodyLayout[];
  layerHeight: number;
  groundLayer: number; /* z of the ground behind a planar model */
  gears: GearPair[];
  frames(joint: JointData): [Frame, Frame];
  jointSize(joint: JointData): number;
  groundSize(joint: JointData): number;
}

export function frameOf(anchor: { body: number; position?: number[]; rotation?: number[] } | undefined): Frame {
  const q: Quat = quat(anchor?.rotation);
  return {
    body: anchor?.body ?? -1,
    origin: vec3(anchor?.position),
    x: rotate(q, [1, 0, 0]),
    y: rotate(q, [0, 1, 0]),
    z: rotate(q, [0, 0, 1]),
  };
}

/* A point mass is where its centre is, whatever the joint's marker says: it does not turn. */
function frameIn(bodies: BodyData[], anchor: AnchorData | undefined): Frame {
  const f = frameOf(anchor);
  if (bodies[f.body]?.kind === "point-mass") f.origin = [0, 0, 0];
  return f;
}

/* In world axes at the start. */
export function placeAtStart(bodies: BodyData[], body: number, point: Vec3): Vec3 {
  const b = bodies[body];
  return b ? add(vec3(b.position), rotate(quat(b.rotation), point)) : point;
}

/* Of the model's size: what can still be seen. */
const SMALLEST_JOINT = 0.004;

/* Of a body's span: a bar that is wider looks like a block, unless it could hardly be seen otherwise. */
const WIDEST_BAR = 0.35;

/* Of the extent of the body it carries. Plate and strokes of the ground are 2.6 times as wide. */
const LARGEST_GROUND = 0.13;

/* Of the radius of the rods that a universal joint connects. */
export const WIDEST_FORK = 2.2;
const FORKED = new Set(["universal", "constant-velocity"]);

const NO_ATTACHMENT = new Set(["gear", "rack"]);
const AXIAL = new Set(["revolute", "cylindrical", "screw", "prismatic", "rolling-disc", "point-on-line"]);

export function distinct(points: Vec3[], eps: number): Vec3[] {
  const out: Vec3[] = [];
  for (const p of points) if (!out.some((q) => distance(p, q) <= eps)) out.push(p);
  return out;
}

function clamp(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high);
}

export function layOut(scene: SceneData): Layout {
  const data = scene.bodies ?? [];
  const joints = scene.joints ?? [];
  const planar = scene.dimension === 2;
  const shapes = shapeBoxes(scene);
  const bodies = data.map((b, index): BodyLayout => {
    const mass = b.mass !== undefined && b.mass > 0 ? b.mass : 0;
    let inertia = b.inertia ?? [];
    /* a planar body has one moment: that of a flat body */
    if (planar) inertia = [(inertia[2] ?? 0) / 2, (inertia[2] ?? 0) / 2, inertia[2] ?? 0];
    const p = principal(inertia.map((x) => (Number.isFinite(x) ? x : 0)));
    return {
      index,
      data: b,
      mass,
      principal: p,
      box: equivalentBox(p.moments, mass),
      attachments: (b.points ?? []).map((q) => ({ point: vec3(q.position), axis: null, type: "point", owner: q.name, inner: false })),
      span: 0,
      width: 0,
      layer: 0,
      gear: 0,
      rack: 0,
      discs: 0,
      ring: 0,
      thick: 0,
      block: 0,
      shapes: shapes[index]!,
    };
  });
  const anchors: Vec3[] = [];
  for (const j of joints) {
    if (NO_ATTACHMENT.has(j.type)) continue;
    for (const side of [j.a, j.b]) {
      if (!side) continue;
      const f = frameIn(data, side);
      const axis = AXIAL.has(j.type) ? f.z : null;
      if (j.type === "rolling-disc") {
        const b = bodies[f.body];
        if (b && side === j.b) {
          b.discs = j.radius ?? 0;
          b.attachments.push({ point: f.origin, axis, type: j.type, owner: j.name, inner: side === j.b });
        }
        continue;
      }
      if (f.body < 0) anchors.push(f.origin);
      else bodies[f.body]?.attachments.push({ point: f.origin, axis, type: j.type, owner: j.name, inner: side === j.b });
    }
  }
  for (const f of scene.forces ?? [])
    for (const side of [f.a, f.b]) {
      if (!side || f.type === "gravity-field" || f.type === "torque") continue;
      if (side.body < 0) {
        if (f.type === "spring-damper" || f.type === "bushing") anchors.push(vec3(side.position));
      } else bodies[side.body]?.attachments.push({ point: vec3(side.position), axis: null, type: "force", owner: f.name, inner: side === f.b });
    }

  /* the model's box at the start */
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  const see = (p: Vec3): void => {
    for (let k = 0; k < 3; ++k) {
      low[k] = Math.min(low[k]!, p[k]!);
      high[k] = Math.max(high[k]!, p[k]!);
    }
  };
  for (const p of anchors) see(p);
  for (const b of bodies) {
    see(vec3(b.data.position));
    for (const a of b.attachments) see(placeAtStart(data, b.index, a.point));
    for (const s of b.shapes) for (const c of corners(s)) see(placeAtStart(data, b.index, planar ? [c[0], c[1], 0] : c));
  }
  const discs = bodies.reduce((m, b) => Math.max(m, b.discs), 0);
  let size = low[0] <= high[0] ? distance(low, high) : 0;
  const inertial = bodies.reduce((m, b) => Math.max(m, norm(b.box)), 0);
  if (!(size > 0.3 * inertial)) size = Math.max(size, inertial);
  size = Math.max(size, 2 * discs);
  if (!(size > 0) || !Number.isFinite(size)) size = 1;
  const centre: Vec3 = low[0] <= high[0] ? [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2] : [0, 0, 0];

  const g = vec3(scene.gravity);
  const up: Vec3 = planar
    ? norm([g[0], g[1], 0]) > 0
      ? unit([-g[0], -g[1], 0])
      : [0, 1, 0]
    : norm(g) > 0
      ? unit([-g[0], -g[1], -g[2]])
      : [0, 0, 1];

  const heaviest = bodies.reduce((m, b) => Math.max(m, b.mass), 0) || 1;
  const least = (bodies.length > 12 ? 0.008 : bodies.length > 4 ? 0.014 : 0.024) * size;
  for (const b of bodies) {
    const points = distinct([...b.attachments.map((a) => a.point), [0, 0, 0]], 1e-9 * size);
    for (let i = 0; i < points.length; ++i)
      for (let k = 0; k < i; ++k) b.span = Math.max(b.span, distance(points[i]!, points[k]!));
  }
  const common = commonWidth(bodies, size, least);
  for (const b of bodies) {
    if (b.data.kind === "point-mass") {
      const part = clamp(Math.cbrt(b.mass / heaviest), 0.3, 1);
      b.width = clamp((0.12 * size * part) / Math.sqrt(bodies.length), 0.008 * size, 0.07 * size);
    } else if (isLong(b, size)) b.width = Math.min(common, Math.max(WIDEST_BAR * b.span, Math.min(least, 0.8 * b.span)));
    else b.width = clamp(b.box[0] > 0 ? b.box[0] / 3 : common, least, common);
    b.ring = gimbal(b, size);
  }

  const gears = pairGears(scene, bodies);
  for (const b of bodies) {
    if (b.rack > 0) b.width = Math.min(b.width, 1.4 * b.rack);
    if (b.gear > 0) b.width = Math.min(b.width, 0.6 * b.gear);
    if (b.discs > 0) b.width = Math.min(b.width, 0.25 * b.discs);
  }
  const layers = planar ? assignLayers(bodies, joints, size) : 0;
  const widths = bodies.map((b) => b.width).sort((x, y) => x - y);
  const median = widths[widths.length >> 1] ?? 0.03 * size;

  const layerHeight = planar ? 0.4 * median : 0;

  return {
    planar,
    size,
    centre,
    up,
    bodies,
    gears,
    layerHeight,
    groundLayer: -layers * layerHeight,
    frames: (j) => [frameIn(data, j.a), frameIn(data, j.b)],
    groundSize(j) {
      const b = bodies[j.a?.body ?? -1] ?? bodies[j.b?.body ?? -1];
      const g = this.jointSize(j);
      return b && b.data.kind !== "point-mass" ? Math.min(g, Math.max(LARGEST_GROUND * extent(b), 1.4 * b.thick, SMALLEST_JOINT * size)) : g;
    },
    jointSize(j) {
      let w = Infinity;
      let rod = Infinity;
      for (const side of [j.a, j.b]) {
        const b = side && bodies[side.body];
        if (!b) continue;
        if (b.shapes.length) {
          w = Math.min(w, Math.max(thicknessAt(b.shapes, vec3(side.position)), SMALLEST_JOINT * size));
          continue;
        }
        w = Math.min(w, b.width, b.span > 0.004 * size ? 0.5 * b.span : Infinity);
        if (b.thick > 0) rod = Math.min(rod, b.thick);
      }
      if (!Number.isFinite(w)) return 0.03 * size;
      /* a bearing is not lost inside a thick shaft, nor a fork much wider than its rod */
      if (FORKED.has(j.type)) w = Math.min(w, WIDEST_FORK * rod);
      return Number.isFinite(rod) ? Math.max(w, 1.7 * rod) : w;
    },
  };
}

/* Two turning axes that cross in the centre of mass: a ring that carries them. */
function gimbal(b: BodyLayout, size: number): number {
  const axes = b.attachments.filter((a) => a.type === "revolute" && a.axis && norm(a.point) < 1e-6 * size).map((a) => a.axis!);
  const cross2 = axes.some((u) => axes.some((v) => Math.abs(dot(u, v)) < 0.7));
  return cross2 && b.mass > 0 ? Math.min(Math.sqrt((2 * b.principal.moments[2]) / b.mass), size) : 0;
}

const isLong = (b: BodyLayout, size: number): boolean => b.span > 0.004 * size;

/* The median seventh of what bodies span, so that a short bar is not drawn as a wire beside long ones;
 * of bodies that span nothing, such as wheels on their axles, of the box of their inertia. */
function commonWidth(bodies: BodyLayout[], size: number, least: number): number {
  const rigid = bodies.filter((b) => b.data.kind !== "point-mass");
  const long = rigid.filter((b) => isLong(b, size)).map((b) => b.span);
  const reach = (long.length ? long : rigid.map((b) => Math.min(b.box[0], 0.35 * size))).sort((x, y) => x - y);
  return clamp((reach[reach.length >> 1] ?? 0) / 7, least, 0.05 * size);
}

/* How large a body is: what it spans, or the size of its shapes, of its wheel or of its inertia. */
function extent(b: BodyLayout): number {
  if (b.shapes.length) return Math.max(b.span, ...b.shapes.map((s) => 2 * Math.max(...s.half)));
  return Math.max(b.span, 2 * b.gear, 2 * b.discs, 2 * discOf(b)) || b.box[0];
}

/* Radius of a disc on its axle that carries pins, such as a flywheel with a crank pin: all of them within
 * the disc of the same inertia. 0: no such disc. */
export function discOf(b: BodyLayout): number {
  const hub = b.attachments.some((a) => a.type === "revolute" && norm(a.point) <= 1e-6 * b.span);
  const radius = b.mass > 0 ? Math.sqrt((2 * b.principal.moments[2]) / b.mass) : 0;
  return hub && b.attachments.every((a) => 1.1 * norm(a.point) < radius) ? radius : 0;
}

/* Bodies that would hide a bar: given shapes that are wide in the plane, wheels, blocks on rails, plates. */
function isWide(b: BodyLayout, size: number): boolean {
  if (b.shapes.length) return b.shapes.some((s) => [...s.half].sort((x, y) => x - y)[1]! > b.width);
  if (b.gear > 0 || b.discs > 0 || b.attachments.some((a) => a.type === "prismatic")) return true;
  if (discOf(b) > 0) return true;
  const points = distinct(b.attachments.map((a) => a.point), 0.02 * Math.max(b.span, 1e-9 * size));
  const [p, q] = [points[0], points[1]];
  if (!p || !q) return norm(p ?? [0, 0, 0]) <= 0.02 * size; /* a wheel on its axle */
  const line = unit(sub(q, p));
  return points.some((x) => norm(cross(sub(x, p), line)) > 0.03 * b.span);
}

/* Greedy colouring, bars first and then what is wide, small before large: layer 0 is in front. Returns
 * the number of layers. */
function assignLayers(bodies: BodyLayout[], joints: JointData[], size: number): number {
  const near: Set<number>[] = bodies.map(() => new Set());
  for (const j of joints) {
    const a = j.a?.body ?? -1;
    const b = j.b?.body ?? -1;
    if (a < 0 || b < 0 || a === b || NO_ATTACHMENT.has(j.type)) continue;
    near[a]?.add(b);
    near[b]?.add(a);
  }
  const wide = bodies.map((b) => isWide(b, size));
  const order = bodies.map((b) => b.index).sort((i, k) => Number(wide[i]) - Number(wide[k]) || (wide[i] ? extent(bodies[i]!) - extent(bodies[k]!) : 0) || i - k);
  const done = new Set<number>();
  let count = 1;
  for (const i of order) {
    const placed = [...near[i]!].filter((k) => done.has(k));
    const taken = new Set(placed.map((k) => bodies[k]!.layer));
    let layer = 0;
    /* a disc hides all that is smaller */
    const disc = discOf(bodies[i]!) > 0;
    if (wide[i]) for (const k of placed) if (disc || !wide[k]) layer = Math.max(layer, bodies[k]!.layer + 1);
    while (taken.has(layer)) ++layer;
    bodies[i]!.layer = layer;
    count = Math.max(count, layer + 1);
    done.add(i);
  }
  return count;
}

/* Small whole numbers n1/n2 near `ratio`: Stern-Brocot, to 1e-4. */
export function teeth(ratio: number, least = 12): [number, number] {
  let best: [number, number] = [1, 1];
  for (let d = 1; d <= 60; ++d) {
    const n = Math.max(1, Math.round(ratio * d));
    best = [n, d];
    if (Math.abs(n / d - ratio) <= 1e-4 * ratio) break;
  }
  const k = Math.max(1, Math.ceil(least / Math.min(best[0], best[1])));
  return [best[0] * k, best[1] * k];
}

interface PlacedWheel {
  body: number;
  radius: number;
  plane: number; /* along the axis */
  width: number;
}

/* The plane of a pair: that of its first joint, or of its second, or the nearest one beside, where
 * neither wheel meets another on the same body. One of the same radius is the same wheel, such as a
 * sun with several planets. */
function freePlane(placed: PlacedWheel[], pair: { body: number; radius: number }[], height: readonly [number, number], width: number): number {
  const meets = (a: { body: number; radius: number }, b: PlacedWheel): boolean =>
    a.body >= 0 && a.body === b.body && Math.abs(a.radius - b.radius) > 1e-3 * b.radius;
  const isFree = (plane: number): boolean =>
    !placed.some((w) => Math.abs(plane - w.plane) < 0.55 * (width + w.width) && pair.some((one) => meets(one, w)));
  const most = placed.reduce((sum, w) => sum + w.width + width, width);
  for (let beside = 0; beside <= most; beside += 0.25 * width)
    for (const h of height) {
      if (isFree(h + beside)) return h + beside;
      if (isFree(h - beside)) return h - beside;
    }
  return height[0];
}

/* Wheels of a gear: of two parallel shafts at distance d with w2 = ratio w1 the pitch circles have
 * r1/r2 = |ratio| and r1 + r2 = d outside, r2 - r1 = d inside one another. */
function pairGears(scene: SceneData, bodies: BodyLayout[]): GearPair[] {
  const data = scene.bodies ?? [];
  const joints = scene.joints ?? [];
  const byName = new Map(joints.map((j) => [j.name, j]));
  const pairs: GearPair[] = [];
  const placed: PlacedWheel[] = [];
  for (const joint of joints) {
    if (!NO_ATTACHMENT.has(joint.type) || !joint.joints) continue;
    const [one, two] = joint.joints.map((n) => byName.get(n));
    if (!one || !two) continue;
    const f = [frameOf(one.b), frameOf(two.b)] as const;
    const world = f.map((k) => placeAtStart(data, k.body, k.origin)) as [Vec3, Vec3];
    const axis = f.map((k) => rotate(quat(data[k.body]?.rotation), k.z)) as [Vec3, Vec3];
    if (joint.type === "rack") {
      const radius = Math.abs(joint.radius ?? 0);
      const turning = one.type === "prismatic" ? 1 : 0;
      const wheel = bodies[f[turning]!.body];
      const bar = bodies[f[1 - turning]!.body];
      if (wheel) wheel.gear = Math.max(wheel.gear, radius);
      if (bar) bar.rack = radius;
      pairs.push({
        joint,
        wheels: radius > 0 ? [{ frame: f[turning]!, radius, teeth: 14, phase: 0, other: world[1 - turning]!, shift: 0, width: 0.35 * radius }] : [],
      });
      continue;
    }
    const d = sub(world[1], world[0]);
    const apart = norm(sub(d, [axis[0][0] * dot(d, axis[0]), axis[0][1] * dot(d, axis[0]), axis[0][2] * dot(d, axis[0])]));
    const parallel = Math.abs(dot(axis[0], axis[1])) > 0.999;
    const k = Math.abs(joint.ratio ?? 1) || 1;
    if (!parallel || !(apart > 0)) {
      pairs.push({ joint, wheels: [] });
      continue;
    }
    const same = dot(axis[0], axis[1]) > 0;
    const inside = (joint.ratio ?? -1) > 0 === same && k !== 1;
    const r1 = inside ? (apart * k) / Math.abs(1 - k) : (apart * k) / (1 + k);
    const r2 = r1 / k;
    const [n1, n2] = teeth(k);
    const away = unit(d);
    const angle = (frame: Frame, direction: Vec3): number => {
      const q = conjugate(quat(data[frame.body]?.rotation));
      const v = rotate(q, direction);
      return Math.atan2(dot(v, frame.y), dot(v, frame.x));
    };
    const back: Vec3 = [-away[0], -away[1], -away[2]];
    const width = Math.min(0.35 * Math.max(r1, r2), 0.5 * Math.min(r1, r2));
    const height = [dot(world[0], axis[0]), dot(world[1], axis[0])] as const;
    const pair = [
      { body: f[0].body, radius: r1 },
      { body: f[1].body, radius: r2 },
    ];
    const plane = freePlane(placed, pair, height, width);
    for (const one of pair) placed.push({ ...one, plane, width });
    const shift = [plane - height[0], (plane - height[1]) * Math.sign(dot(axis[0], axis[1]))] as const;
    /* a tooth of the first and a gap of the second on the line of centres */
    pairs.push({
      joint,
      wheels: [
        { frame: f[0], radius: r1, teeth: n1, phase: angle(f[0], away), other: world[1], shift: shift[0], width },
        { frame: f[1], radius: r2, teeth: n2, phase: angle(f[1], inside ? away : back) + Math.PI / n2, other: world[0], shift: shift[1], width },
      ],
    });
    for (const [frame, r] of [
      [f[0], r1],
      [f[1], r2],
    ] as const) {
      const b = bodies[frame.body];
      if (b) b.gear = Math.max(b.gear, r);
    }
  }
  return pairs;
}

