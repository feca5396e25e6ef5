/* Draws parts and spans where their bodies are.
 *
 * Places of bodies go to the graphics card once a frame, in a small texture: two texels for a body,
 * (x y z 1) and the quaternion (x y z w); texel 0 is the ground. Every vertex looks up its body. Parts
 * of one solid are one draw call, whatever their number. */
import {
  BufferGeometry,
  DataTexture,
  DoubleSide,
  FloatType,
  FrontSide,
  Group,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  MeshDepthMaterial,
  MeshStandardMaterial,
  NearestFilter,
  RGBADepthPacking,
  RGBAFormat,
  Color,
  type Material,
  type Texture,
} from "three";
import type { Category, PartList, ScenePart, SceneSpan } from "./parts";
import { solid, spanSolid } from "./solids";

const ROW = 512; /* bodies in a row of the texture */

export class PoseTexture {
  readonly texture: DataTexture;
  private readonly data: Float32Array;
  private readonly bodies: number;

  constructor(bodies: number) {
    this.bodies = bodies;
    const rows = Math.max(1, Math.ceil((bodies + 1) / ROW));
    this.data = new Float32Array(2 * ROW * rows * 4);
    this.texture = new DataTexture(this.data, 2 * ROW, rows, RGBAFormat, FloatType);
    this.texture.minFilter = this.texture.magFilter = NearestFilter;
    this.texture.generateMipmaps = false;
  }

  /* Relative to an origin, subtracted in double: a satellite is millions of metres away from zero. */
  set(poses: Float64Array, origin: ArrayLike<number>): void {
    const d = this.data;
    d[0] = -origin[0]!;
    d[1] = -origin[1]!;
    d[2] = -origin[2]!;
    d[3] = 1;
    d[7] = 1;
    for (let i = 0; i < this.bodies; ++i) {
      const o = 7 * i;
      const t = 8 * (i + 1);
      d[t] = poses[o]! - origin[0]!;
      d[t + 1] = poses[o + 1]! - origin[1]!;
      d[t + 2] = poses[o + 2]! - origin[2]!;
      d[t + 3] = 1;
      d[t + 4] = poses[o + 4]!;
      d[t + 5] = poses[o + 5]!;
      d[t + 6] = poses[o + 6]!;
      d[t + 7] = poses[o + 3]!;
    }
    this.texture.needsUpdate = true;
  }
}

const COMMON = /* glsl */ `
uniform highp sampler2D uPoses;
attribute vec3 aColor;
attribute float aOwner;
varying vec3 vTint;
varying float vOwner;
vec4 poseTexel(float body, int k) {
  int i = int(body + 1.5);
  return texelFetch(uPoses, ivec2(2 * (i % ${ROW}) + k, i / ${ROW}), 0);
}
vec3 turn(vec4 q, vec3 v) {
  vec3 t = 2.0 * cross(q.xyz, v);
  return v + q.w * t + cross(q.xyz, t);
}
vec3 placed(float body, vec3 p) { return poseTexel(body, 0).xyz + turn(poseTexel(body, 1), p); }
`;

const PART_HEAD = /* glsl */ `
${COMMON}
attribute vec4 aRow0;
attribute vec4 aRow1;
attribute vec4 aRow2;
attribute float aBody;
`;

/* Normals by the cofactors of the 3 x 3 part: right under any stretching. */
const PART_NORMAL = /* glsl */ `
mat3 aM = mat3(aRow0.x, aRow1.x, aRow2.x, aRow0.y, aRow1.y, aRow2.y, aRow0.z, aRow1.z, aRow2.z);
mat3 aCofactor = mat3(cross(aM[1], aM[2]), cross(aM[2], aM[0]), cross(aM[0], aM[1]));
vec3 objectNormal = normalize(turn(poseTexel(aBody, 1), aCofactor * normal));
`;

const PART_PLACE = /* glsl */ `
vTint = aColor;
vOwner = aOwner;
vec4 aPoint = vec4(position, 1.0);
vec3 transformed = placed(aBody, vec3(dot(aRow0, aPoint), dot(aRow1, aPoint), dot(aRow2, aPoint)));
`;

const SPAN_HEAD = /* glsl */ `
${COMMON}
attribute vec2 axial;
attribute vec4 aFrom;
attribute vec4 aTo;
attribute vec2 aSize;
void spanFrame(out vec3 p, out vec3 x, out vec3 y, out vec3 z, out float len) {
  p = placed(aFrom.w, aFrom.xyz);
  vec3 d = placed(aTo.w, aTo.xyz) - p;
  len = length(d);
  z = len > 0.0 ? d / len : vec3(0.0, 0.0, 1.0);
  vec3 o = abs(z.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0);
  x = normalize(cross(o, z));
  y = cross(z, x);
}
`;

