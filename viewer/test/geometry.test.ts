/* Inertia against solids whose moments are in every textbook; sizes and default shapes against the
 * geometry they stand for. */
import { describe, expect, it } from "vitest";
import type { SceneData, Vec3 } from "../src/data/format";
import { drawDefault, hull } from "../src/geometry/default_shape";
import { equivalentBox, equivalentCylinder, principal } from "../src/geometry/inertia";
import { layOut, teeth } from "../src/geometry/layout";
import { across, cross, dot, norm, rotate } from "../src/geometry/vector";
import { PartList } from "../src/scene/parts";

const boxInertia = (m: number, [a, b, c]: Vec3): number[] => [(m * (b * b + c * c)) / 12, (m * (a * a + c * c)) / 12, (m * (a * a + b * b)) / 12];

function draw(scene: SceneData): PartList {
  const list = new PartList();
  const layout = layOut(scene);
  for (const b of layout.bodies) drawDefault(list, b, layout);
  return list;
}

/* Box of all parts of a body, from the corners of their solids. */
function extent(list: PartList, body: number): [Vec3, Vec3] {
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (const p of list.parts.filter((x) => x.body === body))
    for (let c = 0; c < 8; ++c) {
      const r = p.solid === "box" ? 0.5 : p.solid === "wedge" ? 0.5 : 1;
      const z = p.solid === "ball" ? 1 : 0.5;
      const v = [c & 1 ? r : -r, c & 2 ? r : -r, c & 4 ? z : -z];
      for (let k = 0; k < 3; ++k) {
        const x = p.rows[4 * k]! * v[0]! + p.rows[4 * k + 1]! * v[1]! + p.rows[4 * k + 2]! * v[2]! + p.rows[4 * k + 3]!;
        low[k] = Math.min(low[k]!, x);
        high[k] = Math.max(high[k]!, x);
      }
    }
  return [low, high];
}

describe("inertia", () => {
  it("a turned box is found again, with its axes", () => {
    const size: Vec3 = [3, 2, 1];
    const q = [0.5, 0.5, -0.5, 0.5].map((x, i) => x + 0.1 * i);
    const n = Math.hypot(...q);
    const u = q.map((x) => x / n) as [number, number, number, number];
    const d = boxInertia(5, size);
    const R = [0, 1, 2].map((k) => rotate(u, [k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0]));
    const J = (i: number, j: number): number => [0, 1, 2].reduce((s, k) => s + d[k]! * R[k]![i]! * R[k]![j]!, 0);
    const p = principal([J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)]);
    equivalentBox(p.moments, 5).forEach((x, k) => expect(x).toBeCloseTo(size[k]!, 9));
    p.axes.forEach((a, k) => expect(Math.abs(dot(a, R[k]!))).toBeCloseTo(1, 9));
  });
  it("a cylinder is found again", () => {
    const m = 4;
    const r = 0.3;
    const h = 0.8;
    const c = equivalentCylinder((m * r * r) / 2, (m * (3 * r * r + h * h)) / 12, m);
    expect(c.radius).toBeCloseTo(r, 12);
    expect(c.height).toBeCloseTo(h, 12);
  });
  it("nothing breaks without mass", () => {
    expect(equivalentBox([0, 0, 0], 0)).toEqual([0, 0, 0]);
    expect(principal([]).moments).toEqual([0, 0, 0]);
  });
});

describe("vectors", () => {
  it("across is a unit vector across", () => {
    for (const v of [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0]] as Vec3[]) {
      expect(dot(across(v), v)).toBeCloseTo(0, 12);
      expect(norm(across(v))).toBeCloseTo(1, 12);
      expect(norm(cross(v, across(v)))).toBeCloseTo(1, 12);
    }
  });
});

