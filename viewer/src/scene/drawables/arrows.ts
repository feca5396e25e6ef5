/* Arrows of vectors: velocities of bodies (X.velocity, derived from positions where the result does not
 * have it), reactions of joints (X.force) and applied forces. All but the largest of a kind over all frames
 * are at most a fifth of the model, so arrows can be compared with each other and over time. */
import { DynamicDrawUsage, Group, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion, Vector3, type BufferGeometry } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import type { Column } from "../../data/decode";
import type { Vec3 } from "../../data/format";
import { place, type Place } from "../../data/lookup";
import { transform, type Channel, type Run } from "../../data/run";
import { vec3 } from "../../geometry/vector";
import type { Layout } from "../../geometry/layout";
import type { Drawable, Drawn, FrameState, Options } from "../drawable";
import { FORCE, REACTION, VELOCITY } from "../palette";
import { solid } from "../solids";

interface Arrow {
  body: number; /* where it starts: a point of this body */
  local: Vec3;
  channel: Channel;
  columns: Column[]; /* read when first shown */
}

const UP = new Vector3(0, 0, 1);
const APPLIED = new Set(["force", "user", "plugin"]);

/* Shaft and head of unit length along z, radius for a unit length; heads do not stretch, see update. */
function parts(): { shaft: BufferGeometry; head: BufferGeometry } {
  const none = new Map<string, Float32Array>();
  return { shaft: mergeGeometries([solid("cylinder", 1, none).translate(0, 0, 0.5)]), head: solid("cone", 0, none).translate(0, 0, 0.5) };
}

class ArrowSet {
  readonly group = new Group();
  readonly arrows: Arrow[];
  readonly missing: number;
  shown = 0;
  private readonly shaft: InstancedMesh;
  private readonly head: InstancedMesh;
  private longest = 0;
  private scanned = false;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  private readonly from = new Vector3();
  private readonly way = new Vector3();
  private readonly tip = new Vector3();
  private readonly scale = new Vector3();
  private readonly p = new Float64Array(3);
  private readonly at: Place = { frame: -1, next: -1, part: 0 };
  private readonly run: Run;
  private readonly layout: Layout;

  constructor(run: Run, layout: Layout, arrows: Arrow[], missing: number, color: number, ghost: boolean) {
    this.run = run;
    this.layout = layout;
    this.arrows = arrows;
    this.missing = missing;
    const material = new MeshStandardMaterial({ color, roughness: 0.5, metalness: 0, emissive: color, emissiveIntensity: 0.25, transparent: ghost, opacity: ghost ? 0.5 : 1 });
    const g = parts();
    this.shaft = new InstancedMesh(g.shaft, material, Math.max(1, arrows.length));
    this.head = new InstancedMesh(g.head, material, Math.max(1, arrows.length));
    for (const m of [this.shaft, this.head]) {
      m.frustumCulled = false;
      m.instanceMatrix.setUsage(DynamicDrawUsage);
      this.group.add(m);
    }
  }

  /* Length of nearly all vectors over the frames, when first shown: the few of a jolt would make all
   * others too small to see. */
  private scan(): void {
    this.scanned = true;
    for (const a of this.arrows) a.columns = this.run.columns(a.channel);
    const step = Math.max(1, Math.floor((this.run.frames * Math.max(1, this.arrows.length)) / 100000));
    const sizes: number[] = [];
    for (const { columns } of this.arrows)
      for (let i = 0; i < this.run.frames; i += step) {
        let s = 0;
        for (const c of columns) s += c[i]! * c[i]!;
        if (s > 0 && Number.isFinite(s)) sizes.push(s);
      }
    sizes.sort((a, b) => a - b);
    this.longest = Math.sqrt(sizes[Math.floor(0.97 * (sizes.length - 1))] ?? 0);
  }

