/* Joints: glyphs of joint_glyphs.ts, one for each joint, in the colour of drives where a motion acts. */
import type { Drawable } from "../drawable";
import { BODY_COLORS } from "../palette";
import { gears, GLYPHS, unknownGlyph } from "./joint_glyphs";

export const joints: Drawable = {
  kind: "joints",
  build(context) {
    const { list, layout, owners, run } = context;
    const scene = run.scene;
    const driven = new Set((scene.motions ?? []).map((m) => m.joint));
    const first = owners.length;
    list.metal = true;
    (scene.joints ?? []).forEach((joint, index) => {
      list.category = "joints";
      list.owner = owners.length;
      owners.push({ kind: "joint", name: joint.name, index, detail: joint.type });
      const [a, b] = layout.frames(joint);
      if (!GLYPHS[joint.type]) context.notice(`joint type ${joint.type} has no glyph; drawn as a ball`);
      (GLYPHS[joint.type] ?? unknownGlyph)({ context, joint, a, b, g: layout.jointSize(joint), ground: layout.groundSize(joint), driven: driven.has(joint.name) });
    });
    const named = new Map((scene.joints ?? []).map((j, i) => [j.name, first + i]));
    gears(
      context,
      (name) => named.get(name) ?? -1,
      (body) => owners.findIndex((o) => o.kind === "body" && o.index === body),
      (body) => BODY_COLORS[body % BODY_COLORS.length]!,
    );
    list.metal = false;
    return null;
  },
};
