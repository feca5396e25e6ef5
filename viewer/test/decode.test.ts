/* Columns against numbers coded here, independently of the program, by the rules of the format. */
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ColumnStore, decodeBase64, decodeColumn, inflate } from "../src/data/decode";
import type { ColumnHeader } from "../src/data/format";

export function encode(values: number[], planes: 2 | 3, low: number, high: number): Uint8Array {
  const top = 2 ** (8 * planes) - 1;
  const out = new Uint8Array(planes * values.length);
  let before = 0;
  values.forEach((x, i) => {
    const code = Number.isFinite(x) ? (high > low ? Math.round(((x - low) / (high - low)) * (top - 1)) : 0) : top;
    const change = (((code - before) % (top + 1)) + top + 1) % (top + 1);
    for (let p = 0; p < planes; ++p) out[p * values.length + i] = Math.floor(change / 256 ** p) & 255;
    before = code;
  });
  return out;
}

const header = (encoding: ColumnHeader["encoding"], count: number, low = 0, high = 0): ColumnHeader => ({ offset: 0, count, encoding, low, high });

describe("base64", () => {
  it("is that of node for every length and skips white space", () => {
    for (let n = 0; n < 70; ++n) {
      const bytes = Uint8Array.from({ length: n }, (_, i) => (i * 37 + n) & 255);
      const text = Buffer.from(bytes).toString("base64");
      expect([...decodeBase64(text)]).toEqual([...bytes]);
      expect([...decodeBase64(` ${text.slice(0, 5)}\n${text.slice(5)} `)]).toEqual([...bytes]);
    }
  });
  it("with zlib gives the bytes back", async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * i) & 255);
    const text = deflateSync(bytes).toString("base64");
    expect([...(await inflate(decodeBase64(text)))]).toEqual([...bytes]);
    expect((await inflate(decodeBase64(""))).length).toBe(0);
  });
  it("refuses what is no zlib stream", async () => {
    await expect(inflate(decodeBase64("AAAAAAAA"))).rejects.toThrow();
  });
});

describe("columns", () => {
  const wave = Array.from({ length: 400 }, (_, i) => 3 * Math.sin(i / 17) - 1);
  it("f64 and f32 are plain", () => {
    const doubles = new Uint8Array(new Float64Array([1.5, -2e300, NaN]).buffer);
    expect([...decodeColumn(doubles, header("f64", 3))]).toEqual([1.5, -2e300, NaN]);
    const floats = new Uint8Array(new Float32Array([1.5, -2, Infinity]).buffer);
    expect([...decodeColumn(floats, header("f32", 3))]).toEqual([1.5, -2, Infinity]);
  });
  it("d16 and d24 are within half a step", () => {
    const low = Math.min(...wave);
    const high = Math.max(...wave);
    for (const planes of [2, 3] as const) {
      const got = decodeColumn(encode(wave, planes, low, high), header(planes === 2 ? "d16" : "d24", wave.length, low, high));
      const step = (high - low) / (2 ** (8 * planes) - 2);
      /* a float holds 16 bits with room to spare */
      wave.forEach((x, i) => expect(Math.abs(got[i]! - x)).toBeLessThanOrEqual(0.5001 * step + 2e-7 * (planes === 2 ? 4 : 0)));
    }
  });
  it("the ends are exact, NaN stays NaN, a constant is itself", () => {
    const x = [2, NaN, 5, Infinity, 2, 5];
    const got = decodeColumn(encode(x, 3, 2, 5), header("d24", 6, 2, 5));
    expect([...got]).toEqual([2, NaN, 5, NaN, 2, 5]);
    expect([...decodeColumn(encode([7, 7, 7], 2, 7, 7), header("d16", 3, 7, 7))]).toEqual([7, 7, 7]);
  });
  it("differences wrap around", () => {
    const x = Array.from({ length: 50 }, (_, i) => (i % 2 ? 1 : 0));
    expect([...decodeColumn(encode(x, 2, 0, 1), header("d16", 50, 0, 1))]).toEqual(x);
  });
  it("a column beyond the data is an error, not rubbish", () => {
    const bytes = new Uint8Array(10);
    expect(() => decodeColumn(bytes, header("f64", 2))).toThrow(/beyond/);
    expect(() => decodeColumn(bytes, { offset: -1, count: 1, encoding: "d16" })).toThrow(/beyond/);
    expect(() => decodeColumn(bytes, { offset: 0, count: 1, encoding: "x9" as never })).toThrow(/unknown/);
    expect(() => new ColumnStore(bytes, []).get(3)).toThrow(/no column/);
  });
});
