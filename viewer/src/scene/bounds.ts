/* Boxes: of a body in its own axes, and of all that ever happens in the world. */
import { transform } from "../data/run";
import type { Vec3 } from "../data/format";
import type { RunView } from "./stage";

export interface Box {
  low: Vec3;
  high: Vec3;
  centre: Vec3;
  size: Vec3;
  outline: Vec3[]; /* points that reach farthest, in many directions: their hull is tighter than the box */
}

/* Directions to all sides, evenly: a spiral of Fibonacci. */
export const DIRECTIONS: Vec3[] = Array.from({ length: 60 }, (_, i) => {
  const z = 1 - (2 * i + 1) / 60;
  const r = Math.sqrt(1 - z * z);
  const a = i * Math.PI * (3 - Math.sqrt(5));
  return [r * Math.cos(a), r * Math.sin(a), z];
});

class Outline {
  private readonly most = DIRECTIONS.map(() => -Infinity);
  private readonly points: Vec3[] = [];
  see(p: ArrayLike<number>): void {
    const [x, y, z] = [p[0]!, p[1]!, p[2]!];
    if (!Number.isFinite(x + y + z)) return;
    DIRECTIONS.forEach((d, i) => {
      const s = d[0] * x + d[1] * y + d[2] * z;
      if (s <= this.most[i]!) return;
      this.most[i] = s;
      this.points[i] = [x, y, z];
    });
  }
  list(): Vec3[] {
    return this.points.filter((p) => p !== undefined);
  }
}

class Grow {
  readonly low: Vec3 = [Infinity, Infinity, Infinity];
  readonly high: Vec3 = [-Infinity, -Infinity, -Infinity];
  constructor(private readonly outline: Outline | null = null) {}
  see(p: ArrayLike<number>): void {
    this.outline?.see(p);
    for (let k = 0; k < 3; ++k) {
      const x = p[k]!;
      if (!Number.isFinite(x)) continue;
      if (x < this.low[k]!) this.low[k] = x;
      if (x > this.high[k]!) this.high[k] = x;
    }
  }
  box(fallback: number): Box {
    for (let k = 0; k < 3; ++k)
      if (!(this.low[k]! <= this.high[k]!)) {
        this.low[k] = -fallback / 2;
        this.high[k] = fallback / 2;
      }
    const { low, high } = this;
    return {
      low,
      high,
      centre: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2],
      size: [high[0] - low[0], high[1] - low[1], high[2] - low[2]],
      outline: this.outline?.list() ?? [],
    };
  }
}

/* Half sizes of a part's box: its solid lies within [-e, e] of each of its axes. */
function seePart(rows: number[], solid: string, grow: Grow): void {
  const flat = solid === "box" || solid === "wedge" ? 0.5 : 1;
  const deep = solid === "ball" || solid === "ring" || solid === "arc" || solid.startsWith("mesh") ? 1 : 0.5;
  for (let i = 0; i < 8; ++i) {
    const x = i & 1 ? flat : -flat;
    const y = i & 2 ? flat : -flat;
    const z = i & 4 ? deep : -deep;
    grow.see([0, 1, 2].map((r) => rows[4 * r]! * x + rows[4 * r + 1]! * y + rows[4 * r + 2]! * z + rows[4 * r + 3]!));
  }
}

function bodyBoxes(view: RunView): (Grow | undefined)[] {
  const out: (Grow | undefined)[] = [];
  for (const p of view.list.parts) {
    if (p.category !== "bodies") continue;
    const g = (out[p.body] ??= new Grow());
    const mesh = view.list.meshes.get(p.solid);
    if (mesh) {
      const step = Math.max(3, 3 * Math.floor(mesh.length / 3000));
      for (let i = 0; i + 2 < mesh.length; i += step)
        g.see([0, 1, 2].map((r) => p.rows[4 * r]! * mesh[i]! + p.rows[4 * r + 1]! * mesh[i + 1]! + p.rows[4 * r + 2]! * mesh[i + 2]! + p.rows[4 * r + 3]!));
    } else seePart(p.rows, p.solid, g);
  }
  return out;
}

export function bounds(view: RunView, body: number): Box {
  return (bodyBoxes(view)[body] ?? new Grow()).box(0);
}

/* Of all results over all frames, by samples: enough of them for small models. With `now`, of where
 * bodies are as the results are posed. */
export function motionBox(views: RunView[], now = false): Box {
  const grow = new Grow(new Outline());
  let size = 1;
  const p = [0, 0, 0];
  for (const view of views) {
    size = view.layout.size;
    const { run } = view;
    const boxes = bodyBoxes(view);
    const n = Math.max(1, run.scene.bodies?.length ?? 0);
    const samples = Math.max(8, Math.min(120, Math.floor(40000 / n)));
    const step = run.frames > 1 && !now ? Math.max(1, Math.floor((run.frames - 1) / samples)) : Math.max(1, run.frames);
    for (let i = 0; i < Math.max(1, run.frames); i += step) {
      if (!now) run.pose(run.frames ? run.times[i]! : 0);
      boxes.forEach((g, body) => {
        if (!g || body < 0) return;
        for (let c = 0; c < 8; ++c) {
          transform(run.poses, 7 * body, [c & 1 ? g.high[0] : g.low[0], c & 2 ? g.high[1] : g.low[1], c & 4 ? g.high[2] : g.low[2]], p, 0);
          grow.see(p);
        }
      });
    }
    /* with `now`: what stands on the ground far from where bodies are is not in sight */
    const from = grow.low.map((x) => x - size);
    const to = grow.high.map((x) => x + size);
    const near = (low: ArrayLike<number>, high: ArrayLike<number>): boolean => !now || !boxes.length || from.every((x, k) => high[k]! > x && low[k]! < to[k]!);
    const seeNear = (p: ArrayLike<number>): void => void (near(p, p) && grow.see(p));
    /* anchors, rails and pillars on the ground belong to the picture, unbounded planes do not */
    for (const part of view.list.parts) {
      if ((part.category !== "joints" && part.category !== "ground") || part.body >= 0) continue;
      const own = new Grow();
      seePart(part.rows, part.solid, own);
      const { low, high, size: long } = own.box(0);
      if (Math.max(...long) > 3 * size || !near(low, high)) continue;
      for (let c = 0; c < 8; ++c) grow.see([c & 1 ? high[0] : low[0], c & 2 ? high[1] : low[1], c & 4 ? high[2] : low[2]]);
    }
    for (const s of view.list.spans) for (const e of [s.a, s.b]) if (e.body < 0) seeNear(e.point);
    for (const j of run.scene.joints ?? [])
      for (const side of [j.a, j.b]) if (side && side.body < 0 && side.position && j.type !== "rolling-disc") seeNear(side.position.length > 2 ? side.position : [...side.position, 0]);
  }
  return grow.box(size);
}
