/* One result: its times, its channels by name, and where every body is at a time. */
import { quat, vec3 } from "../geometry/vector";
import { angularVelocity, rates } from "./derive";
import type { Column, ColumnStore } from "./decode";
import type { BodyData, ChannelHeader, Quat, RunHeader, SceneData, Vec3 } from "./format";
import { place, type Place } from "./lookup";

export interface Channel extends ChannelHeader {
  owner: string; /* before the last dot: the thing it belongs to */
  quantity: string;
  derived?: () => Column[]; /* computed here, from other channels; once */
}

/* One curve: a channel, or a component of it. */
export interface Part {
  name: string; /* top.position.x */
  channel: Channel;
  index: number;
  unit: string;
}

interface Track {
  position: Column[] | null;
  rotation: Column[] | null;
}

const POSE = 7; /* x y z, w x y z */

export class Run {
  readonly label: string;
  readonly header: RunHeader;
  readonly times: Float64Array;
  readonly channels: Channel[];
  readonly scene: SceneData;
  readonly notices: string[];
  readonly foreign: boolean; /* no scene in the file: made from the names of channels */
  readonly poses: Float64Array; /* of the time last asked for */
  private readonly store: ColumnStore;
  private readonly byName = new Map<string, Channel>();
  private readonly tracks: Track[];
  private readonly indices = new Map<string, number>();
  private readonly starts: Float64Array; /* poses of the scene, for bodies without channels */
  private readonly at: Place = { frame: -1, next: -1, part: 0 };

  constructor(header: RunHeader, store: ColumnStore) {
    this.header = header;
    this.store = store;
    this.label = header.label || "result";
    this.notices = [...(header.notices ?? [])];
    const times = store.get(header.time);
    this.times = times instanceof Float64Array ? times : Float64Array.from(times);
    this.channels = header.channels.map((c) => {
      const dot = c.name.lastIndexOf(".");
      return { ...c, owner: dot < 0 ? "" : c.name.slice(0, dot), quantity: c.name.slice(dot + 1) };
    });
    for (const c of this.channels) this.byName.set(c.name, c);
    this.foreign = !header.scene;
    this.scene = header.scene ?? this.sceneFromChannels();
    const bodies = this.scene.bodies ?? [];
    bodies.forEach((b, i) => this.indices.set(b.name, i));
    this.tracks = bodies.map((b) => this.track(b));
    bodies.forEach((b, i) => this.deriveVelocities(b, this.tracks[i]!));
    this.starts = Float64Array.from(bodies.flatMap((b) => [...vec3(b.position), ...quat(b.rotation)]));
    this.poses = this.starts.slice();
    this.noticeMissing(bodies);
    this.pose(this.start);
  }

  /* The model as in its file, beside its assembled state. */
  get isGiven(): boolean {
    return this.header.solver?.["status"] === "given";
  }
  get frames(): number {
    return this.times.length;
  }
  get start(): number {
    return this.frames ? this.times[0]! : 0;
  }
  get end(): number {
    return this.frames ? this.times[this.frames - 1]! : 0;
  }

  channel(name: string): Channel | undefined {
    return this.byName.get(name);
  }
  columns(channel: Channel): Column[] {
    return channel.derived ? channel.derived() : channel.columns.map((c) => this.store.get(c));
  }
  column(part: Part): Column {
    const { channel, index } = part;
    return channel.derived ? channel.derived()[index]! : this.store.get(channel.columns[index]!);
  }

  partsOf(channel: Channel): Part[] {
    const single = !channel.parts || channel.columns.length === 1;
    return channel.columns.map((_, index) => ({
      name: single ? channel.name : `${channel.name}.${channel.parts![index] ?? index}`,
      channel,
      index,
      unit: channel.unit ?? "",
    }));
  }

  part(name: string): Part | null {
    const whole = this.byName.get(name);
    if (whole) return this.partsOf(whole)[0] ?? null;
    const dot = name.lastIndexOf(".");
    const channel = dot < 0 ? undefined : this.byName.get(name.slice(0, dot));
    return channel ? (this.partsOf(channel).find((p) => p.name === name) ?? null) : null;
  }

  /* Linear between frames; NaN next to NaN. */
  value(part: Part, t: number): number {
    const p = place(this.times, t, this.at);
    if (p.frame < 0) return NaN;
    const column = this.column(part);
    const a = column[p.frame]!;
    return p.part === 0 ? a : a + (column[p.next]! - a) * p.part;
  }

