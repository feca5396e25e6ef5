/* Gaps: joints whose sides are apart, in pages of a start. A ball and the axis on each side, and a bar
 * from one side to the other. Balls are no larger than the joint's own and leave the gap between them
 * to be seen. */
import type { Vec3 } from "../../data/format";
import { layerOf } from "../../geometry/default_shape";
import type { Frame, Layout } from "../../geometry/layout";
import { along } from "../../geometry/vector";
import type { Drawable } from "../drawable";
import { GAP } from "../palette";

/* In front of the layers of a planar model. */
function place(f: Frame, layout: Layout): Vec3 {
  const b = layout.bodies[f.body];
  return layout.planar ? along(f.origin, [0, 0, 1], (b ? layerOf(b, layout) : 0) + 1.5 * layout.layerHeight) : f.origin;
}

export const gaps: Drawable = {
  kind: "gaps",
  build({ list, layout, owners, run }) {
    const joints = new Map((run.scene.joints ?? []).map((j) => [j.name, j]));
    list.category = "joints";
    list.metal = false;
    for (const gap of run.scene.gaps ?? []) {
      const joint = joints.get(gap.element);
      if (!joint?.a || !joint.b) continue;
      const own = Math.max(0.45 * layout.jointSize(joint), 0.007 * layout.size);
      const apart = gap.distance ?? 0;
      const r = apart > 0 ? Math.min(own, Math.max(0.15 * apart, 0.003 * layout.size)) : own;
      const [a, b] = layout.frames(joint).map((f) => ({ body: f.body, point: place(f, layout), axis: f.z }));
      list.owner = owners.findIndex((o) => o.kind === "joint" && o.name === gap.element);
      list.color = GAP;
      for (const side of [a!, b!]) {
        list.ball(side.body, side.point, 1.9 * r);
        if ((gap.angle ?? 0) > 1e-6 && !layout.planar) list.cylinder(side.body, along(side.point, side.axis, -6 * r), along(side.point, side.axis, 6 * r), 0.5 * r);
      }
      list.span("rod", a!, b!, 0.8 * r, 0);
    }
    return null;
  },
};
