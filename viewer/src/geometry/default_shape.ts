/* What a body looks like when nobody said so.
 *
 *     point mass                          a ball
 *     rolling disc, gear                  a wheel, a toothed wheel
 *     slider with all at one place        a block along its rail
 *     axis of symmetry through all joints a cylinder of the same inertia: shaft, column, rod, rotor
 *     pins within a disc on its axle      in the plane: that disc, of the same inertia
 *     two or more points apart            a link: rod, bar, or a plate across their hull
 *     otherwise                           the solid of the same inertia, with rods to what hangs off it
 *
 * Inertia in examples is often rough, so what it says is bounded by the distances in the model. Planar
 * bodies are flat, in their layer. */
import type { Vec3 } from "../data/format";
import type { PartList } from "../scene/parts";
import { equivalentCylinder } from "./inertia";
import { discOf, distinct, WIDEST_FORK, type BodyLayout, type Layout } from "./layout";
import { across, add, along, cross, distance, dot, mul, norm, sub, unit } from "./vector";

const Z: Vec3 = [0, 0, 1];

const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

export const layerOf = (b: BodyLayout, layout: Layout): number => -b.layer * layout.layerHeight;

/* Convex hull of points in the plane of u, v (monotone chain); indices in order. */
export function hull(points: Vec3[], u: Vec3, v: Vec3): number[] {
  const p = points.map((q, i) => ({ i, x: dot(q, u), y: dot(q, v) })).sort((a, b) => a.x - b.x || a.y - b.y);
  if (p.length < 3) return p.map((q) => q.i);
  const turn = (a: (typeof p)[0], b: (typeof p)[0], c: (typeof p)[0]): number =>
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  const half = (list: typeof p): typeof p => {
    const out: typeof p = [];
    for (const q of list) {
      while (out.length >= 2 && turn(out[out.length - 2]!, out[out.length - 1]!, q) <= 0) out.pop();
      out.push(q);
    }
    out.pop();
    return out;
  };
  return [...half(p), ...half([...p].reverse())].map((q) => q.i);
}

/* The two points farthest apart. */
function extremes(points: Vec3[]): [Vec3, Vec3, number] {
  let best: [Vec3, Vec3, number] = [points[0] ?? [0, 0, 0], points[0] ?? [0, 0, 0], 0];
  for (let i = 0; i < points.length; ++i)
    for (let k = 0; k < i; ++k) {
      const d = distance(points[i]!, points[k]!);
      if (d > best[2]) best = [points[k]!, points[i]!, d];
    }
  return best;
}

const offLine = (p: Vec3, a: Vec3, direction: Vec3): number => norm(cross(sub(p, a), direction));

export function darker(color: number, by: number): number {
  const c = (s: number): number => Math.round(((color >> s) & 255) * by);
  return (c(16) << 16) | (c(8) << 8) | c(0);
}

/* A disc whose turning can be seen: hub, and marks on both faces. */
export function rotor(list: PartList, body: number, centre: Vec3, axis: Vec3, radius: number, height: number): void {
  const x = across(axis);
  const y = cross(axis, x);
  const color = list.color;
  list.round("cylinder", body, centre, x, axis, radius, height);
  list.color = darker(color, 0.72);
  if (height < 1.2 * radius) {
    list.round("tube", body, centre, x, axis, radius * 1.012, height * 1.06);
    list.round("cylinder", body, centre, x, axis, radius * 0.24, height * 1.16);
    for (let k = 0; k < 5; ++k) {
      const a = (2 * Math.PI * k) / 5;
      const p = add(centre, add(mul(x, radius * 0.58 * Math.cos(a)), mul(y, radius * 0.58 * Math.sin(a))));
      list.color = k === 0 ? 0xf4f6fa : darker(color, 0.72);
      list.round("cylinder", body, p, x, axis, radius * 0.15, height * 1.04);
    }
  } else list.box(body, along(centre, x, radius), [axis, x, y], [height * 0.8, radius * 0.1, radius * 0.3]);
  list.color = color;
}