describe("default shapes", () => {
  const rod = { name: "rod", mass: 1, inertia: boxInertia(1, [1, 0.02, 0.02]), position: [0.5, 0, 0] };
  it("a pendulum's rod reaches from its joint to its other end", () => {
    const list = draw({ format: 1, bodies: [rod], joints: [{ name: "j", type: "revolute", a: { body: -1 }, b: { body: 0, position: [-0.5, 0, 0] } }] });
    const [low, high] = extent(list, 0);
    expect(low[0]).toBeLessThan(-0.49);
    expect(high[0]).toBeGreaterThan(0.48);
    expect(high[0]).toBeLessThan(0.6);
    expect(high[2] - low[2]).toBeLessThan(0.2);
  });
  it("a top is a disc of its radius on a rod to its pivot", () => {
    const list = draw({
      format: 1,
      bodies: [{ name: "top", mass: 15, inertia: [0.234375, 0.46875, 0.234375], position: [0, 1, 0] }],
      joints: [{ name: "p", type: "spherical", a: { body: -1 }, b: { body: 0, position: [0, -1, 0] } }],
    });
    const [low, high] = extent(list, 0);
    expect(low[1]).toBeLessThan(-0.99);
    expect(high[0]).toBeCloseTo(0.25, 1);
    expect(high[1]).toBeLessThan(0.1);
  });
  it("a plate with its centre of mass in a hinge is no wheel", () => {
    const pin = (name: string, position: number[]) => ({ name, type: "revolute", a: { body: -1, position }, b: { body: 0, position } });
    const list = draw({
      format: 1,
      dimension: 2,
      bodies: [{ name: "plate", mass: 1, inertia: [0, 0, 0.02], position: [0, 0] }],
      joints: [pin("o", [0, 0, 0]), pin("p", [0.4, 0, 0]), pin("q", [0.1, 0.3, 0])],
    });
    expect(list.parts.some((p) => p.solid === "wedge")).toBe(true);
    expect(list.parts.some((p) => p.solid === "tube")).toBe(false);
  });
  it("a flywheel with a crank pin is a disc of its inertia, a crank is a bar", () => {
    const pin = (name: string, position: number[]) => ({ name, type: "revolute", a: { body: -1, position }, b: { body: 0, position } });
    const crank = (inertia: number) =>
      draw({
        format: 1,
        dimension: 2,
        bodies: [{ name: "crank", mass: 2, inertia: [0, 0, inertia], position: [0, 0] }],
        joints: [pin("axle", [0, 0, 0]), pin("pin", [0.3, 0, 0]), { ...pin("far", [1, 1, 0]), b: { body: -1, position: [3, 3, 0] } }],
      });
    const [low, high] = extent(crank((2 * 0.5 * 0.5) / 2), 0); /* a disc of radius 0.5 */
    expect(high[0]).toBeCloseTo(0.5, 1);
    expect(low[1]).toBeCloseTo(-0.5, 1);
    expect(crank((2 * 0.6 * 0.6) / 12).parts.some((p) => p.solid === "tube")).toBe(false); /* a rod of length 0.6 */
  });
  it("a rack on its slide is no wheel", () => {
    const body = (name: string, inertia: number, y: number) => ({ name, mass: 1, inertia: [0, 0, inertia], position: [0, y, 0] });
    const joints = [
      { name: "shaft", type: "revolute", a: { body: -1, position: [0, 0.02, 0] }, b: { body: 0 } },
      { name: "slide", type: "prismatic", a: { body: -1, rotation: [0.5, 0.5, 0.5, 0.5] }, b: { body: 1, rotation: [0.5, 0.5, 0.5, 0.5] } },
    ];
    const mesh = { name: "mesh", type: "rack", joints: ["shaft", "slide"], radius: 0.02 };
    const bodies = [body("pinion", 4e-5, 0.02), body("bar", 1, 0)];
    const list = draw({ format: 1, dimension: 2, bodies, joints: [...joints, mesh] });
    expect(list.parts.filter((p) => p.body === 1).map((p) => p.solid)).toEqual([]);
    const slider = draw({ format: 1, dimension: 2, bodies, joints });
    expect(slider.parts.filter((p) => p.body === 1).map((p) => p.solid)).toEqual(["box"]);
  });
  it("forks are not much wider than their rods", () => {
    const rods = [0, 1].map((k) => ({ name: `rod${k}`, mass: 0.2, inertia: [1e-5, 4e-3, 4e-3], position: [0.5 * k, 0, 0] }));
    const joint = { name: "u", type: "universal", a: { body: 0, position: [0.25, 0, 0] }, b: { body: 1, position: [-0.25, 0, 0] } };
    const hinge = { name: "h", type: "spherical", a: { body: -1 }, b: { body: 0, position: [-0.25, 0, 0] } };
    const end = { name: "e", type: "spherical", a: { body: -1 }, b: { body: 1, position: [0.25, 0, 0] } };
    const layout = layOut({ format: 1, bodies: rods, joints: [joint, hinge, end] });
    const list = new PartList();
    for (const b of layout.bodies) drawDefault(list, b, layout);
    expect(layout.bodies[0]!.thick).toBeGreaterThan(0);
    expect(layout.jointSize(joint)).toBeLessThanOrEqual(2.2 * layout.bodies[0]!.thick + 1e-12);
  });
  it("a planar link is a bar between its pins", () => {
    const list = draw({
      format: 1,
      dimension: 2,
      bodies: [{ name: "bar", mass: 1, inertia: [0, 0, 1 / 12], position: [0, 0] }],
      joints: [
        { name: "a", type: "revolute", a: { body: -1, position: [-0.5, 0, 0] }, b: { body: 0, position: [-0.5, 0, 0] } },
        { name: "b", type: "point-on-line", a: { body: -1, position: [0.5, 0, 0] }, b: { body: 0, position: [0.5, 0, 0] } },
      ],
    });
    const [low, high] = extent(list, 0);
    expect(high[0] - low[0]).toBeGreaterThan(1);
    expect(high[0] - low[0]).toBeLessThan(1.2);
  });
  it("a platform with six points is a plate, a point mass a ball", () => {
    const six = [0, 1, 2, 3, 4, 5].map((k) => [Math.cos(k), Math.sin(k), 0]);
    const list = draw({
      format: 1,
      bodies: [
        { name: "p", mass: 100, inertia: [9, 9, 18] },
        { name: "m", kind: "point-mass", mass: 1, position: [0, 0, 1] },
      ],
      joints: six.map((p, k) => ({ name: `j${k}`, type: "spherical", a: { body: -1, position: p }, b: { body: 0, position: p } })),
    });
    expect(list.parts.filter((p) => p.solid === "wedge").length).toBe(4);
    expect(list.parts.filter((p) => p.body === 1).map((p) => p.solid)).toEqual(["ball"]);
  });
  it("every body gets something finite, whatever its numbers", () => {
    for (const mass of [0, 1, NaN, 1e30])
      for (const inertia of [[], [0, 0, 0], [1, 1, 1], [NaN, 1, 1], [1e-9, 1e9, 1]])
        for (const dimension of [2, 3]) {
          const list = draw({ format: 1, dimension, bodies: [{ name: "b", mass, inertia }, { name: "c", mass, inertia, position: [1, 0, 0] }] });
          expect(list.parts.some((p) => p.body === 0)).toBe(true);
          expect(list.parts.every((p) => p.rows.every(Number.isFinite))).toBe(true);
        }
  });
  it("hulls are convex and in order", () => {
    const p: Vec3[] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0]];
    expect(hull(p, [1, 0, 0], [0, 1, 0]).sort()).toEqual([0, 1, 2, 3]);
  });
});

