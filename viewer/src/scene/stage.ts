/* The stage: renderer, camera, lights, grid and the results on it. It draws a time when asked to and
 * knows nothing of panels or playing.
 *
 * World coordinates are shifted by `origin` before they become floats, and following a body moves the
 * origin with it: the camera need not know. */
import {
  AmbientLight,
  Color,
  DirectionalLight,
  HemisphereLight,
  MathUtils,
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { frameAt } from "../data/lookup";
import type { Run } from "../data/run";
import type { Vec3 } from "../data/format";
import { layOut, type Layout } from "../geometry/layout";
import { registry, type Drawn, type FrameState, type Options } from "./drawable";
import { Grid } from "./grid";
import { RUN_COLORS } from "./palette";
import { PartList, type Category, type Owner } from "./parts";
import { Picker } from "./pick";
import { PosedScene } from "./posed";
import { bounds, DIRECTIONS, motionBox, type Box } from "./bounds";

export interface RunView {
  run: Run;
  layout: Layout;
  list: PartList;
  owners: Owner[];
  posed: PosedScene;
  drawn: Drawn[];
  picker: Picker;
  visible: boolean;
  color: string;
}

export interface Hit {
  view: RunView;
  index: number; /* of the result */
  owner: Owner;
  id: number;
}

export const VIEWS = ["front", "back", "left", "right", "top", "bottom", "iso"] as const;
export type ViewName = (typeof VIEWS)[number];

/* More bodies than this cast no shadows, as a second pass would double the vertices, and are made of
 * fewer faces; of a crowd only what can be seen is drawn. */
const SHADOW_BODIES = 400;
const CROWD = 3000;

/* Degrees. Almost parallel: the layers of a planar model must not shift against each other. */
const PLANAR_FOV = 12;

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly views: RunView[] = [];
  readonly camera = new PerspectiveCamera(30, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly renderTimes: number[] = [];
  readonly box: Box;
  readonly large: boolean; /* travels far compared to its size: the camera goes along from the start */
  onChange: () => void = () => undefined;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly key: DirectionalLight;
  private readonly hemisphere: HemisphereLight;
  private readonly ambient = new AmbientLight(0xffffff, 0.35);
  private readonly grid: Grid;
  private readonly origin = new Float64Array(3);
  private readonly state: FrameState;
  private readonly ray = new Raycaster();
  private readonly pointer = new Vector2();
  private readonly from = new Float64Array(3);
  private readonly way = new Float64Array(3);
  private readonly light = new Vector3();
  private readonly layout: Layout;
  private following: { view: number; body: number } | "all" | null = null;
  private readonly anchor = new Float64Array(3); /* origin - place of what is followed */
  private readonly place = new Float64Array(3);
  private width = 1;
  private height = 1;
  private covered = 0; /* pixels at the top, by buttons: what is fitted stays below them */

  constructor(canvas: HTMLCanvasElement, runs: Run[], options: Options) {
    this.canvas = canvas;
    const shadows = Math.max(...runs.map((r) => r.scene.bodies?.length ?? 0)) <= SHADOW_BODIES;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "high-performance" });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.06;
    this.renderer.shadowMap.enabled = shadows;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.setClearAlpha(0);

    runs.forEach((run, i) => this.views.push(this.buildView(run, runs.length > 1 && i > 0 ? i : 0, shadows)));
    this.layout = this.views[0]!.layout;
    this.box = motionBox(this.views);
    const fit = Math.hypot(...this.box.size);
    this.large = fit > 8 * this.layout.size;
    for (let k = 0; k < 3; ++k) this.origin[k] = this.large ? this.layout.centre[k]! : this.box.centre[k]!;
    this.state = { time: 0, frame: 0, origin: this.origin, options };

    const planar = this.layout.planar;
    const up = this.layout.up;
    if (planar) this.camera.fov = PLANAR_FOV;
    this.camera.up.set(...(planar ? ([0, 1, 0] as Vec3) : up));
    const normal = planar ? new Vector3(0, 0, 1) : new Vector3(...up);
    const extent = this.large ? this.layout.size : fit;
    this.grid = new Grid(normal, planar ? this.box.low[2] - 0.6 * this.layout.layerHeight : this.floor(up), this.large ? this.layout.size : Math.max(this.layout.size, 0.5 * fit), extent);
    this.scene.add(this.grid.object);

    this.key = new DirectionalLight(0xffffff, 2.4);
    this.key.castShadow = shadows;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 3;
    this.key.shadow.bias = -0.0006;
    this.key.shadow.normalBias = 0.002 * this.layout.size;
    this.hemisphere = new HemisphereLight(0xffffff, 0x8a8f99, 1.25);
    this.hemisphere.position.copy(this.camera.up);
    this.scene.add(this.key, this.key.target, this.hemisphere, this.ambient);

    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomSpeed = 1.1;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener("change", () => this.onChange());
    this.controls.addEventListener("start", () => (this.refit = null));
    if (this.large) this.follow("all");
    this.view(planar ? "front" : "iso");
  }

  private buildView(run: Run, ghostIndex: number, shadows: boolean): RunView {
    const color = RUN_COLORS[ghostIndex % RUN_COLORS.length]!;
    const ghost = ghostIndex > 0 ? new Color(color) : null;
    const layout = layOut(run.scene);
    const list = new PartList();
    list.detail = layout.bodies.length > CROWD ? 2 : layout.bodies.length > SHADOW_BODIES ? 1 : 0;
    const owners: Owner[] = [];
    const drawn: Drawn[] = [];
    const said = new Set<string>();
    for (const kind of registry) {
      const d = kind.build({
        run,
        layout,
        list,
        owners,
        ghost: ghost ? ghost.getHex() : null,
        notice: (text) => {
          if (!said.has(text)) run.notices.push(text);
          said.add(text);
        },
      });
      if (d) drawn.push(d);
    }
    const posed = new PosedScene(list, layout.bodies.length, { ghost, pale: run.isGiven, shadows });
    this.scene.add(posed.root);
    for (const d of drawn) this.scene.add(d.object);
    return { run, layout, list, owners, posed, drawn, picker: new Picker(list), visible: true, color };
  }

  /* Height of the lowest point that is ever reached. */
  private floor(up: Vec3): number {
    let low = Infinity;
    for (let i = 0; i < 8; ++i) {
      const p = [0, 1, 2].map((k) => ((i >> k) & 1 ? this.box.high[k]! : this.box.low[k]!));
      low = Math.min(low, p[0]! * up[0] + p[1]! * up[1] + p[2]! * up[2]);
    }
    return low;
  }

  theme(dark: boolean): void {
    this.grid.theme(dark);
    this.key.intensity = dark ? 2.5 : 2.6;
    this.hemisphere.intensity = dark ? 1.5 : 1.35;
    this.ambient.intensity = dark ? 0.6 : 0.4;
    this.hemisphere.color.set(dark ? 0xdfe8f5 : 0xffffff);
    this.hemisphere.groundColor.set(dark ? 0x7a8494 : 0x9aa0aa);
    this.onChange();
  }

  get gridSpacing(): number {
    return this.grid.cell;
  }

  resize(width: number, height: number, ratio: number, covered = 0): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.covered = Math.min(covered, 0.25 * this.height);
    this.renderer.setPixelRatio(Math.min(ratio, 2));
    this.renderer.setSize(this.width, this.height, false);
    this.camera.aspect = this.width / this.height;
    this.camera.setViewOffset(this.width, this.height, 0, -this.covered / 2, this.width, this.height);
    for (const v of this.views) for (const d of v.drawn) d.resize?.(this.width, this.height);
    this.refit?.();
    this.onChange();
  }

  /* ---- camera */

  /* Repeats the last fit when the window changes; null once the user has moved the camera. */
  private refit: (() => void) | null = null;

  private direction(name: ViewName): Vec3 {
    const planar = this.layout.planar;
    const up = planar ? new Vector3(0, 1, 0) : new Vector3(...this.layout.up);
    /* front looks along the axis most across up, from its negative side for z up as in drawings */
    const front = planar ? new Vector3(0, 0, 1) : Math.abs(up.z) > 0.7 ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1);
    front.addScaledVector(up, -front.dot(up)).normalize();
    const right = new Vector3().crossVectors(up, front).normalize();
    const v = new Vector3();
    switch (name) {
      case "front":
        v.copy(front);
        break;
      case "back":
        v.copy(front).negate();
        break;
      case "right":
        v.copy(right);
        break;
      case "left":
        v.copy(right).negate();
        break;
      case "top":
        v.copy(up).addScaledVector(front, 1e-3);
        break;
      case "bottom":
        v.copy(up).negate().addScaledVector(front, 1e-3);
        break;
      default:
        v.copy(front).addScaledVector(right, 0.75).addScaledVector(up, 0.55);
    }
    v.normalize();
    return [v.x, v.y, v.z];
  }

  view(name: ViewName): void {
    this.fit(new Vector3(...this.direction(name)));
  }

  /* Bodies as they are now in sight, from the present side; what is followed is followed on. */
  fitNow(): void {
    this.fit(undefined, motionBox(this.views.filter((v) => v.visible), true));
  }

  /* All of the motion (or a box) in sight, from the given side or the present one. */
  fit(direction?: Vector3, box?: Box): void {
    const d = direction ?? this.camera.position.clone().sub(this.controls.target).normalize();
    if (!(d.lengthSq() > 0)) d.set(0, 0, 1);
    const target = new Vector3();
    const points: Vector3[] = [];
    const see = (p: Vec3): void => void points.push(new Vector3(p[0] - this.origin[0]!, p[1] - this.origin[1]!, p[2] - this.origin[2]!));
    const around = !box && (this.large || this.following !== null);
    if (around) {
      const r = 0.54 * this.layout.size; /* however it turns */
      const c = this.followed() ?? this.place;
      target.set(c[0]! - this.origin[0]!, c[1]! - this.origin[1]!, c[2]! - this.origin[2]!);
      for (const e of DIRECTIONS) points.push(target.clone().add(new Vector3(...e).multiplyScalar(r)));
    } else {
      const { low, high, centre, outline } = box ?? this.box;
      if (outline.length) outline.forEach(see);
      else for (let i = 0; i < 8; ++i) see([i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]]);
      target.set(centre[0] - this.origin[0]!, centre[1] - this.origin[1]!, centre[2] - this.origin[2]!);
    }
    const right = new Vector3().crossVectors(this.camera.up, d);
    if (right.lengthSq() < 1e-9) right.set(1, 0, 0);
    right.normalize();
    const top = new Vector3().crossVectors(d, right);
    const far = this.enclose(points, target, d, right, top, !around);
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(d, far);
    this.controls.minDistance = 1e-3 * this.layout.size;
    this.controls.maxDistance = 60 * Math.max(far, this.layout.size);
    this.controls.update();
    this.refit = () => this.fit(undefined, box);
    this.onChange();
  }

  /* The least distance from which every point is within the picture, with a margin. The target is moved
   * to the middle of what is seen unless it has to stay. */
  private enclose(points: Vector3[], target: Vector3, d: Vector3, right: Vector3, top: Vector3, centre: boolean): number {
    const half = Math.tan(MathUtils.degToRad(this.camera.fov / 2)) * 0.9;
    const tv = half * (1 - this.covered / this.height);
    const th = half * this.camera.aspect;
    const r = new Vector3();
    let far = 0;
    for (let round = 0; round < 6; ++round) {
      far = 1e-9 * this.layout.size;
      for (const p of points) {
        r.copy(p).sub(target);
        const toward = r.dot(d);
        far = Math.max(far, toward + Math.abs(r.dot(right)) / th, toward + Math.abs(r.dot(top)) / tv);
      }
      if (!centre) break;
      const low = [Infinity, Infinity];
      const high = [-Infinity, -Infinity];
      for (const p of points) {
        r.copy(p).sub(target);
        const depth = far - r.dot(d);
        [right, top].forEach((e, k) => {
          low[k] = Math.min(low[k]!, r.dot(e) / depth);
          high[k] = Math.max(high[k]!, r.dot(e) / depth);
        });
      }
      target.addScaledVector(right, ((low[0]! + high[0]!) / 2) * far).addScaledVector(top, ((low[1]! + high[1]!) / 2) * far);
    }
    return far;
  }

  /* Where the camera is and what it looks at, in the world: for links. */
  cameraPlace(): number[] {
    const { position } = this.camera;
    const { target } = this.controls;
    return [position, target].flatMap((v) => [v.x + this.origin[0]!, v.y + this.origin[1]!, v.z + this.origin[2]!]);
  }
  placeCamera(p: number[]): void {
    if (p.length !== 6 || !p.every(Number.isFinite)) return;
    const far = Math.hypot(p[0]! - p[3]!, p[1]! - p[4]!, p[2]! - p[5]!);
    if (!(far > 0)) return;
    this.controls.minDistance = Math.min(this.controls.minDistance, far);
    this.controls.maxDistance = Math.max(this.controls.maxDistance, far);
    this.camera.position.set(p[0]! - this.origin[0]!, p[1]! - this.origin[1]!, p[2]! - this.origin[2]!);
    this.controls.target.set(p[3]! - this.origin[0]!, p[4]! - this.origin[1]!, p[5]! - this.origin[2]!);
    this.refit = null;
    this.controls.update();
    this.onChange();
  }

  zoom(factor: number): void {
    const d = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(d);
    this.refit = null;
    this.controls.update();
    this.onChange();
  }

  /* ---- following */

  private followed(): Float64Array | null {
    const f = this.following;
    if (!f) return null;
    const view = this.views[f === "all" ? 0 : f.view]!;
    const poses = view.run.poses;
    const n = view.layout.bodies.length;
    if (f !== "all") {
      for (let k = 0; k < 3; ++k) this.place[k] = poses[7 * f.body + k]!;
      return this.place;
    }
    this.place.fill(0);
    for (let i = 0; i < n; ++i) for (let k = 0; k < 3; ++k) this.place[k]! += poses[7 * i + k]! / n;
    return this.place;
  }

  follow(what: { view: number; body: number } | "all" | null): void {
    this.following = what;
    const p = this.followed();
    if (p) for (let k = 0; k < 3; ++k) this.anchor[k] = this.origin[k]! - p[k]!;
    this.onChange();
  }

  get follows(): { view: number; body: number } | "all" | null {
    return this.following;
  }

  /* ---- drawing */

  render(time: number): void {
    const start = performance.now();
    const { options } = this.state;
    this.state.time = time;
    for (const v of this.views) v.run.pose(time);
    const p = this.followed();
    if (p) for (let k = 0; k < 3; ++k) this.origin[k] = p[k]! + this.anchor[k]!;
    for (const v of this.views) {
      v.posed.root.visible = v.visible;
      this.state.frame = frameAt(v.run.times, time);
      v.posed.poses.set(v.run.poses, this.origin);
      v.posed.show("bodies", options.bodies);
      v.posed.show("joints", options.joints);
      v.posed.show("ground", options.joints);
      v.posed.show("forces", options.forces);
      for (const d of v.drawn) {
        d.object.visible = v.visible;
        if (v.visible) d.update(this.state);
      }
    }
    this.grid.object.visible = options.grid;
    this.grid.update(this.origin, this.controls.target);
    this.lights();
    const far = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(1e-4 * far, far - 6 * Math.max(this.layout.size, far));
    if (this.camera.near <= 1e-4 * far) this.camera.near = 0.01 * far;
    this.camera.far = far + 40 * Math.max(this.layout.size, far);
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
    this.renderTimes.push(performance.now() - start);
    if (this.renderTimes.length > 600) this.renderTimes.splice(0, 300);
  }

  private lights(): void {
    const planar = this.layout.planar;
    const up = this.camera.up;
    const r = this.large ? this.layout.size : Math.hypot(...this.box.size);
    if (planar) this.light.set(-0.35, 0.6, 1.5);
    else this.light.copy(up).multiplyScalar(1.6).add(this.from3.set(0.55, -0.6, 0.35));
    this.light.normalize();
    const t = this.controls.target;
    if (this.large || this.following) this.key.target.position.copy(t);
    else this.key.target.position.set(this.box.centre[0] - this.origin[0]!, this.box.centre[1] - this.origin[1]!, this.box.centre[2] - this.origin[2]!);
    this.key.position.copy(this.key.target.position).addScaledVector(this.light, 2 * r);
    const s = this.key.shadow.camera;
    s.left = s.bottom = -0.75 * r;
    s.right = s.top = 0.75 * r;
    s.near = 0.2 * r;
    s.far = 5 * r;
    s.updateProjectionMatrix();
  }
  private readonly from3 = new Vector3();

  /* ---- pointing */

  pick(x: number, y: number, options: Options): Hit | null {
    this.pointer.set((2 * x) / this.width - 1, 1 - (2 * y) / this.height);
    this.ray.setFromCamera(this.pointer, this.camera);
    const { origin, direction } = this.ray.ray;
    this.from.set([origin.x + this.origin[0]!, origin.y + this.origin[1]!, origin.z + this.origin[2]!]);
    this.way.set([direction.x, direction.y, direction.z]);
    const shown = (c: Category): boolean => (c === "bodies" ? options.bodies : c === "forces" ? options.forces : c === "joints" ? options.joints : false);
    let best: Hit | null = null;
    let near = Infinity;
    this.views.forEach((view, index) => {
      if (!view.visible) return;
      const hit = view.picker.pick(view.run, this.from, this.way, shown);
      if (hit.owner >= 0 && hit.distance < near) {
        near = hit.distance;
        best = { view, index, owner: view.owners[hit.owner]!, id: hit.owner };
      }
    });
    return best;
  }

  /* Place of a world point on the canvas. */
  project(p: ArrayLike<number>): { x: number; y: number } | null {
    const v = this.from3.set(p[0]! - this.origin[0]!, p[1]! - this.origin[1]!, p[2]! - this.origin[2]!).project(this.camera);
    return v.z > 1 ? null : { x: ((v.x + 1) / 2) * this.width, y: ((1 - v.y) / 2) * this.height };
  }

  mark(which: "uSelected" | "uHover", view: number, id: number): void {
    this.views.forEach((v, i) => (v.posed.shared[which].value = i === view ? id : -1));
    this.onChange();
  }

  count(kind: string, options: Options): number {
    let n = 0;
    for (const v of this.views) {
      if (!v.visible) continue;
      if (kind === "bodies" || kind === "joints") {
        if (options[kind]) n += v.owners.filter((o) => (kind === "bodies" ? o.kind === "body" : o.kind === "joint")).length;
      } else if (kind === "gears") {
        n += v.list.parts.filter((p) => p.solid.startsWith("gear:")).length;
      } else if (kind === "springs") {
        if (options.forces) n += v.list.spans.filter((s) => s.solid.startsWith("coil")).length;
      } else
        v.drawn.forEach((d, i) => {
          const name = registry.filter((r) => r.kind === "traces" || r.kind === "arrows")[i]?.kind;
          if (name === kind) n += d.count();
        });
    }
    return n;
  }

  missing(options: Options): string[] {
    const out: string[] = [];
    for (const v of this.views) for (const d of v.drawn) {
      const text = d.missing?.(options);
      if (text && !out.includes(text)) out.push(text);
    }
    return out;
  }

  bodyBounds(view: number, body: number): Box {
    return bounds(this.views[view]!, body);
  }

  info(): { calls: number; triangles: number } {
    return { calls: this.renderer.info.render.calls, triangles: this.renderer.info.render.triangles };
  }
}