export function spokedWheel(list: PartList, body: number, centre: Vec3, axis: Vec3, radius: number, width: number): void {
  const x = across(axis);
  const y = cross(axis, x);
  const color = list.color;
  list.color = 0x3c434d;
  list.round("tube", body, centre, x, axis, radius, width);
  list.color = color;
  list.round("tube", body, centre, x, axis, radius * 0.87, width * 0.8);
  list.round("cylinder", body, centre, x, axis, radius * 0.13, width * 1.3);
  for (let k = 0; k < 6; ++k) {
    const a = (Math.PI * k) / 3;
    const d = add(mul(x, Math.cos(a)), mul(y, Math.sin(a)));
    list.color = k === 0 ? 0xf4f6fa : color;
    list.box(body, along(centre, d, radius * 0.46), [d, cross(axis, d), axis], [radius * 0.72, radius * 0.09, width * 0.5]);
  }
  list.color = color;
}

/* Edges as bars and, where there are three or more corners, a web between them. */
function plate(list: PartList, body: number, points: Vec3[], normal: Vec3, width: number, thick: number): void {
  const u = across(normal);
  const v = cross(normal, u);
  const order = hull(points, u, v);
  const corner = order.map((i) => points[i]!);
  for (let i = 0; i < corner.length; ++i) list.bar(body, corner[i]!, corner[(i + 1) % corner.length]!, normal, width, thick);
  for (let i = 1; i + 1 < corner.length; ++i)
    list.triangle(body, corner[0]!, corner[i]!, corner[i + 1]!, normal, thick * 0.7);
}

/* Normal of the plane through points, or null if they do not lie in one. */
function planeOf(points: Vec3[], tolerance: number): Vec3 | null {
  const [a, b, d] = extremes(points);
  const line = unit(sub(b, a));
  let far = a;
  let most = 0;
  for (const p of points) {
    const h = offLine(p, a, line);
    if (h > most) [most, far] = [h, p];
  }
  if (!(most > 1e-6 * d)) return null;
  const normal = unit(cross(line, sub(far, a)));
  return points.every((p) => Math.abs(dot(sub(p, a), normal)) <= tolerance) ? normal : null;
}