describe("gears", () => {
  it("teeth are whole and in proportion", () => {
    for (const [a, b] of [[12, 36], [15, 45], [17, 23], [1, 1]] as const) {
      const [n, m] = teeth(a / b);
      expect(n / m).toBeCloseTo(a / b, 4);
      expect(Math.min(n, m)).toBeGreaterThanOrEqual(12);
    }
  });
  it("pitch circles touch", () => {
    const scene: SceneData = {
      format: 1,
      dimension: 2,
      bodies: [{ name: "a", mass: 1, inertia: [0, 0, 1e-4], position: [0, 0] }, { name: "b", mass: 1, inertia: [0, 0, 1e-3], position: [0.4, 0] }],
      joints: [
        { name: "p", type: "revolute", a: { body: -1 }, b: { body: 0 } },
        { name: "q", type: "revolute", a: { body: -1, position: [0.4, 0, 0] }, b: { body: 1 } },
        { name: "g", type: "gear", joints: ["p", "q"], ratio: -1 / 3 },
      ],
    };
    const [pair] = layOut(scene).gears;
    expect(pair!.wheels[0]!.radius).toBeCloseTo(0.1, 12);
    expect(pair!.wheels[1]!.radius).toBeCloseTo(0.3, 12);
    /* a tooth of the first points at the second, a gap of the second at the first */
    expect(pair!.wheels[0]!.phase).toBeCloseTo(0, 12);
    const gap = (pair!.wheels[1]!.phase - Math.PI) / ((2 * Math.PI) / pair!.wheels[1]!.teeth);
    expect(Math.abs(gap - Math.floor(gap))).toBeCloseTo(0.5, 9);
  });
  it("arms with teeth are drawn as arms, wheels with a pin as wheels", () => {
    for (const dimension of [2, 3]) {
      const scene = (reach: number): SceneData => ({
        format: 1,
        dimension,
        bodies: [0, 1].map((k) => ({ name: `arm${k}`, mass: 0.5, inertia: [1e-4, 2e-3, 2e-3], position: [k ? 0.12 : -0.12, 0, 0] })),
        joints: [
          ...[0, 1].map((k) => ({ name: `s${k}`, type: "revolute", a: { body: -1, position: [k ? 0.02 : -0.02, 0, 0] }, b: { body: k, position: [k ? -0.1 : 0.1, 0, 0] } })),
          ...[0, 1].map((k) => ({ name: `e${k}`, type: "spherical", a: { body: -1 }, b: { body: k, position: [k ? reach - 0.1 : 0.1 - reach, 0, 0] } })),
          { name: "g", type: "gear", joints: ["s0", "s1"], ratio: -1 },
        ] as SceneData["joints"],
      });
      const list = draw(scene(0.2));
      for (const body of [0, 1]) {
        const [low, high] = extent(list, body);
        expect(high[0] - low[0]).toBeGreaterThan(0.19);
      }
      expect(draw(scene(0.015)).parts).toEqual([]);
    }
  });
  it("wheels on one shaft do not cover each other, and a pair lies in one plane", () => {
    const at = [[0, 0, 0], [0.12, 0, 0], [0.3, 0, 0.05]];
    const scene = (ratio: number): SceneData => ({
      format: 1,
      bodies: at.map((position, k) => ({ name: `b${k}`, mass: 1, inertia: [1e-3, 1e-3, 1e-3], position })),
      joints: [
        ...at.map((position, k) => ({ name: `s${k}`, type: "revolute", a: { body: -1, position }, b: { body: k } })),
        { name: "g", type: "gear", joints: ["s0", "s1"], ratio: -1 / 3 },
        { name: "h", type: "gear", joints: ["s1", "s2"], ratio },
      ] as SceneData["joints"],
    });
    const [one, two] = layOut(scene(-1 / 4)).gears;
    expect(one!.wheels.map((w) => w.shift)).toEqual([0, 0]);
    expect(two!.wheels[0]!.shift).toBeCloseTo(0.05, 12);
    expect(two!.wheels[1]!.shift).toBeCloseTo(0, 12);
    expect(0.05).toBeGreaterThan(0.5 * (one!.wheels[1]!.width + two!.wheels[0]!.width));
    /* wheels of one radius are one wheel: no shift */
    const [, same] = layOut(scene(-1)).gears;
    expect(same!.wheels[0]!.radius).toBeCloseTo(one!.wheels[1]!.radius, 12);
    expect(same!.wheels.map((w) => w.shift)).toEqual([0, expect.closeTo(-0.05, 12)]);
  });
});

