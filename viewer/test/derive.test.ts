/* Velocities from positions, the curves shown first, sizes of joints on given shapes, links. */
import { describe, expect, it } from "vitest";
import { angularVelocity, rates } from "../src/data/derive";
import type { SceneData, ShapeData } from "../src/data/format";
import { layOut } from "../src/geometry/layout";
import { shapeBoxes, thicknessAt } from "../src/geometry/shape_box";
import { firstCurves } from "../src/ui/first_curves";
import { parseLink, writeLink } from "../src/ui/link";
import { makeRun } from "./run.test";

const times = Array.from({ length: 101 }, (_, i) => 0.01 * i + 0.002 * Math.sin(i));

describe("rates", () => {
  it("are exact for parabolas on uneven times, at the ends too", () => {
    const d = rates(times, times.map((t) => 1 - 2 * t + 3 * t * t));
    times.forEach((t, i) => expect(d[i]).toBeCloseTo(-2 + 6 * t, 9));
  });
  it("do not reach across a jump", () => {
    const t = [0, 1, 2, 2, 3, 4];
    const d = rates(t, [0, 1, 2, 2, 0, -2]);
    expect([...d]).toEqual([1, 1, 1, -2, -2, -2]);
  });
  it("of a body that turns are its angular velocity, in its own axes", () => {
    /* about z by 2 t, then about its own x by 3 t: w = (3, 2 sin 3t, 2 cos 3t) in body axes */
    const q = times.map((t) => {
      const [a, b] = [t, 1.5 * t];
      const v = [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a) * Math.sin(b), Math.sin(a) * Math.cos(b)];
      return Math.round(t * 100) % 3 ? v : v.map((x) => -x); /* either sign is the same rotation */
    });
    const w = angularVelocity(times, [0, 1, 2, 3].map((k) => Float64Array.from(q, (x) => x[k]!)));
    times.forEach((t, i) => {
      expect(w[0]![i]).toBeCloseTo(3, 2);
      expect(w[1]![i]).toBeCloseTo(2 * Math.sin(3 * t), 2);
      expect(w[2]![i]).toBeCloseTo(2 * Math.cos(3 * t), 2);
    });
  });
  it("are channels of a result that has none, and do not replace those it has", () => {
    const scene = { format: 1, bodies: [{ name: "a" }, { name: "b" }] };
    const x = times.map((t) => t * t);
    const zero = times.map(() => 0);
    const run = makeRun(times, { "a.position": [x, zero, zero], "b.position": [x, zero, zero], "b.velocity": [zero, zero, zero] }, scene);
    const value = (name: string): number => run.value(run.part(name)!, times[50]!);
    expect(value("a.velocity.x")).toBeCloseTo(2 * times[50]!, 9);
    expect(value("b.velocity.x")).toBe(0);
    expect(run.channel("a.angular_velocity")).toBeUndefined();
  });
});

describe("first curves", () => {
  const zero = times.map(() => 0);
  const sine = times.map((t) => Math.sin(6 * t));
  const tiny = times.map((t) => 1e-17 * Math.sin(9 * t));
  const joints = ["idle", "crank", "rocker"].map((name) => ({ name, type: "revolute" }));
  const scene: SceneData = { format: 1, bodies: [{ name: "bar" }], joints, motions: [{ name: "motor", joint: "crank" }] };
  const energy = { "energy.kinetic": [sine], "energy.potential": [zero], "energy.total": [sine] };
  it("begin with what is driven, and leave out constants and round-off", () => {
    const run = makeRun(times, { "idle.angle": [tiny], "rocker.angle": [sine], "crank.angle": [times], ...energy }, scene);
    expect(firstCurves(run)).toEqual([["crank.angle", "rocker.angle"], ["energy.kinetic", "energy.potential", "energy.total"]]);
  });
  it("show the effort of a drive whose coordinate is not stored, and the motion", () => {
    const run = makeRun(times, { "motor.effort": [sine], "bar.position": [times, tiny, zero] }, scene);
    expect(firstCurves(run)).toEqual([["motor.effort"], ["bar.position.x"]]);
  });
  it("without drives: what moves farthest", () => {
    const run = makeRun(times, { "a.position": [sine, zero, zero], "b.position": [zero, times.map((t) => 5 * t), zero], "energy.total": [zero] }, null);
    expect(firstCurves(run)).toEqual([["b.position.y"]]);
  });
  it("are none of a single frame, or where nothing moves", () => {
    expect(firstCurves(makeRun([0], { "bar.position": [[0], [0], [0]] }, scene))).toEqual([]);
    expect(firstCurves(makeRun(times, { "bar.position": [zero, zero, zero] }, scene))).toEqual([]);
  });
});

describe("joints on given shapes", () => {
  const bar = { type: "box", size: [1, 0.04, 0.02] };
  const disc = { type: "cylinder", radius: 0.5, length: 0.05, axis: [0, 0, 1] };
  const scene = (shapes: ShapeData[]): SceneData => ({
    format: 1,
    bodies: [{ name: "b", mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], shapes }],
    joints: [{ name: "j", type: "revolute", a: { body: -1, position: [0.5, 0, 0] }, b: { body: 0, position: [0.5, 0, 0] } }],
  });
  const size = (shapes: ShapeData[]): number => {
    const s = scene(shapes);
    return layOut(s).jointSize(s.joints![0]!);
  };
  it("are as large as the bar is wide, the rod is thick", () => {
    expect(size([bar])).toBeCloseTo(0.04, 12);
    expect(size([{ type: "cylinder", radius: 0.03, length: 1, axis: [1, 0, 0] }])).toBeCloseTo(0.06, 12);
    expect(size([{ type: "capsule", radius: 0.03, length: 1, axis: [1, 0, 0] }])).toBeCloseTo(0.06, 12);
  });
  it("are small beside a disc, and take the part of a body they sit on", () => {
    expect(size([disc])).toBeCloseTo(0.1, 12);
    const far = { ...disc, position: [-1, 0, 0] };
    expect(size([far, bar])).toBeCloseTo(0.04, 12);
    expect(size([bar, far])).toBeCloseTo(0.04, 12);
  });
  it("see meshes with their scale, also shared ones", () => {
    const corners = new Float32Array([0, 0, 0, 10, 0, 0, 0, 0.4, 0.2]);
    const text = Buffer.from(corners.buffer).toString("base64");
    const s = scene([{ type: "mesh", mesh: 0, scale: 0.1 }]);
    s.meshes = [text];
    expect(thicknessAt(shapeBoxes(s)[0]!, [0.5, 0, 0])).toBeCloseTo(0.04, 6);
  });
  it("scale with the model", () => {
    const large = { type: "box", size: [1000, 40, 20] };
    expect(size([large])).toBeCloseTo(40, 9);
  });
});

describe("links", () => {
  it("read back what was written", () => {
    const link = parseLink(writeLink(0.25, [1, -2, 3.5, 1e-17, 0, 0.1], "my body & co"));
    expect(link).toEqual({ t: 0.25, camera: [1, -2, 3.5, 0, 0, 0.1], follow: "my body & co" });
  });
  it("take parts, names of views, and nothing from nonsense", () => {
    expect(parseLink("#t=1e-3")).toEqual({ t: 0.001, camera: null, follow: null });
    expect(parseLink("#camera=top&follow=*")).toEqual({ t: null, camera: "top", follow: "*" });
    for (const hash of ["", "#", "#t=", "#t=x&camera=1,2,3", "#camera=1,2,3,4,5,nan", "#section"]) expect(parseLink(hash)).toEqual({ t: null, camera: null, follow: null });
  });
});