function planarBody(list: PartList, b: BodyLayout, layout: Layout): void {
  const z = layerOf(b, layout);
  const lift = (p: Vec3): Vec3 => [p[0], p[1], p[2] + z];
  const thick = 0.8 * layout.layerHeight;
  const eps = 0.02 * Math.max(b.span, 1e-9 * layout.size);
  const points = distinct(b.attachments.map((a) => a.point), eps);
  const inertia = b.principal.moments[2];
  const radius = b.mass > 0 ? Math.sqrt((2 * inertia) / b.mass) : 0;
  const rod = b.mass > 0 ? Math.sqrt((12 * inertia) / b.mass) : 0;
  const slide = b.attachments.find((a) => a.type === "prismatic" && a.axis);

  if (slide && b.rack === 0 && b.span < 0.2 * layout.size) {
    const x = unit([slide.axis![0], slide.axis![1], 0], [1, 0, 0]);
    const y = cross(Z, x);
    let high = 0;
    for (const a of b.attachments) high = Math.max(high, Math.abs(dot(a.point, y)));
    const slotted = b.attachments.some((a) => a.type === "point-on-line" && !a.inner);
    const tall = slotted ? 2.2 * b.width : high > 0.02 * layout.size ? 2 * high : clamp(radius, 2.2 * b.width, 0.14 * layout.size);
    const long = clamp(rod * (high > 0 ? 1 : 0.6), 1.5 * tall, (high > 0 ? 0.8 : 0.3) * layout.size);
    const middle = points.length === 1 ? points[0]! : ([0, 0, 0] as Vec3);
    list.box(b.index, lift(middle), [x, y, Z], [long, tall, thick]);
    b.block = long / 2;
    return;
  }
  const disc = discOf(b);
  if (points.length >= 2 && disc > 0) {
    rotor(list, b.index, lift([0, 0, 0]), Z, clamp(disc, 0.6 * b.width, Math.max(1.15 * b.span, 0.4 * layout.size)), thick);
    return;
  }
  if (points.length >= 2) {
    const [p, q, d] = extremes(points);
    const direction = unit(sub(q, p));
    if (points.every((x) => offLine(x, p, direction) < 0.03 * d)) {
      list.bar(b.index, lift(p), lift(q), Z, b.width, thick);
      for (const x of points)
        if (x !== p && x !== q) list.round("cylinder", b.index, lift(x), [1, 0, 0], Z, 0.62 * b.width, thick);
      /* a heavy end away from the line: a mass on an arm */
      const foot = along(p, direction, clamp(dot(mul(p, -1), direction), 0, d));
      if (norm(foot) > 0.15 * d) list.bar(b.index, lift(foot), lift([0, 0, 0]), Z, 0.7 * b.width, thick);
      return;
    }
    const withMass = hull([...points, [0, 0, 0]], [1, 0, 0], [0, 1, 0]).length > hull(points, [1, 0, 0], [0, 1, 0]).length;
    plate(list, b.index, (withMass ? [...points, [0, 0, 0] as Vec3] : points).map(lift), Z, b.width, thick);
    return;
  }
  const only = points[0];
  const far = only ? norm(only) : 0;
  if (only && far > 0.02 * layout.size) {
    /* hangs at one point: a bar through the centre of mass, or a bob on a rod */
    const away = unit(mul(only, -1));
    const end = rod / 2;
    if (end > 0.5 * far) list.bar(b.index, lift(only), lift(mul(away, clamp(end, 0, 1.2 * far))), Z, b.width, thick);
    else {
      list.bar(b.index, lift(only), lift([0, 0, 0]), Z, 0.6 * b.width, thick);
      rotor(list, b.index, lift([0, 0, 0]), Z, clamp(radius, b.width, 0.4 * far), thick * 1.3);
    }
    return;
  }
  if (b.rack > 0) return; /* its bar is drawn with the teeth; it slides, so it is no wheel */
  const most = only ? 0.4 : 0.5;
  rotor(list, b.index, lift([0, 0, 0]), Z, clamp(radius, 0.6 * b.width, most * layout.size), thick);
}

/* A ring in the plane of the axes it carries. */
function ring(list: PartList, b: BodyLayout): void {
  const axes = b.attachments.filter((a) => a.type === "revolute" && a.axis && norm(a.point) < 1e-3 * b.ring).map((a) => a.axis!);
  const u = axes[0]!;
  const v = axes.find((a) => Math.abs(dot(a, u)) < 0.7)!;
  const n = unit(cross(u, v));
  list.round("tube", b.index, [0, 0, 0], across(n), n, b.ring, 0.16 * b.ring);
  for (const a of b.attachments) {
    const d = norm(a.point);
    if (d > 1.05 * b.ring) list.capsule(b.index, mul(a.point, (0.94 * b.ring) / d), a.point, 0.04 * b.ring);
  }
}

interface Axisymmetric {
  axis: Vec3;
  radius: number;
  height: number;
  flat: boolean;
}

function symmetry(b: BodyLayout): Axisymmetric | null {
  const [i0, i1, i2] = b.principal.moments;
  if (!(i2 > 0) || !(b.mass > 0)) return null;
  const near = (x: number, y: number): boolean => Math.abs(x - y) <= 0.06 * i2;
  if (near(i0, i2)) return null;
  if (near(i1, i2)) return { axis: b.principal.axes[0], ...equivalentCylinder(i0, (i1 + i2) / 2, b.mass), flat: false };
  if (near(i0, i1)) return { axis: b.principal.axes[2], ...equivalentCylinder(i2, (i0 + i1) / 2, b.mass), flat: true };
  return null;
}

/* Rods from the solid to what is attached outside of it. */
function arms(list: PartList, b: BodyLayout, points: Vec3[], inside: (p: Vec3) => boolean, root: (p: Vec3) => Vec3): void {
  for (const p of points) if (!inside(p)) list.capsule(b.index, root(p), p, 0.3 * b.width);
}