describe("layout", () => {
  it("does not depend on units: a model a thousand times as large has parts a thousand times as large", () => {
    const scene = (s: number): SceneData => ({
      format: 1,
      bodies: [{ name: "b", mass: 2, inertia: boxInertia(2, [s, 0.1 * s, 0.1 * s]), position: [s / 2, 0, 0] }],
      joints: [{ name: "j", type: "revolute", a: { body: -1 }, b: { body: 0, position: [-s / 2, 0, 0] } }],
    });
    const small = draw(scene(1)).parts;
    const large = draw(scene(1000)).parts;
    expect(large.length).toBe(small.length);
    small.forEach((p, i) => p.rows.forEach((x, k) => expect(large[i]!.rows[k]! / 1000).toBeCloseTo(x, 9)));
  });
  it("neighbours of a planar chain lie in different layers", () => {
    const bodies = [0, 1, 2, 3].map((i) => ({ name: `b${i}`, mass: 1, inertia: [0, 0, 1], position: [i, 0] }));
    const joints = [1, 2, 3].map((i) => ({ name: `j${i}`, type: "revolute", a: { body: i - 1 }, b: { body: i } }));
    const l = layOut({ format: 1, dimension: 2, bodies, joints });
    for (let i = 1; i < 4; ++i) expect(l.bodies[i]!.layer).not.toBe(l.bodies[i - 1]!.layer);
  });
  /* A four-bar: crank of a tenth of the others' length. */
  const at = (body: number, x: number, y: number): { body: number; position: number[] } => ({ body, position: [x, y, 0] });
  const uneven: SceneData = {
    format: 1,
    dimension: 2,
    bodies: [
      { name: "crank", mass: 0.1, inertia: [0, 0, 1e-5], position: [0, 0.05] },
      { name: "coupler", mass: 2, inertia: [0, 0, 0.2], position: [0.5, 0.3] },
      { name: "rocker", mass: 1, inertia: [0, 0, 0.03], position: [1, 0.3] },
    ],
    joints: [
      { name: "o", type: "revolute", a: at(-1, 0, 0), b: at(0, 0, -0.05) },
      { name: "a", type: "revolute", a: at(0, 0, 0.05), b: at(1, -0.5, -0.2) },
      { name: "b", type: "revolute", a: at(1, 0.5, 0.3), b: at(2, 0, 0.3) },
      { name: "c", type: "revolute", a: at(2, 0, -0.3), b: at(-1, 1, 0) },
    ],
  };
  it("bars are equally wide, and a short one is not wider than a third of its length", () => {
    const [crank, coupler, rocker] = layOut(uneven).bodies;
    expect(coupler!.width).toBe(rocker!.width);
    expect(crank!.width).toBeLessThanOrEqual(0.36 * crank!.span);
    expect(crank!.width).toBeGreaterThan(0.4 * rocker!.width);
  });
  it("the ground under a joint is smaller than the body it carries, and behind all bodies", () => {
    const l = layOut(uneven);
    const [o, , , c] = uneven.joints!;
    expect(2.6 * l.groundSize(o!)).toBeLessThan(0.5 * l.bodies[0]!.span);
    expect(2.6 * l.groundSize(c!)).toBeLessThan(0.5 * l.bodies[2]!.span);
    for (const b of l.bodies) expect(l.groundLayer).toBeLessThan(-b.layer * l.layerHeight);
  });
  it("wheels and blocks do not hide the bars joined to them, in whatever order the file lists them", () => {
    const wheel = { name: "wheel", mass: 2, inertia: [0, 0, 0.03], position: [0, 0.5] };
    const arm = { name: "arm", mass: 0.5, inertia: [0, 0, 0.01], position: [0, 0.25] };
    const round = [{ type: "cylinder", radius: 0.2, length: 0.1, axis: [0, 0, 1] }];
    for (const shapes of [undefined, round])
      for (const first of [0, 1]) {
        const bodies = first ? [arm, { ...wheel, shapes }] : [{ ...wheel, shapes }, arm];
        const joints = [
          { name: "base", type: "revolute", a: at(-1, 0, 0), b: at(1 - first, 0, -0.25) },
          { name: "axle", type: "revolute", a: at(1 - first, 0, 0.25), b: at(first, 0, 0) },
        ];
        const l = layOut({ format: 1, dimension: 2, bodies, joints });
        expect(l.bodies[first]!.layer).toBeGreaterThan(l.bodies[1 - first]!.layer);
      }
    const piston = layOut({
      format: 1,
      dimension: 2,
      bodies: [{ name: "piston", mass: 1, inertia: [0, 0, 0.1], position: [1, 0] }, { name: "rod", mass: 1, inertia: [0, 0, 0.1], position: [0.5, 0] }],
      joints: [
        { name: "pin", type: "revolute", a: at(1, 0.5, 0), b: at(0, 0, 0) },
        { name: "slide", type: "prismatic", a: at(-1, 1, 0), b: at(0, 0, 0) },
      ],
    });
    expect(piston.bodies[0]!.layer).toBeGreaterThan(piston.bodies[1]!.layer);
  });
});
