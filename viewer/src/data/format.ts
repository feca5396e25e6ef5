/* What `galpha view` writes into the page: a header as JSON, and one block of numbers, base64 of a
 * zlib stream. Columns are cut out of the block by offset, count and encoding. */

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; /* w, x, y, z */

export interface ColumnHeader {
  offset: number;
  count: number;
  encoding: "f64" | "f32" | "d16" | "d24";
  low?: number;
  high?: number;
}

export interface ChannelHeader {
  name: string;
  unit?: string | null;
  description?: string | null;
  parts: string[] | null;
  columns: number[];
}

export interface RunHeader {
  label: string;
  model?: string | null;
  solver?: Record<string, unknown> | null;
  statistics?: Record<string, unknown> | null;
  scene: SceneData | null;
  frames: number;
  frames_in_file?: number;
  notices?: string[];
  time: number;
  channels: ChannelHeader[];
}

export interface Header {
  format: number;
  generator?: string;
  title?: string;
  columns: ColumnHeader[];
  runs: RunHeader[];
}

export interface ShapeData {
  type: string;
  size?: number[];
  radius?: number;
  length?: number;
  axis?: number[];
  position?: number[];
  rotation?: number[];
  scale?: number | number[];
  triangles?: string;
  mesh?: number; /* of the scene's meshes, in place of triangles */
  color?: string;
}

export interface BodyData {
  name: string;
  kind?: string;
  mass?: number;
  inertia?: number[];
  position?: number[];
  rotation?: number[];
  points?: { name: string; position: number[] }[];
  shapes?: ShapeData[];
}

export interface AnchorData {
  body: number;
  position?: number[];
  rotation?: number[];
}

export interface JointData {
  name: string;
  type: string;
  a?: AnchorData;
  b?: AnchorData;
  radius?: number;
  pitch?: number;
  length?: number;
  ratio?: number;
  joints?: string[];
  plane?: { point: number[]; normal: number[] };
}

export interface ForceData {
  name: string;
  type: string;
  a?: AnchorData;
  b?: AnchorData;
  length?: number;
  stiffness?: number;
  damping?: number;
  tension_only?: boolean;
}

/* A joint, or another element, whose constraints do not hold in what is shown. */
export interface GapData {
  element: string;
  row?: string;
  residual?: number;
  distance?: number; /* m */
  angle?: number; /* rad */
}

export interface SceneData {
  format: number;
  name?: string;
  dimension?: number;
  gravity?: number[];
  bodies?: BodyData[];
  joints?: JointData[];
  motions?: { name: string; joint?: string }[];
  forces?: ForceData[];
  meshes?: string[]; /* triangles that several shapes share */
  groups?: { type?: string; kind?: string }[];
  gaps?: GapData[];
}

/* The newest format this page knows; a page and its data come from one program, so another number
 * means a damaged file. */
export const FORMAT = 1;

export function parseHeader(text: string): Header {
  const header = JSON.parse(text) as Header;
  if (typeof header !== "object" || header === null || !Array.isArray(header.runs) || !Array.isArray(header.columns))
    throw new Error("the page's header is damaged");
  if (header.format !== FORMAT) throw new Error(`format ${String(header.format)} of the data is unknown to this page`);
  return header;
}