const SPAN_NORMAL = /* glsl */ `
vec3 sP, sX, sY, sZ;
float sLen;
spanFrame(sP, sX, sY, sZ, sLen);
vec3 objectNormal = sX * normal.x + sY * normal.y + sZ * normal.z;
`;

const SPAN_PLACE = /* glsl */ `
vTint = aColor;
vOwner = aOwner;
vec3 tP, tX, tY, tZ;
float tLen;
spanFrame(tP, tX, tY, tZ, tLen);
vec3 transformed = tP + aSize.x * (tX * position.x + tY * position.y)
  + tZ * (axial.x * tLen + axial.y * aSize.y + aSize.x * position.z);
`;

export interface Shared {
  uPoses: { value: Texture };
  uSelected: { value: number };
  uHover: { value: number };
  uTint: { value: Color };
  uTintPart: { value: number };
}

function patch(material: Material, span: boolean, shared: Shared): void {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, shared);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${span ? SPAN_HEAD : PART_HEAD}`)
      .replace("#include <beginnormal_vertex>", span ? SPAN_NORMAL : PART_NORMAL)
      .replace("#include <begin_vertex>", span ? SPAN_PLACE : PART_PLACE);
    shader.fragmentShader = shader.fragmentShader
      .replace(
        "#include <common>",
        `#include <common>
         varying vec3 vTint; varying float vOwner;
         uniform float uSelected; uniform float uHover; uniform vec3 uTint; uniform float uTintPart;`,
      )
      .replace("#include <color_fragment>", "diffuseColor.rgb *= mix(vTint, uTint, uTintPart);")
      .replace(
        "#include <emissivemap_fragment>",
        `#include <emissivemap_fragment>
         if (vOwner >= 0.0 && abs(vOwner - uSelected) < 0.5) totalEmissiveRadiance += vec3(0.20, 0.11, 0.0);
         else if (vOwner >= 0.0 && abs(vOwner - uHover) < 0.5) totalEmissiveRadiance += vec3(0.10, 0.10, 0.12);`,
      );
  };
  material.customProgramCacheKey = () => (span ? "galpha-span" : "galpha-part");
}

export interface Look {
  ghost: Color | null; /* null: solid */
  pale: boolean; /* a ghost in its own colours, lighter, of bodies and springs only */
  shadows: boolean;
}

function instanced(geometry: BufferGeometry, count: number): InstancedBufferGeometry {
  const g = new InstancedBufferGeometry();
  g.index = geometry.index;
  for (const name of ["position", "normal", "axial"]) {
    const a = geometry.getAttribute(name);
    if (a) g.setAttribute(name, a);
  }
  g.instanceCount = count;
  return g;
}

const tint = new Color();

/* Colours are given as seen (sRGB), shaders compute in linear light. */
function colors(items: { color: number; owner: number }[], g: InstancedBufferGeometry): void {
  const color = new Float32Array(3 * items.length);
  const owner = new Float32Array(items.length);
  items.forEach((item, i) => {
    tint.setHex(item.color).toArray(color, 3 * i);
    owner[i] = item.owner;
  });
  g.setAttribute("aColor", new InstancedBufferAttribute(color, 3));
  g.setAttribute("aOwner", new InstancedBufferAttribute(owner, 1));
}

function partGeometry(base: BufferGeometry, parts: ScenePart[]): InstancedBufferGeometry {
  const n = parts.length;
  const g = instanced(base, n);
  const rows = [0, 1, 2].map(() => new Float32Array(4 * n));
  const body = new Float32Array(n);
  parts.forEach((p, i) => {
    for (let r = 0; r < 3; ++r) for (let k = 0; k < 4; ++k) rows[r]![4 * i + k] = p.rows[4 * r + k]!;
    body[i] = p.body;
  });
  rows.forEach((row, r) => g.setAttribute(`aRow${r}`, new InstancedBufferAttribute(row, 4)));
  g.setAttribute("aBody", new InstancedBufferAttribute(body, 1));
  colors(parts, g);
  return g;
}

function spanInstances(base: BufferGeometry, spans: SceneSpan[]): InstancedBufferGeometry {
  const n = spans.length;
  const g = instanced(base, n);
  const from = new Float32Array(4 * n);
  const to = new Float32Array(4 * n);
  const size = new Float32Array(2 * n);
  spans.forEach((s, i) => {
    from.set([...s.a.point, s.a.body], 4 * i);
    to.set([...s.b.point, s.b.body], 4 * i);
    size.set([s.radius, s.rest], 2 * i);
  });
  g.setAttribute("aFrom", new InstancedBufferAttribute(from, 4));
  g.setAttribute("aTo", new InstancedBufferAttribute(to, 4));
  g.setAttribute("aSize", new InstancedBufferAttribute(size, 2));
  colors(spans, g);
  return g;
}

/* All parts and spans of one result: one group for each category. */
export class PosedScene {
  readonly root = new Group();
  readonly shared: Shared;
  readonly poses: PoseTexture;
  private readonly groups = new Map<Category, Group>();
  private readonly materials: Material[] = [];

  constructor(list: PartList, bodies: number, look: Look) {
    this.poses = new PoseTexture(bodies);
    this.shared = {
      uPoses: { value: this.poses.texture },
      uSelected: { value: -1 },
      uHover: { value: -1 },
      uTint: { value: look.pale || !look.ghost ? new Color(1, 1, 1) : look.ghost },
      uTintPart: { value: look.pale ? 0.3 : look.ghost ? 0.92 : 0 },
    };
    const batches = new Map<string, { span: boolean; items: (ScenePart | SceneSpan)[] }>();
    const put = (span: boolean, item: ScenePart | SceneSpan, metal: boolean): void => {
      const style = span ? "s" : list.meshes.has(item.solid) ? "d" : metal ? "m" : "p";
      const key = `${item.category}|${style}|${item.solid}`;
      let batch = batches.get(key);
      if (!batch) batches.set(key, (batch = { span, items: [] }));
      batch.items.push(item);
    };
    /* the ground is the same for all results: once is enough */
    const shown = (category: Category): boolean => !look.ghost || (category !== "ground" && !(look.pale && category === "joints"));
    for (const p of list.parts) if (shown(p.category)) put(false, p, p.metal);
    for (const s of list.spans) if (shown(s.category)) put(true, s, true);
    const made = new Map<string, MeshStandardMaterial>();
    for (const [key, batch] of batches) {
      const [category, style] = key.split("|") as [Category, string];
      let material = made.get(style);
      if (!material) made.set(style, (material = this.material(batch.span, style, look)));
      const name = batch.items[0]!.solid;
      const geometry = batch.span
        ? spanInstances(spanSolid(name, list.detail > 0), batch.items as SceneSpan[])
        : partGeometry(solid(name, list.detail, list.meshes), batch.items as ScenePart[]);
      const mesh = new Mesh(geometry, material);
      mesh.frustumCulled = false; /* its box is not where its vertices are */
      if (look.shadows && !look.ghost && category !== "ground") {
        mesh.castShadow = true;
        mesh.receiveShadow = true;
        mesh.customDepthMaterial = this.depth(batch.span);
      }
      if (look.ghost) mesh.renderOrder = 2;
      this.group(category).add(mesh);
    }
  }

  private group(category: Category): Group {
    let g = this.groups.get(category);
    if (!g) {
      g = new Group();
      this.groups.set(category, g);
      this.root.add(g);
    }
    return g;
  }

  private material(span: boolean, style: string, look: Look): MeshStandardMaterial {
    const metal = style === "m" || style === "s";
    const m = new MeshStandardMaterial({
      roughness: metal ? 0.38 : 0.52,
      metalness: metal ? 0.35 : 0.08,
      side: style === "d" ? DoubleSide : FrontSide, /* files of meshes do not always know their outside */
      transparent: !!look.ghost,
      opacity: look.ghost ? 0.42 : 1,
      depthWrite: !look.ghost,
    });
    patch(m, span, this.shared);
    this.materials.push(m);
    return m;
  }

  private depth(span: boolean): MeshDepthMaterial {
    const m = new MeshDepthMaterial({ depthPacking: RGBADepthPacking });
    m.onBeforeCompile = (shader) => {
      shader.uniforms.uPoses = this.shared.uPoses;
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${span ? SPAN_HEAD : PART_HEAD}`)
        .replace("#include <begin_vertex>", span ? SPAN_PLACE : PART_PLACE);
    };
    m.customProgramCacheKey = () => (span ? "galpha-span-depth" : "galpha-part-depth");
    return m;
  }

  show(category: Category, on: boolean): void {
    const g = this.groups.get(category);
    if (g) g.visible = on;
  }
}