  bodyIndex(name: string): number {
    return this.indices.get(name) ?? -1;
  }

  /* Places of all bodies at t, into `poses`. Straight between frames, turns by the shortest way;
   * at frames exactly what the file says. Where it says NaN, a body stays where it was. */
  pose(t: number): Float64Array {
    const p = place(this.times, t, this.at);
    for (let i = 0; i < this.tracks.length; ++i) this.poseBody(i, p, this.poses, i * POSE);
    return this.poses;
  }

  private poseBody(i: number, p: Place, out: Float64Array, o: number): void {
    const { position, rotation } = this.tracks[i]!;
    if (p.frame < 0 || !position) {
      for (let k = 0; k < 3; ++k) out[o + k] = this.starts[i * POSE + k]!;
    } else {
      for (let k = 0; k < 3; ++k) {
        const c = position[k];
        if (!c) {
          out[o + k] = 0;
          continue;
        }
        const a = c[p.frame]!;
        const x = p.part === 0 ? a : a + (c[p.next]! - a) * p.part;
        if (x - x === 0) out[o + k] = x; /* finite */
      }
    }
    if (p.frame < 0 || !rotation) {
      for (let k = 3; k < POSE; ++k) out[o + k] = this.starts[i * POSE + k]!;
    } else if (rotation.length < 4) {
      const c = rotation[0]!;
      const a = c[p.frame]!;
      const angle = p.part === 0 ? a : a + (c[p.next]! - a) * p.part;
      if (angle - angle === 0) {
        out[o + 3] = Math.cos(angle / 2);
        out[o + 4] = 0;
        out[o + 5] = 0;
        out[o + 6] = Math.sin(angle / 2);
      }
    } else slerp(rotation, p, out, o + 3);
  }

  /* Place and axes of a point of a body in one frame, for traces. */
  pointAt(body: number, local: Vec3, frame: number, out: Float64Array | number[], o: number): void {
    scratchPlace.frame = scratchPlace.next = frame;
    scratchPlace.part = 0;
    if (body < 0) {
      out[o] = local[0];
      out[o + 1] = local[1];
      out[o + 2] = local[2];
      return;
    }
    this.poseBody(body, scratchPlace, scratchPose, 0);
    transform(scratchPose, 0, local, out, o);
  }

  moves(body: number): boolean {
    return !!this.tracks[body]?.position && this.frames > 1;
  }

  private track(body: BodyData): Track {
    const position = this.byName.get(`${body.name}.position`);
    const rotation = this.byName.get(`${body.name}.rotation`);
    return {
      position: position && position.columns.length >= 2 ? this.columns(position) : null,
      rotation: rotation && rotation.columns.length >= 1 ? this.columns(rotation) : null,
    };
  }

  /* Velocities that the result does not have, from positions and rotations in its frames. */
  private deriveVelocities(body: BodyData, track: Track): void {
    if (this.frames < 2) return;
    const { position, rotation } = track;
    if (position) this.derive(body.name, "velocity", "m/s", position.length, () => position.map((c) => rates(this.times, c)));
    if (rotation && body.kind !== "point-mass")
      this.derive(body.name, "angular_velocity", "rad/s", rotation.length < 4 ? 1 : 3, () => angularVelocity(this.times, rotation));
  }

  private derive(owner: string, quantity: string, unit: string, count: number, compute: () => Column[]): void {
    const name = `${owner}.${quantity}`;
    if (this.byName.has(name)) return;
    let columns: Column[] | null = null;
    const channel: Channel = {
      name,
      unit,
      description: `${quantity === "velocity" ? "velocity" : "angular velocity"}, derived from the motion shown`,
      parts: count > 1 ? ["x", "y", "z"].slice(0, count) : null,
      columns: Array.from({ length: count }, (_, k) => k),
      owner,
      quantity,
      derived: () => (columns ??= compute()),
    };
    this.channels.push(channel);
    this.byName.set(name, channel);
  }

