/* The solids that parts and spans are made of, by name. Coarse for crowds: a model of thousands of
 * bodies has thousands of pins. */
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  ExtrudeGeometry,
  LatheGeometry,
  Shape,
  SphereGeometry,
  TorusGeometry,
  Vector2,
} from "three";

const aboutZ = (g: BufferGeometry): BufferGeometry => g.rotateX(Math.PI / 2);

/* Radii of the tube's wall, part of the outer one. */
export const TUBE_INSIDE = 0.87;

function tube(sides: number, inside: number): BufferGeometry {
  const p = [
    [inside, -0.5],
    [1, -0.5],
    [1, -0.5],
    [1, 0.5],
    [1, 0.5],
    [inside, 0.5],
    [inside, 0.5],
    [inside, -0.5],
  ].map(([x, y]) => new Vector2(x, y));
  return aboutZ(new LatheGeometry(p, sides)).toNonIndexed();
}

/* A triangle (0,0) (1,0) (0,1), thickness 1. */
function wedge(): BufferGeometry {
  const s = new Shape();
  s.moveTo(0, 0);
  s.lineTo(1, 0);
  s.lineTo(0, 1);
  return new ExtrudeGeometry(s, { depth: 1, bevelEnabled: false }).translate(0, 0, -0.5);
}

/* Trapezoidal teeth about the pitch circle of radius 1, tooth 0 on x; a hub and a hole. */
function gear(teeth: number): BufferGeometry {
  const m = 2 / teeth;
  const outer = 1 + 0.9 * m;
  const root = 1 - 1.1 * m;
  const s = new Shape();
  const pitch = (2 * Math.PI) / teeth;
  for (let i = 0; i < teeth; ++i) {
    const a = i * pitch;
    for (const [r, w, first] of [
      [root, -0.37, true],
      [outer, -0.13, false],
      [outer, 0.13, false],
      [root, 0.37, false],
    ] as const) {
      const t = a + w * pitch;
      if (i === 0 && first) s.moveTo(r * Math.cos(t), r * Math.sin(t));
      else s.lineTo(r * Math.cos(t), r * Math.sin(t));
    }
  }
  s.closePath();
  for (let k = 0; k < 5; ++k) {
    const a = (2 * Math.PI * (k + 0.5)) / 5;
    const hole = new Shape();
    hole.absarc(0.56 * root * Math.cos(a), 0.56 * root * Math.sin(a), 0.17 * root, 0, 2 * Math.PI, true);
    s.holes.push(hole);
  }
  return new ExtrudeGeometry(s, { depth: 1, bevelEnabled: false, curveSegments: 10 }).translate(0, 0, -0.5);
}

/* Screw thread: a cylinder whose radius winds; `turns` of it over its length. */
function thread(turns: number): BufferGeometry {
  const across = 14;
  const rows = turns * 6;
  const position: number[] = [];
  const index: number[] = [];
  for (let j = 0; j <= rows; ++j)
    for (let i = 0; i <= across; ++i) {
      const a = (2 * Math.PI * i) / across;
      const phase = (j / rows) * turns - i / across;
      const saw = Math.abs((((phase % 1) + 1) % 1) - 0.5) * 2;
      const r = 0.78 + 0.22 * saw;
      position.push(r * Math.cos(a), r * Math.sin(a), j / rows - 0.5);
    }
  for (let j = 0; j < rows; ++j)
    for (let i = 0; i < across; ++i) {
      const a = j * (across + 1) + i;
      index.push(a, a + 1, a + across + 2, a, a + across + 2, a + across + 1);
    }
  const g = new BufferGeometry();
  g.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  g.setIndex(index);
  g.computeVertexNormals();
  return g;
}

function fromTriangles(xyz: Float32Array): BufferGeometry {
  const g = new BufferGeometry();
  g.setAttribute("position", new BufferAttribute(xyz, 3));
  g.computeVertexNormals();
  return g;
}

export function solid(name: string, detail: number, meshes: Map<string, Float32Array>): BufferGeometry {
  const mesh = meshes.get(name);
  if (mesh) return fromTriangles(mesh);
  const [kind, number] = name.split(":");
  const coarse = detail > 0;
  const sides = [36, 10, 6][detail]!;
  switch (kind) {
    case "ball":
      return new SphereGeometry(1, [28, 9, 6][detail], [18, 6, 4][detail]);
    case "cylinder":
      return aboutZ(new CylinderGeometry(1, 1, 1, sides));
    case "cone":
      return aboutZ(new ConeGeometry(1, 1, sides));
    case "tube":
      return tube(coarse ? 20 : 56, TUBE_INSIDE);
    case "ring":
      return new TorusGeometry(0.86, 0.14, coarse ? 6 : 10, coarse ? 18 : 40);
    case "halfring":
      return new TorusGeometry(0.86, 0.14, coarse ? 6 : 10, coarse ? 12 : 24, Math.PI);
    case "arc":
      return new TorusGeometry(0.93, 0.07, 8, 40, 1.5 * Math.PI);
    case "wedge":
      return wedge();
    case "gear":
      return gear(Number(number) || 20);
    case "thread":
      return thread(Number(number) || 10);
    default:
      return new BoxGeometry(1, 1, 1);
  }
}

