/* Traces: the path of a point through all frames, bright up to now, faint from there on. Built when a
 * point is chosen; later only the number of segments drawn changes. */
import { Group } from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { stride } from "../../data/decimate";
import type { Vec3 } from "../../data/format";
import { frameAt } from "../../data/lookup";
import type { Run } from "../../data/run";
import { vec3 } from "../../geometry/vector";
import type { Drawable, Drawn, FrameState } from "../drawable";
import { BODY_COLORS } from "../palette";

const LONGEST = 6000; /* segments of a trace */

interface Trace {
  done: Line2;
  rest: Line2;
  frames: Int32Array;
  times: Float64Array;
}

/* "body" or "body.point", as both may contain dots: bodies by their whole names first. */
export function findPoint(run: Run, name: string): { body: number; local: Vec3 } | null {
  const body = run.bodyIndex(name);
  if (body >= 0) return { body, local: [0, 0, 0] };
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) {
    const i = run.bodyIndex(name.slice(0, dot));
    const p = i >= 0 ? run.scene.bodies?.[i]?.points?.find((q) => q.name === name.slice(dot + 1)) : undefined;
    if (p) return { body: i, local: vec3(p.position) };
  }
  return null;
}

class Traces implements Drawn {
  readonly object = new Group();
  private readonly made = new Map<string, Trace | null>();
  private readonly bright: LineMaterial[] = [];
  private shown = 0;
  private readonly run: Run;
  private readonly base: Vec3;
  private readonly ghost: number | null;

  constructor(run: Run, base: Vec3, ghost: number | null) {
    this.run = run;
    this.base = base;
    this.ghost = ghost;
  }

  private make(name: string): Trace | null {
    const point = findPoint(this.run, name);
    if (!point || !this.run.moves(point.body)) return null;
    const every = stride(this.run.frames, LONGEST);
    const count = Math.ceil(this.run.frames / every);
    const xyz = new Float32Array(3 * count);
    const times = new Float64Array(count);
    const frames = new Int32Array(count);
    const p = new Float64Array(3);
    for (let i = 0; i < count; ++i) {
      frames[i] = Math.min(i * every, this.run.frames - 1);
      times[i] = this.run.times[frames[i]!]!;
      this.run.pointAt(point.body, point.local, frames[i]!, p, 0);
      for (let k = 0; k < 3; ++k) xyz[3 * i + k] = p[k]! - this.base[k]!;
    }
    const color = this.ghost ?? BODY_COLORS[point.body % BODY_COLORS.length]!;
    const line = (width: number, opacity: number): Line2 => {
      const material = new LineMaterial({ color, linewidth: width, transparent: true, opacity, depthWrite: false });
      this.bright.push(material);
      const geometry = new LineGeometry();
      geometry.setPositions(xyz);
      const l = new Line2(geometry, material);
      l.frustumCulled = false;
      this.object.add(l);
      return l;
    };
    return { rest: line(1.5, 0.22), done: line(2.6, 0.95), frames, times };
  }

  update(state: FrameState): void {
    const { options, origin, time } = state;
    this.object.position.set(this.base[0] - origin[0]!, this.base[1] - origin[1]!, this.base[2] - origin[2]!);
    this.shown = 0;
    for (const name of options.tracePoints) if (!this.made.has(name)) this.made.set(name, this.make(name));
    for (const [name, trace] of this.made) {
      if (!trace) continue;
      const on = options.traces && options.tracePoints.has(name);
      trace.done.visible = trace.rest.visible = on;
      if (!on) continue;
      ++this.shown;
      trace.done.geometry.instanceCount = Math.max(0, frameAt(trace.times, time));
    }
  }

  resize(width: number, height: number): void {
    for (const m of this.bright) m.resolution.set(width, height);
  }

  count(): number {
    return this.shown;
  }
}

export const traces: Drawable = {
  kind: "traces",
  build: ({ run, layout, ghost }) => new Traces(run, layout.centre, ghost),
};
