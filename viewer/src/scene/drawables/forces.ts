/* Forces: springs as coils that stretch, dampers, cables, bushings, torsion springs. Applied forces and
 * torques are arrows where they act; their lengths follow the channel if the result has it (arrows.ts). */
import type { AnchorData, ForceData, Vec3 } from "../../data/format";
import { layerOf } from "../../geometry/default_shape";
import { placeAtStart } from "../../geometry/layout";
import { across, along, cross, distance, mul, unit, vec3 } from "../../geometry/vector";
import type { BuildContext, Drawable } from "../drawable";
import { CABLE, DAMPER, DARK_STEEL, GROUND, SPRING, TORQUE } from "../palette";
import { hatch } from "./joint_glyphs";

interface End {
  body: number;
  point: Vec3;
}

function end(context: BuildContext, a: AnchorData | undefined): End {
  const body = a?.body ?? -1;
  const point = vec3(a?.position);
  const b = context.layout.bodies[body];
  if (b && context.layout.planar) point[2] += layerOf(b, context.layout) + 0.5 * context.layout.layerHeight;
  return { body, point };
}

function spring(context: BuildContext, f: ForceData): void {
  const { list, layout, run } = context;
  const bodies = run.scene.bodies ?? [];
  const a = end(context, f.a);
  const b = end(context, f.b);
  const start = distance(placeAtStart(bodies, a.body, a.point), placeAtStart(bodies, b.body, b.point));
  const rest = f.length && f.length > 0 ? f.length : start;
  const long = Math.max(Math.min(rest, 2 * start || rest), 0.2 * rest);
  const many = (run.scene.forces ?? []).length > 60 ? 0.5 : 1;
  const radius = Math.min(Math.max(0.1 * long, 0.008 * layout.size * many), 0.032 * layout.size * many, 0.3 * (long || layout.size));
  const anchor = 0.4 * radius;
  if (f.tension_only) {
    list.color = CABLE;
    list.span("cable", a, b, 0.5 * radius, rest);
  } else {
    const soft = f.stiffness === undefined && f.damping === undefined;
    if (f.damping || soft) {
      list.color = DAMPER;
      list.span("damper", a, b, f.stiffness || soft ? 0.78 * radius : radius, long);
    }
    if (f.stiffness || soft || !f.damping) {
      list.color = SPRING;
      list.span(`coil:${Math.round(Math.min(Math.max(long / (1.1 * radius), 6), 14))}`, a, b, radius, rest);
    }
  }
  list.color = DARK_STEEL;
  for (const e of [a, b]) list.ball(e.body, e.point, anchor);
  const other = placeAtStart(bodies, b.body, b.point);
  if (a.body < 0) hatch(context, a.point, unit([a.point[0] - other[0], a.point[1] - other[1], a.point[2] - other[2]], mul(layout.up, -1)), 1.1 * radius);
}

function bushing(context: BuildContext, f: ForceData): void {
  const { list, layout } = context;
  const a = end(context, f.a);
  const b = end(context, f.b);
  const w = Math.min(
    layout.bodies[b.body]?.width ?? 0.04 * layout.size,
    layout.bodies[a.body]?.width ?? 0.04 * layout.size,
  );
  const z: Vec3 = layout.planar ? [0, 0, 1] : across(layout.up);
  list.color = 0x2e3440;
  list.round("tube", a.body, a.point, across(z), z, 0.75 * w, 0.9 * w);
  list.color = 0x59616e;
  list.round("cylinder", b.body, b.point, across(z), z, 0.5 * w, 1.1 * w);
  if (a.body < 0) {
    list.color = GROUND;
    hatch(context, along(a.point, layout.up, -0.8 * w), mul(layout.up, -1), 0.8 * w);
  }
}

function torsion(context: BuildContext, f: ForceData & { axis?: number[] }): void {
  const { list, layout } = context;
  const b = end(context, f.b ?? f.a);
  const w = 0.9 * (layout.bodies[b.body]?.width ?? 0.04 * layout.size);
  const z = unit(vec3(f.axis, [0, 0, 1]));
  const x = across(z);
  list.color = SPRING;
  for (let k = 0; k < 4; ++k) list.round("ring", b.body, along(b.point, z, (k - 1.5) * 0.42 * w + 1.2 * w), x, z, 1.1 * w, 1.1 * w);
  list.box(b.body, along(along(b.point, z, 0.55 * w), x, 1.5 * w), [x, cross(z, x), z], [1.4 * w, 0.22 * w, 0.22 * w]);
}

/* A turn sign: three quarters of a ring with a head. */
function torque(context: BuildContext, f: ForceData): void {
  const { list, layout } = context;
  const b = end(context, f.a ?? f.b);
  if (b.body < 0) return;
  const body = layout.bodies[b.body];
  const r = Math.max(1.3 * (body?.width ?? 0), 1.6 * (body?.thick ?? 0), 0.03 * layout.size);
  const z: Vec3 = layout.planar ? [0, 0, 1] : layout.up;
  const x = across(z);
  const c: Vec3 = layout.planar ? along(b.point, z, (1 + 1.2 * layout.gears.length) * layout.layerHeight) : b.point;
  list.color = TORQUE;
  list.round("arc", b.body, c, x, z, r, r);
  const y = cross(z, x);
  list.between("cone", b.body, along(c, y, -0.93 * r), along(along(c, y, -0.93 * r), x, 0.45 * r), 0.2 * r);
}

const FORCES: Record<string, (context: BuildContext, f: ForceData) => void> = {
  "spring-damper": spring,
  bushing,
  "torsion-spring": torsion,
  torque,
};

export const forces: Drawable = {
  kind: "forces",
  build(context) {
    const { list, owners } = context;
    (context.run.scene.forces ?? []).forEach((f, index) => {
      list.category = "forces";
      list.metal = true;
      list.owner = owners.length;
      owners.push({ kind: "force", name: f.name, index, detail: f.type });
      FORCES[f.type]?.(context, f);
    });
    list.metal = false;
    return null;
  },
};