/* ---- spans: position (x, y, w) across, across, along in units of the radius; `axial` (s, r): the
 * place along is s length + r rest + w radius. */

interface SpanBuilder {
  position: number[];
  normal: number[];
  axial: number[];
  index: number[];
}

const emptySpan = (): SpanBuilder => ({ position: [], normal: [], axial: [], index: [] });

function spanGeometry(b: SpanBuilder): BufferGeometry {
  const g = new BufferGeometry();
  g.setAttribute("position", new BufferAttribute(new Float32Array(b.position), 3));
  g.setAttribute("normal", new BufferAttribute(new Float32Array(b.normal), 3));
  g.setAttribute("axial", new BufferAttribute(new Float32Array(b.axial), 2));
  g.setIndex(b.index);
  return g;
}

type End = { s: number; r: number; w: number };

/* A closed cylinder of radius `radius` (in units) from one place along to another. */
function spanCylinder(b: SpanBuilder, radius: number, from: End, to: End, sides: number): void {
  const base = b.position.length / 3;
  for (let i = 0; i <= sides; ++i) {
    const a = (2 * Math.PI * i) / sides;
    const c = Math.cos(a);
    const s = Math.sin(a);
    for (const [end, n] of [
      [from, -1],
      [to, 1],
    ] as const) {
      b.position.push(radius * c, radius * s, end.w, radius * c, radius * s, end.w);
      b.normal.push(c, s, 0, 0, 0, n);
      b.axial.push(end.s, end.r, end.s, end.r);
    }
  }
  const at = (i: number, end: number, cap: number): number => base + 4 * i + 2 * end + cap;
  for (let i = 0; i < sides; ++i) {
    b.index.push(at(i, 0, 0), at(i + 1, 0, 0), at(i + 1, 1, 0), at(i, 0, 0), at(i + 1, 1, 0), at(i, 1, 0));
    if (i > 0 && i + 1 <= sides) {
      b.index.push(at(0, 0, 1), at(i + 1, 0, 1), at(i, 0, 1));
      b.index.push(at(0, 1, 1), at(i, 1, 1), at(i + 1, 1, 1));
    }
  }
}

/* A wire of radius `wire` wound `turns` times; straight leads at both ends. */
function spanCoil(b: SpanBuilder, wire: number, turns: number, lead: number, sides: number, around: number): void {
  const base = b.position.length / 3;
  const rows = turns * around;
  const coil = 1 - wire;
  for (let j = 0; j <= rows; ++j) {
    const t = (2 * Math.PI * j) / around;
    /* winds out of the axis at the ends */
    const edge = Math.min(1, Math.min(j, rows - j) / (0.75 * around));
    const r = coil * edge;
    const s = lead + (1 - 2 * lead) * (j / rows);
    for (let i = 0; i <= sides; ++i) {
      const f = (2 * Math.PI * i) / sides;
      const d = r + wire * Math.cos(f);
      b.position.push(d * Math.cos(t), d * Math.sin(t), wire * Math.sin(f));
      b.normal.push(Math.cos(f) * Math.cos(t), Math.cos(f) * Math.sin(t), Math.sin(f));
      b.axial.push(s, 0);
    }
  }
  for (let j = 0; j < rows; ++j)
    for (let i = 0; i < sides; ++i) {
      const a = base + j * (sides + 1) + i;
      b.index.push(a, a + sides + 1, a + sides + 2, a, a + sides + 2, a + 1);
    }
  spanCylinder(b, wire, { s: 0, r: 0, w: 0 }, { s: lead, r: 0, w: 0 }, 8);
  spanCylinder(b, wire, { s: 1 - lead, r: 0, w: 0 }, { s: 1, r: 0, w: 0 }, 8);
}

export function spanSolid(name: string, coarse: boolean): BufferGeometry {
  const b = emptySpan();
  const sides = coarse ? 8 : 20;
  const A: End = { s: 0, r: 0, w: 0 };
  const B: End = { s: 1, r: 0, w: 0 };
  switch (name.split(":")[0]) {
    case "coil":
      spanCoil(b, 0.15, Number(name.split(":")[1]) || 8, 0.07, coarse ? 5 : 8, coarse ? 12 : 24);
      break;
    case "damper":
      /* housing at a, of fixed length; rod from b into it */
      spanCylinder(b, 0.52, { s: 0, r: 0.08, w: 0 }, { s: 0, r: 0.55, w: 0 }, sides);
      spanCylinder(b, 0.2, A, B, coarse ? 6 : 12);
      break;
    case "cable":
      spanCylinder(b, 0.35, A, B, coarse ? 6 : 10);
      break;
    default:
      spanCylinder(b, 1, A, B, coarse ? 8 : 16);
  }
  return spanGeometry(b);
}