  update(on: boolean, state: FrameState): void {
    this.group.visible = on && this.arrows.length > 0 && this.run.frames > 0;
    this.shown = 0;
    if (!this.group.visible) return;
    if (!this.scanned) this.scan();
    const at = place(this.run.times, state.time, this.at);
    const full = (0.22 * this.layout.size * state.options.arrowScale) / (this.longest || 1);
    const thick = 0.006 * this.layout.size;
    let n = 0;
    for (const a of this.arrows) {
      const x = this.component(a, 0, at);
      const y = this.component(a, 1, at);
      const z = this.component(a, 2, at);
      const length = Math.min(Math.hypot(x, y, z) * full, 0.4 * this.layout.size * state.options.arrowScale);
      if (!(length > 1e-3 * thick)) continue;
      if (a.body < 0) {
        this.p[0] = a.local[0];
        this.p[1] = a.local[1];
        this.p[2] = a.local[2];
      } else transform(this.run.poses, 7 * a.body, a.local, this.p, 0);
      this.from.set(this.p[0]! - state.origin[0]!, this.p[1]! - state.origin[1]!, this.p[2]! - state.origin[2]!);
      this.way.set(x, y, z).normalize();
      this.turn.setFromUnitVectors(UP, this.way);
      const head = Math.min(4.5 * thick, 0.5 * length);
      this.scale.set(thick, thick, length - head);
      this.shaft.setMatrixAt(n, this.matrix.compose(this.from, this.turn, this.scale));
      this.tip.copy(this.from).addScaledVector(this.way, length - head);
      this.scale.set(0.5 * head, 0.5 * head, head);
      this.head.setMatrixAt(n, this.matrix.compose(this.tip, this.turn, this.scale));
      ++n;
    }
    this.shaft.count = this.head.count = n;
    this.shaft.instanceMatrix.needsUpdate = this.head.instanceMatrix.needsUpdate = true;
    this.shown = n;
  }

  private component(a: Arrow, k: number, at: Place): number {
    const c = a.columns[k];
    if (!c) return 0;
    const x = c[at.frame]!;
    const v = at.part === 0 ? x : x + (c[at.next]! - x) * at.part;
    return v === v ? v : 0;
  }
}

class Arrows implements Drawn {
  readonly object = new Group();
  private readonly velocity: ArrowSet;
  private readonly reaction: ArrowSet;
  private readonly force: ArrowSet;

  constructor(run: Run, layout: Layout, ghost: number | null) {
    const scene = run.scene;
    const set = (items: { name: string; body: number; local: Vec3 }[], quantity: string, color: number): ArrowSet => {
      const found: Arrow[] = [];
      for (const { name, body, local } of items) {
        const channel = run.channel(`${name}.${quantity}`);
        if (channel && channel.columns.length >= 2) found.push({ body, local, channel, columns: [] });
      }
      const s = new ArrowSet(run, layout, found, items.length - found.length, ghost ?? color, ghost !== null);
      this.object.add(s.group);
      return s;
    };
    const lift: Vec3 = [0, 0, layout.planar ? 1.4 * layout.layerHeight : 0];
    this.velocity = set((scene.bodies ?? []).map((b, i) => ({ name: b.name, body: i, local: lift })), "velocity", VELOCITY);
    this.reaction = set(
      (scene.joints ?? []).filter((j) => j.b).map((j) => {
        const p = vec3(j.b!.position);
        return { name: j.name, body: j.b!.body, local: [p[0], p[1], p[2] + lift[2]] as Vec3 };
      }),
      "force",
      REACTION,
    );
    this.force = set(
      (scene.forces ?? []).filter((f) => APPLIED.has(f.type) && (f.a ?? f.b)).map((f) => {
        const anchor = (f.a ?? f.b)!;
        const p = vec3(anchor.position);
        return { name: f.name, body: anchor.body, local: [p[0], p[1], p[2] + lift[2]] as Vec3 };
      }),
      "force",
      FORCE,
    );
  }

  update(state: FrameState): void {
    this.velocity.update(state.options.velocities, state);
    this.reaction.update(state.options.reactions, state);
    this.force.update(state.options.forces, state);
  }

  count(): number {
    return this.velocity.shown + this.reaction.shown + this.force.shown;
  }

  missing(options: Options): string | null {
    const text: string[] = [];
    if (options.velocities && this.velocity.missing)
      text.push(`${this.velocity.missing} bodies have no positions in the result, so no velocities: add *.position to output.channels`);
    if (options.reactions && this.reaction.missing)
      text.push(`${this.reaction.missing} joints have no forces in the result: add *.force to output.channels`);
    return text.length ? text.join("; ") : null;
  }
}

export const arrows: Drawable = {
  kind: "arrows",
  build: ({ run, layout, ghost }) => new Arrows(run, layout, ghost),
};