function spatialBody(list: PartList, b: BodyLayout, layout: Layout): void {
  const size = layout.size;
  const eps = 0.02 * Math.max(b.span, 1e-9 * size);
  const points = distinct(b.attachments.map((a) => a.point), eps);
  const [p, q, spread] = extremes(points);
  const s = symmetry(b);
  if (s) {
    let low = Infinity;
    let high = -Infinity;
    let off = 0;
    for (const x of points) {
      const h = dot(x, s.axis);
      low = Math.min(low, h);
      high = Math.max(high, h);
      off = Math.max(off, offLine(x, [0, 0, 0], s.axis));
    }
    const visible = Math.max(s.height, 2 * s.radius, b.span) > 1.5 * b.width;
    if (!s.flat && visible && off <= Math.max(1.2 * s.radius, 0.05 * spread)) {
      /* a rod, shaft or column: as long as its inertia or its joints say */
      const half = Math.min(s.height / 2, Math.max(1.2 * b.span, 0.5 * size));
      const inside = b.attachments.some((a) => a.type === "prismatic" && a.inner && Math.abs(dot(a.axis!, s.axis)) > 0.99);
      const r = clamp(s.radius, 0.28 * b.width, 2.4 * b.width) * (inside ? 0.68 : 1);
      b.thick = r;
      let start = Math.min(-half * (low < -half * 0.6 ? 0 : 1), low);
      let end = Math.max(half * (high > half * 0.6 ? 0 : 1), high);
      /* room for the forks of a universal joint */
      const fork = Math.min(1.9 * clamp(b.width, 1.7 * r, WIDEST_FORK * r), 0.3 * (end - start));
      for (const a of b.attachments) {
        if (a.type !== "universal" && a.type !== "constant-velocity") continue;
        const h = dot(a.point, s.axis);
        if (h <= start + 0.1 * (end - start)) start = h + fork;
        else if (h >= end - 0.1 * (end - start)) end = h - fork;
      }
      const from = mul(s.axis, start);
      const to = mul(s.axis, end);
      if (r < 0.9 * b.width) list.capsule(b.index, from, to, r);
      else list.cylinder(b.index, from, to, r);
      for (const x of points)
        if (offLine(x, [0, 0, 0], s.axis) > r) list.capsule(b.index, mul(s.axis, clamp(dot(x, s.axis), start, end)), x, Math.min(0.8 * r, 0.3 * b.width));
      if (list.detail === 2) return;
      const marker = list.color;
      list.color = darker(marker, 0.78);
      list.box(b.index, along(mul(add(from, to), 0.5), across(s.axis), r), [s.axis, across(s.axis), cross(s.axis, across(s.axis))],
        [distance(from, to) * 0.7, r * 0.14, r * 0.4]);
      list.color = marker;
      return;
    }
    const cap = points.length && spread > 0.05 * size ? 0.6 * Math.max(spread, 0.5 * size) : 0.5 * size;
    const r = clamp(s.radius, (visible ? 0.5 : 1.1) * b.width, cap);
    const inPlane = s.flat && spread > 0.5 * r && points.length >= 3;
    if (!inPlane && (spread < 1.2 * Math.max(s.radius, s.height) || points.length < 2)) {
      const h = clamp(Math.min(s.height, 2 * cap), visible ? 0.14 * r : 1.8 * r, 2.5 * cap);
      rotor(list, b.index, [0, 0, 0], s.axis, r, h);
      arms(list, b, points,
        (x) => offLine(x, [0, 0, 0], s.axis) < 1.05 * r && Math.abs(dot(x, s.axis)) < 0.6 * h,
        (x) => (offLine(x, [0, 0, 0], s.axis) < r ? mul(x, 0) : mul(s.axis, clamp(dot(x, s.axis), -h / 2, h / 2))));
      return;
    }
  }
  const isotropic = b.principal.moments[0] > 0.9 * b.principal.moments[2] && b.mass > 0;
  const centred = points.some((x) => norm(x) < 0.05 * spread);
  if (points.length >= 2 && spread > 0.55 * Math.min(b.box[0], size) && !(isotropic && centred)) {
    link(list, b, points, p, q, spread);
    return;
  }
  solidBox(list, b, layout, points);
}

