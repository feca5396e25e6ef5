/* Bodies: the shapes of the model file, or what default_shape makes of inertia and joints. */
import { decodeBase64 } from "../../data/decode";
import type { ShapeData, Vec3 } from "../../data/format";
import { drawDefault, layerOf } from "../../geometry/default_shape";
import type { BodyLayout } from "../../geometry/layout";
import { corners } from "../../geometry/shape_box";
import { add, along, mul, quat, rotate, unit, vec3 } from "../../geometry/vector";
import type { BuildContext, Drawable } from "../drawable";
import { BODY_COLORS } from "../palette";
import type { PartList } from "../parts";

type Draw = (list: PartList, b: BodyLayout, s: ShapeData, centre: Vec3, axes: [Vec3, Vec3, Vec3], key: string) => void;

const positive = (x: unknown, fallback: number): number => (typeof x === "number" && x > 0 && Number.isFinite(x) ? x : fallback);

function ends(s: ShapeData, centre: Vec3, axes: [Vec3, Vec3, Vec3]): [Vec3, Vec3] {
  const a = unit(vec3(s.axis, [0, 0, 1]));
  const d = add(add(mul(axes[0], a[0]), mul(axes[1], a[1])), mul(axes[2], a[2]));
  const half = positive(s.length, 0) / 2;
  return [along(centre, d, -half), along(centre, d, half)];
}

/* A mesh that several shapes share is decoded once. */
function triangles(list: PartList, key: string, text: string): Float32Array {
  const known = list.meshes.get(key);
  if (known) return known;
  const bytes = decodeBase64(text);
  const count = Math.floor(bytes.length / 36) * 9;
  const view = new DataView(bytes.buffer, bytes.byteOffset, count * 4);
  const xyz = new Float32Array(count);
  for (let i = 0; i < count; ++i) {
    const x = view.getFloat32(4 * i, true);
    xyz[i] = Number.isFinite(x) ? x : 0;
  }
  return xyz;
}

function mesh(list: PartList, b: BodyLayout, s: ShapeData, centre: Vec3, axes: [Vec3, Vec3, Vec3], key: string): void {
  const xyz = triangles(list, key, s.triangles ?? "");
  if (!xyz.length) return;
  const k = typeof s.scale === "number" ? [s.scale, s.scale, s.scale] : (s.scale ?? [1, 1, 1]);
  list.mesh(key, xyz, b.index, centre, mul(axes[0], k[0] ?? 1), mul(axes[1], k[1] ?? 1), mul(axes[2], k[2] ?? 1));
}

const SHAPES: Record<string, Draw> = {
  box: (list, b, s, c, axes) => {
    const e = vec3(s.size, [1, 1, 1]);
    list.box(b.index, c, axes, e);
  },
  cylinder: (list, b, s, c, axes) => list.cylinder(b.index, ...ends(s, c, axes), positive(s.radius, 0.1)),
  sphere: (list, b, s, c) => list.ball(b.index, c, positive(s.radius, 0.1)),
  capsule: (list, b, s, c, axes) => list.capsule(b.index, ...ends(s, c, axes), positive(s.radius, 0.1)),
  mesh,
};

function given(context: BuildContext, b: BodyLayout, shapes: ShapeData[]): void {
  const { list, layout } = context;
  const own = list.color;
  /* in a planar model the front of the shapes is in the body's layer, however thick they are */
  const front = layout.planar ? Math.max(0, ...b.shapes.flatMap(corners).map((p) => p[2])) : 0;
  const lift = layout.planar ? layerOf(b, layout) + 0.4 * layout.layerHeight - front : 0;
  shapes.forEach((data, i) => {
    const shared = data.mesh === undefined ? undefined : context.run.scene?.meshes?.[data.mesh];
    const s = shared === undefined ? data : { ...data, triangles: shared };
    const key = shared === undefined ? `mesh ${b.index} ${i}` : `mesh ${data.mesh}`;
    const draw = SHAPES[s.type];
    if (!draw) {
      context.notice(`unknown shape ${s.type} of ${b.data.name}`);
      return;
    }
    const q = quat(s.rotation);
    const axes: [Vec3, Vec3, Vec3] = [rotate(q, [1, 0, 0]), rotate(q, [0, 1, 0]), rotate(q, [0, 0, 1])];
    if (s.color && /^#[0-9a-f]{6}$/i.test(s.color)) list.color = parseInt(s.color.slice(1), 16);
    draw(list, b, s, add(vec3(s.position), [0, 0, lift]), axes, key);
    list.color = own;
  });
}

export const bodies: Drawable = {
  kind: "bodies",
  build(context) {
    const { list, layout, owners } = context;
    list.category = "bodies";
    list.metal = false;
    for (const b of layout.bodies) {
      list.owner = owners.length;
      owners.push({ kind: "body", name: b.data.name, index: b.index, detail: b.data.kind ?? "rigid" });
      list.color = b.data.kind === "point-mass" ? 0x8c96a3 : BODY_COLORS[b.index % BODY_COLORS.length]!;
      if (b.data.shapes?.length) given(context, b, b.data.shapes);
      else drawDefault(list, b, layout);
    }
    return null;
  },
};
