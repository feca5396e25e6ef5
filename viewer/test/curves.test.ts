/* Thinning keeps peaks and gaps; results are joined by the value of time; CSV has every sample. */
import { describe, expect, it } from "vitest";
import { decimate, stride } from "../src/data/decimate";
import { align, csv } from "../src/ui/curves";
import { firstCurves } from "../src/ui/first_curves";
import { tickTexts } from "../src/ui/ticks";
import { timeDigits } from "../src/ui/transport";
import { tokens } from "../src/ui/yaml";
import { makeRun } from "./run.test";

describe("decimation", () => {
  it("short curves stay as they are", () => {
    expect([...decimate([[1, 2, 3]], 0, 2, 10)]).toEqual([0, 1, 2]);
    expect([...decimate([[]], 0, -1, 10)]).toEqual([]);
  });
  it("keeps ends, every peak, and the start of a gap", () => {
    const y = Array.from({ length: 10000 }, (_, i) => Math.sin(i / 50));
    y[5003] = 50;
    y[7001] = -50;
    y[8123] = NaN;
    const index = decimate([y], 0, 9999, 100);
    expect(index.length).toBeLessThan(400);
    for (const i of [0, 5003, 7001, 8123, 9999]) expect([...index]).toContain(i);
    expect([...index]).toEqual([...index].sort((a, b) => a - b));
  });
  it("stride", () => {
    expect([stride(10, 100), stride(1000, 100), stride(1001, 100), stride(0, 5)]).toEqual([1, 10, 11, 1]);
  });
});

describe("joining results", () => {
  const a = makeRun([0, 1, 2], { x: [[10, 11, 12]] }, null);
  const b = makeRun([0, 0.5, 2], { x: [[20, NaN, 22]] }, null);
  const curves = [a, b].map((run, runIndex) => ({ run, runIndex, part: run.part("x")! }));
  it("by the value of time", () => {
    const [t, ya, yb] = align(curves, 0, 2) as unknown as [Float64Array, unknown[], unknown[]];
    expect([...t]).toEqual([0, 0.5, 1, 2]);
    expect(ya).toEqual([10, undefined, 11, 12]);
    expect(yb).toEqual([20, null, undefined, 22]);
  });
  it("as CSV", () => {
    expect(csv(curves)).toBe("time,r: x,r: x\n0,10,20\n0.5,,nan\n1,11,\n2,12,22\n");
    expect(csv([curves[0]!])).toBe("time,x\n0,10\n1,11\n2,12\n");
  });
});

describe("the first curves", () => {
  const t = Array.from({ length: 40 }, (_, i) => i / 10);
  const wave = (a: number): number[][] => [t.map((x) => a * Math.sin(x))];
  const joint = (name: string, a: number, b: number) => ({ name, type: "revolute", a: { body: a }, b: { body: b } });
  const channels = { "elbow.angle": wave(1), "hinge.angle": wave(2), "motor.angle": [t.map((x) => 30 * x)], "energy.kinetic": wave(3), "energy.potential": wave(-3), "energy.total": wave(0), "energy.dissipated": wave(0), "energy.work": wave(1) };
  const joints = [joint("elbow", 0, 1), joint("motor", 1, 2), joint("hinge", -1, 0)];
  it("driven joints, then joints on the ground; what moves less stands apart", () => {
    const run = makeRun(t, channels, { format: 1, joints, motions: [{ name: "drive", joint: "motor" }] });
    expect(firstCurves(run)).toEqual([["motor.angle"], ["hinge.angle", "elbow.angle"], ["energy.kinetic", "energy.potential", "energy.total", "energy.work"]]);
  });
  it("every unit has a pane", () => {
    const run = makeRun(t, { "hinge.angle": wave(2), "slide.displacement": wave(0.3) }, { format: 1, joints: [joint("slide", 0, 1), joint("hinge", -1, 0)] });
    run.channel("hinge.angle")!.unit = "rad";
    run.channel("slide.displacement")!.unit = "m";
    expect(firstCurves(run)).toEqual([["hinge.angle"], ["slide.displacement"]]);
  });
});

describe("the clock", () => {
  it("shows a thousandth of the run, whatever its frames", () => {
    expect([3, 4, 12, 1, 0.05, 1000, 5e4, 0].map(timeDigits)).toEqual([3, 3, 2, 3, 5, 0, 0, 2]);
  });
});

describe("labels of axes", () => {
  it("tell neighbours apart", () => {
    for (const [first, step] of [[5435.66, 0.02], [0, 0.2], [-1e-5, 2e-6], [1e7, 1e3], [0.1, 0.1], [7e6, 1e6]] as const) {
      const values = Array.from({ length: 9 }, (_, i) => first + i * step);
      expect(new Set(tickTexts(values, step)).size).toBe(9);
    }
    expect(tickTexts([-0.2, 1e-17, 0.2], 0.2)).toEqual(["\u22120.2", "0", "0.2"]);
  });
});

describe("colours of model files", () => {
  it("never change the text", () => {
    for (const line of ["  a: {b: [1, -2.5e3, 'x # y'], c: *d}  # end", "<script>alert(1)</script>: &x \"q", "", "- - k:", "a#b: 1", "é: ü # ö"])
      expect(tokens(line).map((t) => t.text).join("")).toBe(line);
  });
  it("know keys, numbers and comments", () => {
    const kinds = tokens("mass: 1.5e-3 # kg").map((t) => `${t.kind}=${t.text}`);
    expect(kinds).toContain("key=mass");
    expect(kinds).toContain("number=1.5e-3");
    expect(kinds).toContain("comment=# kg");
  });
});