function link(list: PartList, b: BodyLayout, points: Vec3[], p: Vec3, q: Vec3, spread: number): void {
  const r = clamp(b.box[2] / 2, 0.25 * b.width, 0.42 * b.width);
  const direction = unit(sub(q, p));
  if (points.every((x) => offLine(x, p, direction) < 0.04 * spread)) {
    list.capsule(b.index, p, q, r);
    const foot = along(p, direction, clamp(dot(mul(p, -1), direction), 0, spread));
    if (norm(foot) > 0.15 * spread) {
      list.capsule(b.index, foot, [0, 0, 0], r);
      list.ball(b.index, [0, 0, 0], 0.6 * b.width);
    }
    return;
  }
  const normal = planeOf(points, 0.06 * spread);
  if (normal) {
    plate(list, b.index, points, normal, 0.7 * b.width, 0.35 * b.width);
    const h = dot(points[0]!, normal); /* the plane's height over the centre of mass */
    if (Math.abs(h) > 0.15 * spread) {
      for (const x of points) list.capsule(b.index, [0, 0, 0], x, 0.7 * r);
      list.ball(b.index, [0, 0, 0], 0.6 * b.width);
    }
    return;
  }
  for (const x of points) list.capsule(b.index, [0, 0, 0], x, r);
  list.ball(b.index, [0, 0, 0], 0.6 * b.width);
}

function solidBox(list: PartList, b: BodyLayout, layout: Layout, points: Vec3[]): void {
  const axes = b.principal.axes;
  const cap = 0.4 * layout.size;
  const least = Math.max(1.4 * b.width, layout.bodies.length <= 4 ? 0.03 * layout.size : 0);
  const edge = b.box.map((x) => clamp(x, least, cap)) as Vec3;
  /* what is attached inside lies on the surface: a plate rather than a block */
  for (const x of points) {
    if (norm(x) < 0.05 * edge[0]) continue;
    const c = axes.map((a) => Math.abs(dot(x, a))) as Vec3;
    const k = c[0] >= c[1] && c[0] >= c[2] ? 0 : c[1] >= c[2] ? 1 : 2;
    if (c.every((h, i) => h < edge[i]! / 2)) edge[k] = Math.max(2 * c[k]!, 0.3 * b.width);
  }
  const [x, y] = axes;
  list.box(b.index, [0, 0, 0], [x, y, cross(x, y)], edge);
  b.block = Math.max(...edge) / 2;
  arms(list, b, points, (a) => axes.every((e, i) => Math.abs(dot(a, e)) <= 0.55 * edge[i]!), () => [0, 0, 0]);
}

/* All that is attached is within the wheel, whichever place is its hub. */
function isMereWheel(b: BodyLayout): boolean {
  const points = b.attachments.map((a) => a.point);
  const reach = points.map((hub) => Math.max(...points.map((p) => distance(p, hub))));
  return !points.length || Math.min(...reach) < 1.02 * b.gear;
}

export function drawDefault(list: PartList, b: BodyLayout, layout: Layout): void {
  const kind = b.data.kind ?? "rigid";
  if (kind === "point-mass") {
    list.ball(b.index, [0, 0, layout.planar ? layerOf(b, layout) : 0], 0.5 * b.width);
    return;
  }
  if (kind === "marker") {
    const s = 0.03 * layout.size;
    list.box(b.index, [0, 0, 0], [[1, 0, 0], [0, 1, 0], Z], [s, s, s]);
    return;
  }
  if (b.discs > 0) {
    const a = b.attachments.find((x) => x.type === "rolling-disc");
    spokedWheel(list, b.index, a?.point ?? [0, 0, 0], a?.axis ?? Z, b.discs, 0.1 * b.discs);
    return;
  }
  if (b.gear > 0) {
    if (isMereWheel(b)) return; /* its wheels are drawn with the gears */
    const points = distinct(b.attachments.map((a) => a.point), 0.02 * b.span);
    const [p, q, spread] = extremes(points);
    if (!layout.planar) return link(list, b, points, p, q, spread);
  }
  if (layout.planar) planarBody(list, b, layout);
  else if (b.ring > 0) ring(list, b);
  else spatialBody(list, b, layout);
}
