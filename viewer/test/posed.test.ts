/* What is drawn of a model as in its file, beside its assembled state, and of joints that do not close. */
import { Color } from "three";
import { describe, expect, it } from "vitest";
import { layOut } from "../src/geometry/layout";
import { gaps } from "../src/scene/drawables/gaps";
import { PartList } from "../src/scene/parts";
import { PosedScene } from "../src/scene/posed";
import { makeRun } from "./run.test";

describe("a model as in its file", () => {
  const list = new PartList();
  list.ball(0, [0, 0, 0], 1);
  list.category = "joints";
  list.ball(0, [1, 0, 0], 1);
  const ghost = new Color(0xf97316);
  it("is pale, in its own colours, and without joints", () => {
    const posed = new PosedScene(list, 1, { ghost, pale: true, shadows: false });
    expect(posed.root.children.length).toBe(1);
    expect(posed.shared.uTint.value.getHex()).toBe(0xffffff);
    expect(posed.shared.uTintPart.value).toBeLessThan(0.5);
  });
  it("as a result that is compared it has one colour", () => {
    const posed = new PosedScene(list, 1, { ghost, pale: false, shadows: false });
    expect(posed.root.children.length).toBe(2);
    expect(posed.shared.uTint.value.getHex()).toBe(0xf97316);
  });
});

describe("marks of gaps", () => {
  it("leave a small gap to be seen, and are no larger than the joint's at a wide one", () => {
    const radius = (apart: number): number => {
      const bodies = [0, 1].map((k) => ({ name: `b${k}`, mass: 1, inertia: [0.01, 0.01, 0.01], position: [k, 0, 0] }));
      const joint = { name: "j", type: "spherical", a: { body: 0, position: [0.5, 0, 0] }, b: { body: 1, position: [apart - 0.5, 0, 0] } };
      const run = makeRun([0], {}, { format: 1, bodies, joints: [joint], gaps: [{ element: "j", distance: apart, angle: 0 }] } as never);
      const list = new PartList();
      gaps.build({ run, layout: layOut(run.scene), list, owners: [], ghost: null, notice: () => undefined });
      expect(list.parts.length).toBe(2);
      return Math.hypot(list.parts[0]!.rows[0]!, list.parts[0]!.rows[4]!, list.parts[0]!.rows[8]!);
    };
    expect(radius(0.02)).toBeLessThan(0.01);
    expect(radius(0.4)).toBeGreaterThan(2 * radius(0.02));
    expect(radius(0.8)).toBeLessThan(0.2);
  });
});
