/* What the page is doing: time, playing, selection, switches. Parts of the page listen to the names of
 * what changed; nothing is passed by other ways. */
import type { Run } from "../data/run";
import { nearestFrame } from "../data/lookup";
import type { Options } from "../scene/drawable";
import type { Owner } from "../scene/parts";

export type Topic = "time" | "play" | "speed" | "select" | "hover" | "options" | "theme" | "runs" | "notices" | "follow";

export interface Selection {
  run: number;
  owner: Owner;
  id: number;
}

/* 1-2-5 series. */
export const SPEEDS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4];

export class State {
  readonly runs: Run[];
  readonly title: string;
  readonly start: number;
  readonly end: number;
  time: number;
  playing = false;
  loop = true;
  speed = 1;
  achieved = NaN; /* simulated by real time, measured */
  selection: Selection | null = null;
  visible: boolean[];
  dark = false;
  readonly options: Options;
  private readonly listeners = new Map<Topic, (() => void)[]>();

  constructor(runs: Run[], title: string) {
    this.runs = runs;
    this.title = title;
    const with_frames = runs.filter((r) => r.frames > 0);
    this.start = with_frames.length ? Math.min(...with_frames.map((r) => r.start)) : 0;
    this.end = with_frames.length ? Math.max(...with_frames.map((r) => r.end)) : 0;
    this.time = this.start;
    this.visible = runs.map(() => true);
    this.speed = this.naturalSpeed();
    this.options = {
      bodies: true,
      joints: true,
      forces: true,
      grid: true,
      traces: true,
      velocities: false,
      reactions: false,
      tracePoints: new Set(),
      arrowScale: 1,
      dark: false,
    };
  }

  /* As in reality, if that takes from one second to a minute. */
  private naturalSpeed(): number {
    const d = this.end - this.start;
    if (!(d > 0) || (d >= 1 && d <= 60)) return 1;
    const wanted = d / 8;
    let best = 1;
    for (const s of SPEEDS) if (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted))) best = s;
    return best;
  }

  on(topics: Topic[], listener: () => void): void {
    for (const t of topics) {
      const list = this.listeners.get(t) ?? [];
      list.push(listener);
      this.listeners.set(t, list);
    }
  }

  emit(topic: Topic): void {
    for (const l of this.listeners.get(topic) ?? []) l();
  }

  setTime(t: number): void {
    const x = Math.min(Math.max(t, this.start), this.end);
    if (!Number.isFinite(x) || x === this.time) return;
    this.time = x;
    this.emit("time");
  }

  setPlaying(on: boolean): void {
    if (on === this.playing) return;
    if (on && !(this.end > this.start)) return;
    if (on && this.time >= this.end) this.time = this.start;
    this.playing = on;
    this.achieved = NaN;
    this.emit("play");
    this.emit("time");
  }

  setSpeed(s: number): void {
    this.speed = s;
    this.achieved = NaN;
    this.emit("speed");
  }

  changeSpeed(by: number): void {
    let i = SPEEDS.findIndex((s) => s >= this.speed * 0.999);
    if (i < 0) i = SPEEDS.length - 1;
    this.setSpeed(SPEEDS[Math.min(Math.max(i + by, 0), SPEEDS.length - 1)]!);
  }

  /* To the frame before or behind, of the first result. */
  step(by: number): void {
    this.setPlaying(false);
    const times = this.runs[0]?.times;
    if (!times?.length) return;
    const i = Math.min(Math.max(nearestFrame(times, this.time) + by, 0), times.length - 1);
    this.setTime(times[i]!);
  }

  /* Returns whether playing goes on. `seconds` of real time have passed. */
  advance(seconds: number): boolean {
    if (!this.playing) return false;
    const d = this.end - this.start;
    let t = this.time + seconds * this.speed;
    if (t >= this.end) {
      if (this.loop) t = this.start + ((t - this.start) % d);
      else {
        this.time = this.end;
        this.setPlaying(false);
        this.emit("time");
        return false;
      }
    }
    this.time = t;
    this.emit("time");
    return true;
  }

  select(s: Selection | null): void {
    this.selection = s;
    this.emit("select");
  }

  toggle(name: "bodies" | "joints" | "forces" | "grid" | "traces" | "velocities" | "reactions"): void {
    this.options[name] = !this.options[name];
    this.emit("options");
  }

  toggleTrace(point: string): void {
    const set = this.options.tracePoints;
    if (set.has(point)) set.delete(point);
    else set.add(point);
    this.options.traces = true;
    this.emit("options");
  }
}