  private noticeMissing(bodies: BodyData[]): void {
    if (this.frames === 0) {
      this.notices.push("no frames in the result; bodies are shown in their initial position");
      return;
    }
    const list = (names: string[]): string =>
      names.slice(0, 4).join(", ") + (names.length > 4 ? ` and ${names.length - 4} more` : "");
    const still = bodies.filter((_, i) => !this.tracks[i]!.position).map((b) => b.name);
    if (still.length) this.notices.push(`positions are not in the result; shown in the initial position: ${list(still)}`);
    const stiff = bodies
      .filter((b, i) => b.kind !== "point-mass" && this.tracks[i]!.position && !this.tracks[i]!.rotation)
      .map((b) => b.name);
    if (stiff.length) this.notices.push(`rotations are not in the result; shown in the initial orientation: ${list(stiff)}`);
    const broken = bodies.filter((_, i) => this.tracks[i]!.position?.some(hasNaN)).map((b) => b.name);
    if (broken.length) this.notices.push(`invalid positions; shown at the last valid one: ${list(broken)}`);
  }

  private sceneFromChannels(): SceneData {
    const bodies: BodyData[] = [];
    for (const c of this.channels)
      if (c.quantity === "position" && c.columns.length >= 2 && c.owner) bodies.push({ name: c.owner, kind: "marker" });
    const planar = bodies.length > 0 && bodies.every((b) => this.byName.get(`${b.name}.position`)!.columns.length === 2);
    this.notices.push("no scene in the result; bodies are drawn as boxes at their position channels");
    return { format: 1, name: this.label, dimension: planar ? 2 : 3, gravity: [0, 0, 0], bodies };
  }
}

const scratchPlace: Place = { frame: 0, next: 0, part: 0 };
const scratchPose = new Float64Array([0, 0, 0, 1, 0, 0, 0]);

function hasNaN(column: Column): boolean {
  for (let i = 0; i < column.length; ++i) if (!Number.isFinite(column[i])) return true;
  return false;
}

function slerp(c: Column[], p: Place, out: Float64Array, o: number): void {
  const i = p.frame;
  let w = c[0]![i]!;
  let x = c[1]![i]!;
  let y = c[2]![i]!;
  let z = c[3]![i]!;
  if (p.part > 0) {
    const j = p.next;
    const w1 = c[0]![j]!;
    const x1 = c[1]![j]!;
    const y1 = c[2]![j]!;
    const z1 = c[3]![j]!;
    const cosine = w * w1 + x * x1 + y * y1 + z * z1;
    const near = Math.abs(cosine) > 0.9995; /* then straight: error below 1e-4 of a small angle */
    const angle = near ? 0 : Math.acos(Math.min(1, Math.abs(cosine)));
    const a = near ? 1 - p.part : Math.sin((1 - p.part) * angle) / Math.sin(angle);
    const b = (near ? p.part : Math.sin(p.part * angle) / Math.sin(angle)) * (cosine < 0 ? -1 : 1);
    w = a * w + b * w1;
    x = a * x + b * x1;
    y = a * y + b * y1;
    z = a * z + b * z1;
  }
  const n = Math.hypot(w, x, y, z);
  if (!(n > 1e-6)) return;
  out[o] = w / n;
  out[o + 1] = x / n;
  out[o + 2] = y / n;
  out[o + 3] = z / n;
}

/* out = x + R(q) local, for the pose at poses[o ...]. */
export function transform(poses: ArrayLike<number>, o: number, local: Vec3, out: Float64Array | number[], to: number): void {
  const w = poses[o + 3]!;
  const x = poses[o + 4]!;
  const y = poses[o + 5]!;
  const z = poses[o + 6]!;
  const tx = 2 * (y * local[2] - z * local[1]);
  const ty = 2 * (z * local[0] - x * local[2]);
  const tz = 2 * (x * local[1] - y * local[0]);
  out[to] = poses[o]! + local[0] + w * tx + y * tz - z * ty;
  out[to + 1] = poses[o + 1]! + local[1] + w * ty + z * tx - x * tz;
  out[to + 2] = poses[o + 2]! + local[2] + w * tz + x * ty - y * tx;
}

export function poseOf(poses: Float64Array, i: number): { position: Vec3; rotation: Quat } {
  const o = i * POSE;
  return {
    position: [poses[o]!, poses[o + 1]!, poses[o + 2]!],
    rotation: [poses[o + 3]!, poses[o + 4]!, poses[o + 5]!, poses[o + 6]!],
  };
}
