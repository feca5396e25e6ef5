/* A grid that fades into the distance, drawn by a shader on one rectangle: fine lines at the spacing,
 * bold ones at ten of them. In the plane normal to gravity, or behind a planar model. */
import { Color, DoubleSide, Group, Mesh, PlaneGeometry, ShaderMaterial, ShadowMaterial, Vector3 } from "three";

/* 1, 2 or 5 times a power of ten, not above x. */
export function roundDown(x: number): number {
  const p = 10 ** Math.floor(Math.log10(x));
  const m = x / p;
  return (m >= 5 ? 5 : m >= 2 ? 2 : 1) * p;
}

const VERTEX = /* glsl */ `
varying vec2 vAt;
varying vec3 vWorld;
void main() {
  vec4 w = modelMatrix * vec4(position, 1.0);
  vWorld = w.xyz;
  vAt = position.xy;
  gl_Position = projectionMatrix * viewMatrix * w;
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 uLine;
uniform vec2 uShift;
uniform float uCell;
uniform float uFade;
uniform float uStrength;
varying vec2 vAt;
varying vec3 vWorld;
float lines(vec2 p, float width) {
  vec2 w = max(fwidth(p), vec2(1e-6));
  vec2 d = abs(fract(p - 0.5) - 0.5) / w;
  vec2 a = (1.0 - clamp(d - width, 0.0, 1.0)) * (1.0 - smoothstep(0.25, 0.6, w));
  return max(a.x, a.y);
}
void main() {
  vec2 p = (vAt + uShift) / uCell;
  float a = max(0.32 * lines(p, 0.05), lines(p / 5.0, 0.25));
  float far = 1.0 - smoothstep(0.25, 1.0, length(vAt) / uFade);
  gl_FragColor = vec4(uLine, a * far * uStrength);
  #include <colorspace_fragment>
}`;

export class Grid {
  readonly object = new Group();
  readonly cell: number;
  private readonly material: ShaderMaterial;
  private readonly shadow: ShadowMaterial;
  private readonly normal: Vector3;
  private readonly height: number;
  private readonly x: Vector3;
  private readonly y: Vector3;

  constructor(normal: Vector3, height: number, size: number, extent: number) {
    this.normal = normal.clone();
    this.height = height;
    this.cell = roundDown(size / 8);
    const half = Math.max(4 * extent, 3 * size);
    this.material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      uniforms: {
        uLine: { value: new Color() },
        uShift: { value: { x: 0, y: 0 } },
        uCell: { value: this.cell },
        uFade: { value: half },
        uStrength: { value: 0.5 },
      },
    });
    this.material.uniforms.uShift!.value = new Float32Array(2);
    const plane = new Mesh(new PlaneGeometry(2 * half, 2 * half), this.material);
    plane.renderOrder = -2;
    this.shadow = new ShadowMaterial({ opacity: 0.18, depthWrite: false });
    const floor = new Mesh(new PlaneGeometry(2 * half, 2 * half), this.shadow);
    floor.receiveShadow = true;
    floor.renderOrder = -1;
    this.object.add(plane, floor);
    this.object.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), this.normal);
    this.x = new Vector3(1, 0, 0).applyQuaternion(this.object.quaternion);
    this.y = new Vector3(0, 1, 0).applyQuaternion(this.object.quaternion);
  }

  theme(dark: boolean): void {
    (this.material.uniforms.uLine!.value as Color).set(dark ? 0x8fa3bd : 0x55657a);
    this.material.uniforms.uStrength!.value = dark ? 0.34 : 0.42;
    this.shadow.opacity = dark ? 0.38 : 0.17;
  }

  /* The rectangle stays below the camera's target; its lines stay in the world. */
  update(origin: Float64Array, target: Vector3): void {
    const h = this.normal.x * origin[0]! + this.normal.y * origin[1]! + this.normal.z * origin[2]!;
    const along = target.dot(this.normal);
    this.object.position.copy(target).addScaledVector(this.normal, this.height - h - along);
    const shift = this.material.uniforms.uShift!.value as Float32Array;
    const period = 5 * this.cell;
    const at = (v: Vector3): number => {
      const s = v.x * (origin[0]! + target.x) + v.y * (origin[1]! + target.y) + v.z * (origin[2]! + target.z);
      return s - period * Math.floor(s / period);
    };
    shift[0] = at(this.x);
    shift[1] = at(this.y);
  }
}
