/* Times, interpolation and poses against closed formulas. */
import { describe, expect, it } from "vitest";
import { ColumnStore } from "../src/data/decode";
import type { ColumnHeader, RunHeader } from "../src/data/format";
import { frameAt, nearestFrame, place } from "../src/data/lookup";
import { poseOf, Run } from "../src/data/run";

export function makeRun(times: number[], channels: Record<string, number[][]>, scene: RunHeader["scene"]): Run {
  const all: number[][] = [times];
  const list: RunHeader["channels"] = [];
  for (const [name, columns] of Object.entries(channels)) {
    const names = columns.length === 4 ? ["w", "x", "y", "z"] : ["x", "y", "z"];
    list.push({ name, unit: "m", parts: columns.length > 1 ? names.slice(0, columns.length) : null, columns: columns.map((c) => all.push(c) - 1) });
  }
  const n = times.length;
  const data = new Float64Array(all.flat());
  const headers = all.map((_, i): ColumnHeader => ({ offset: 8 * n * i, count: n, encoding: "f64" }));
  return new Run({ label: "r", scene, frames: n, time: 0, channels: list }, new ColumnStore(new Uint8Array(data.buffer), headers));
}

describe("lookup", () => {
  const t = [0, 1, 1, 2, 4];
  it("finds the last frame not after a time", () => {
    expect([-1, 0, 0.5, 1, 1.5, 3.9, 4, 9].map((x) => frameAt(t, x))).toEqual([0, 0, 0, 2, 2, 3, 4, 4]);
    expect(frameAt([], 1)).toBe(-1);
  });
  it("finds the nearest", () => {
    expect([0.4, 0.6, 2.9, 3.1, 7].map((x) => nearestFrame(t, x))).toEqual([0, 1, 3, 4, 4]);
  });
  it("is exact at frames", () => {
    const p = { frame: 0, next: 0, part: 0 };
    expect(place(t, 2, p)).toEqual({ frame: 3, next: 3, part: 0 });
    expect(place(t, 3, p)).toEqual({ frame: 3, next: 4, part: 0.5 });
    expect(place(t, 99, p)).toEqual({ frame: 4, next: 4, part: 0 });
  });
});

describe("poses", () => {
  const scene = { format: 1, bodies: [{ name: "b", position: [9, 9, 9], rotation: [0, 1, 0, 0] }] };
  const q = (a: number): number[] => [Math.cos(a / 2), 0, 0, Math.sin(a / 2)];
  it("turns evenly on the shortest way, also when the sign of the quaternion flips", () => {
    const q1 = q(2).map((x) => -x);
    const run = makeRun([0, 1], { "b.position": [[0, 2], [0, 0], [0, 0]], "b.rotation": [0, 1, 2, 3].map((k) => [q(0)[k]!, q1[k]!]) }, scene);
    for (const s of [0, 0.25, 0.5, 1]) {
      run.pose(s);
      const p = poseOf(run.poses, 0);
      expect(p.position[0]).toBeCloseTo(2 * s, 12);
      const angle = 2 * Math.atan2(Math.abs(p.rotation[3]), Math.abs(p.rotation[0]));
      expect(angle).toBeCloseTo(2 * s, 10);
    }
  });
  it("planar: an angle, two coordinates", () => {
    const run = makeRun([0, 1], { "b.position": [[1, 3], [2, 2]], "b.rotation": [[0, 9]] }, { ...scene, dimension: 2 });
    run.pose(0.5);
    const p = poseOf(run.poses, 0);
    expect(p.position).toEqual([2, 2, 0]);
    expect(p.rotation[0]).toBeCloseTo(Math.cos(2.25), 12);
    expect(p.rotation[3]).toBeCloseTo(Math.sin(2.25), 12);
  });
  it("without channels a body stays at its start, and a notice says so", () => {
    const run = makeRun([0, 1], {}, scene);
    run.pose(1);
    expect(poseOf(run.poses, 0).position).toEqual([9, 9, 9]);
    expect(run.notices.join()).toMatch(/positions are not in the result/);
  });
  it("no frames: at the start; NaN: where it was", () => {
    expect(makeRun([], { "b.position": [[], [], []] }, scene).notices.join()).toMatch(/no frames/);
    const run = makeRun([0, 1, 2], { "b.position": [[1, NaN, 3], [0, 0, 0], [0, 0, 0]] }, scene);
    run.pose(0);
    run.pose(1);
    expect(poseOf(run.poses, 0).position[0]).toBe(1);
    expect(run.notices.join()).toMatch(/invalid positions/);
  });
  it("without a scene bodies come from the names of channels", () => {
    const run = makeRun([0], { "left.wheel.position": [[1], [2], [3]], "energy.total": [[1]] }, null);
    expect(run.scene.bodies!.map((b) => b.name)).toEqual(["left.wheel"]);
  });
  it("values between frames, and names of parts", () => {
    const run = makeRun([0, 1], { "b.position": [[0, 2], [5, 5], [0, NaN]], "b.rotation": [[1, 3]] }, scene);
    expect(run.value(run.part("b.position.x")!, 0.25)).toBeCloseTo(0.5, 12);
    expect(run.value(run.part("b.position.z")!, 0.5)).toBeNaN();
    expect(run.value(run.part("b.rotation")!, 1)).toBe(3);
    expect(run.part("b.position.q")).toBeNull();
  });
});
