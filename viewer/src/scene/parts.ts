/* A scene is a list of parts: a simple solid, stretched and placed in the axes of a body. Parts never
 * move by themselves; the shader puts them where their body is. So a part costs nothing per frame,
 * and one list serves drawing, picking and counting.
 *
 * Solids: box [-1/2, 1/2]^3; cylinder, cone, tube of radius 1 about z, z in [-1/2, 1/2]; ball of radius
 * 1; wedge, a triangle (0,0) (1,0) (0,1) of thickness 1; gear:N, a wheel of N teeth with pitch radius
 * 1 and thickness 1; others by name, see solids.ts.
 *
 * Spans join two points of two bodies and stretch with them: rods, coils, dampers. */
import type { Vec3 } from "../data/format";
import { across, cross, distance, middle, mul, sub, unit } from "../geometry/vector";

export type Category = "bodies" | "joints" | "forces" | "ground";

export interface ScenePart {
  solid: string;
  body: number; /* -1: ground */
  rows: number[]; /* 3 x 4, row by row: solid -> body axes */
  color: number;
  owner: number; /* what is selected by a click; -1: nothing */
  category: Category;
  metal: boolean;
}

export interface SceneSpan {
  solid: string;
  a: { body: number; point: Vec3 };
  b: { body: number; point: Vec3 };
  radius: number;
  rest: number;
  color: number;
  owner: number;
  category: Category;
}

/* Something with a name that a user may point at. */
export interface Owner {
  kind: "body" | "joint" | "force";
  name: string;
  index: number;
  detail: string;
}

export class PartList {
  readonly parts: ScenePart[] = [];
  readonly spans: SceneSpan[] = [];
  readonly meshes = new Map<string, Float32Array>();
  category: Category = "bodies";
  owner = -1;
  color = 0x888888;
  metal = false;
  /* 0: all there is; 1: solids of fewer faces; 2: crowds, what is too small to see is left out. */
  detail: 0 | 1 | 2 = 0;

  private push(solid: string, body: number, c: Vec3, x: Vec3, y: Vec3, z: Vec3): void {
    const rows = [x[0], y[0], z[0], c[0], x[1], y[1], z[1], c[1], x[2], y[2], z[2], c[2]];
    if (!rows.every(Number.isFinite)) return;
    this.parts.push({
      solid,
      body,
      rows,
      color: this.color,
      owner: this.owner,
      category: this.category,
      metal: this.metal,
    });
  }

  /* Axes x, y, z with lengths: the solid's own frame. */
  solid(solid: string, body: number, centre: Vec3, x: Vec3, y: Vec3, z: Vec3): void {
    this.push(solid, body, centre, x, y, z);
  }

  box(body: number, centre: Vec3, axes: [Vec3, Vec3, Vec3], size: Vec3): void {
    this.push("box", body, centre, mul(axes[0], size[0]), mul(axes[1], size[1]), mul(axes[2], size[2]));
  }

  ball(body: number, centre: Vec3, r: number): void {
    this.push("ball", body, centre, [r, 0, 0], [0, r, 0], [0, 0, r]);
  }

  /* From p to q, with radius r. */
  between(solid: "cylinder" | "cone" | "tube" | string, body: number, p: Vec3, q: Vec3, r: number, flat = 1): void {
    const length = distance(p, q);
    if (!(length > 0)) return;
    const z = unit(sub(q, p));
    const x = across(z);
    this.push(solid, body, middle(p, q), mul(x, r), mul(cross(z, x), r * flat), mul(z, length));
  }

  cylinder(body: number, p: Vec3, q: Vec3, r: number): void {
    this.between("cylinder", body, p, q, r);
  }

  /* About an axis, with chosen direction of x. */
  round(solid: string, body: number, centre: Vec3, x: Vec3, z: Vec3, r: number, length: number): void {
    this.push(solid, body, centre, mul(x, r), mul(cross(z, x), r), mul(z, length));
  }

  /* A rod with round ends. */
  capsule(body: number, p: Vec3, q: Vec3, r: number): void {
    this.cylinder(body, p, q, r);
    if (this.detail === 2) return;
    this.ball(body, p, r);
    this.ball(body, q, r);
  }

  /* A flat bar with round ends, thickness along n. */
  bar(body: number, p: Vec3, q: Vec3, n: Vec3, width: number, thick: number): void {
    const length = distance(p, q);
    const x = unit(sub(q, p), across(n));
    const y = cross(n, x);
    if (length > 0) this.box(body, middle(p, q), [x, y, n], [length, width, thick]);
    this.round("cylinder", body, p, x, n, width / 2, thick);
    if (length > 0) this.round("cylinder", body, q, x, n, width / 2, thick);
  }

  triangle(body: number, a: Vec3, b: Vec3, c: Vec3, n: Vec3, thick: number): void {
    let u = sub(b, a);
    let v = sub(c, a);
    const w = cross(u, v);
    if (w[0] * n[0] + w[1] * n[1] + w[2] * n[2] < 0) [u, v] = [v, u];
    this.push("wedge", body, a, u, v, mul(n, thick));
  }

  mesh(key: string, triangles: Float32Array, body: number, centre: Vec3, x: Vec3, y: Vec3, z: Vec3): void {
    this.meshes.set(key, triangles);
    this.push(key, body, centre, x, y, z);
  }

  span(solid: string, a: { body: number; point: Vec3 }, b: { body: number; point: Vec3 }, radius: number, rest: number): void {
    if (![...a.point, ...b.point, radius, rest].every(Number.isFinite)) return;
    this.spans.push({ solid, a, b, radius, rest, color: this.color, owner: this.owner, category: this.category });
  }
}
