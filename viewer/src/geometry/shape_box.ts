/* Boxes around the shapes a model file gives: how large bodies are, and how thick at a joint. */
import { decodeBase64 } from "../data/decode";
import type { SceneData, ShapeData, Vec3 } from "../data/format";
import { add, dot, mul, quat, rotate, sub, unit, vec3 } from "./vector";

export interface ShapeBox {
  centre: Vec3; /* body axes */
  axes: [Vec3, Vec3, Vec3];
  half: Vec3;
}

const positive = (x: unknown): number => (typeof x === "number" && x > 0 && Number.isFinite(x) ? x : 0);

function meshBox(text: string): { low: Vec3; high: Vec3 } {
  const bytes = decodeBase64(text);
  const count = Math.floor(bytes.length / 12);
  const view = new DataView(bytes.buffer, bytes.byteOffset, count * 12);
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < count; ++i)
    for (let k = 0; k < 3; ++k) {
      const x = view.getFloat32(12 * i + 4 * k, true);
      if (x < low[k]!) low[k] = x;
      if (x > high[k]!) high[k] = x;
    }
  return { low, high };
}

/* Boxes of all shapes of all bodies. Meshes that several bodies share are measured once. */
export function shapeBoxes(scene: SceneData): ShapeBox[][] {
  const meshes = new Map<number, { low: Vec3; high: Vec3 }>();
  const shared = (index: number): { low: Vec3; high: Vec3 } => {
    let box = meshes.get(index);
    if (!box) meshes.set(index, (box = meshBox(scene.meshes?.[index] ?? "")));
    return box;
  };
  return (scene.bodies ?? []).map((b) => (b.shapes ?? []).map((s) => boxOf(s, shared)).filter((x) => x !== null));
}

function boxOf(s: ShapeData, shared: (index: number) => { low: Vec3; high: Vec3 }): ShapeBox | null {
  const q = quat(s.rotation);
  const own: [Vec3, Vec3, Vec3] = [rotate(q, [1, 0, 0]), rotate(q, [0, 1, 0]), rotate(q, [0, 0, 1])];
  const centre = vec3(s.position);
  const r = positive(s.radius);
  const long = positive(s.length) / 2;
  switch (s.type) {
    case "box":
      return { centre, axes: own, half: mul(vec3(s.size, [0, 0, 0]), 0.5) };
    case "sphere":
      return { centre, axes: own, half: [r, r, r] };
    case "cylinder":
    case "capsule": {
      const z = rotate(q, unit(vec3(s.axis, [0, 0, 1])));
      const x = unit(Math.abs(z[0]) < 0.7 ? sub([1, 0, 0], mul(z, z[0])) : sub([0, 1, 0], mul(z, z[1])));
      const y: Vec3 = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
      return { centre, axes: [x, y, z], half: [r, r, s.type === "capsule" ? long + r : long] };
    }
    case "mesh": {
      const { low, high } = s.mesh === undefined ? meshBox(s.triangles ?? "") : shared(s.mesh);
      if (!(low[0] <= high[0])) return null;
      const k = typeof s.scale === "number" ? [s.scale, s.scale, s.scale] : (s.scale ?? [1, 1, 1]);
      const size = [0, 1, 2].map((i) => Math.abs((high[i]! - low[i]!) * (k[i] ?? 1)) / 2) as Vec3;
      const middle = [0, 1, 2].map((i) => ((low[i]! + high[i]!) / 2) * (k[i] ?? 1)) as Vec3;
      const shift = own.reduce<Vec3>((sum, axis, i) => add(sum, mul(axis, middle[i]!)), [0, 0, 0]);
      return { centre: add(centre, shift), axes: own, half: size };
    }
    default:
      return null;
  }
}

export function corners(b: ShapeBox): Vec3[] {
  return Array.from({ length: 8 }, (_, i) =>
    b.axes.reduce<Vec3>((p, axis, k) => add(p, mul(axis, (i >> k) & 1 ? b.half[k]! : -b.half[k]!)), b.centre),
  );
}

/* How thick a body is where a joint sits: of the shape there (or the nearest), its middle edge, the
 * width of a bar or the diameter of a rod; less of stout and of flat ones. */
export function thicknessAt(boxes: ShapeBox[], point: Vec3): number {
  let best = 0;
  let near = Infinity;
  for (const b of boxes) {
    const d = sub(point, b.centre);
    let away = 0;
    b.axes.forEach((axis, k) => (away += Math.max(0, Math.abs(dot(d, axis)) - b.half[k]!) ** 2));
    const edges = [...b.half].map((x) => 2 * x).sort((x, y) => x - y);
    const thick = Math.min(edges[1]!, 0.25 * edges[2]!, 2 * edges[0]!);
    /* of several shapes around the point the smallest is what the joint holds */
    if (away < near * (1 - 1e-9) - 1e-300 || (away <= near && thick < best)) {
      near = away;
      best = thick;
    }
  }
  return best;
}
