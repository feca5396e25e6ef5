/* A kind of thing that can be drawn: bodies, joints, forces, traces, arrows, and later beams and mode
 * shapes. One file each under drawables/, one line in the registry below. `build` puts parts and spans
 * that ride on bodies into the list, once; what changes by itself returns a `Drawn` that is updated
 * every frame and must not allocate there. */
import type { Object3D } from "three";
import type { Run } from "../data/run";
import type { Layout } from "../geometry/layout";
import type { Owner, PartList } from "./parts";
import { arrows } from "./drawables/arrows";
import { bodies } from "./drawables/bodies";
import { forces } from "./drawables/forces";
import { gaps } from "./drawables/gaps";
import { groups } from "./drawables/groups";
import { joints } from "./drawables/joints";
import { traces } from "./drawables/traces";

export interface BuildContext {
  run: Run;
  layout: Layout;
  list: PartList;
  owners: Owner[];
  ghost: number | null; /* colour of a result that is compared */
  notice(text: string): void;
}

/* What a user may switch. */
export interface Options {
  bodies: boolean;
  joints: boolean;
  forces: boolean;
  grid: boolean;
  traces: boolean;
  velocities: boolean;
  reactions: boolean;
  tracePoints: Set<string>; /* "body" or "body.point" */
  arrowScale: number;
  dark: boolean;
}

export interface FrameState {
  time: number;
  frame: number;
  origin: Float64Array; /* world place of the scene's zero */
  options: Options;
}

export interface Drawn {
  object: Object3D;
  update(state: FrameState): void;
  resize?(width: number, height: number): void;
  /* Something about what is shown and what cannot be. */
  count(): number;
  missing?(options: Options): string | null;
}

export interface Drawable {
  kind: string;
  build(context: BuildContext): Drawn | null;
}

export const registry: Drawable[] = [bodies, joints, gaps, forces, groups, traces, arrows];
