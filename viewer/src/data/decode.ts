/* Numbers from text: base64 -> zlib -> columns.
 *
 * d16, d24: codes 0 .. 2^k - 2 stand for low + code (high - low)/(2^k - 2), the code 2^k - 1 for
 * NaN. Stored are differences to the code before, modulo 2^k, split into planes of bytes: all low
 * bytes first. */
import type { ColumnHeader } from "./format";

export type Column = Float64Array | Float32Array;

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Own table: `fetch` of a data URL would need a hole in the content security policy, `atob` makes
 * a string of the whole first. White space is skipped. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const value = new Uint8Array(128).fill(255);
  for (let i = 0; i < 64; ++i) value[DIGITS.charCodeAt(i)] = i;
  const out = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let n = 0;
  for (let i = 0; i < text.length; ++i) {
    const c = text.charCodeAt(i);
    const v = c < 128 ? value[c]! : 255;
    if (v === 255) continue;
    held = ((held << 6) | v) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[n++] = (held >> bits) & 255;
    }
  }
  return out.subarray(0, n);
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const WIDTH = { f64: 8, f32: 4, d16: 2, d24: 3 } as const;

function plain(bytes: Uint8Array, header: ColumnHeader): Column {
  const view = new DataView(bytes.buffer, bytes.byteOffset + header.offset, header.count * WIDTH[header.encoding]);
  const double = header.encoding === "f64";
  const out = double ? new Float64Array(header.count) : new Float32Array(header.count);
  for (let i = 0; i < header.count; ++i) out[i] = double ? view.getFloat64(8 * i, true) : view.getFloat32(4 * i, true);
  return out;
}

/* 16 bits fit the 24 of a float; d24 was chosen because they do not, so it stays double. */
function differences(bytes: Uint8Array, header: ColumnHeader): Column {
  const n = header.count;
  const planes = WIDTH[header.encoding];
  const top = 2 ** (8 * planes) - 1;
  const low = header.low ?? 0;
  const step = ((header.high ?? 0) - low) / (top - 1);
  const out = planes === 2 ? new Float32Array(n) : new Float64Array(n);
  const start = header.offset;
  let code = 0;
  for (let i = 0; i < n; ++i) {
    let change = bytes[start + i]! | (bytes[start + n + i]! << 8);
    if (planes === 3) change |= bytes[start + 2 * n + i]! << 16;
    code = (code + change) & top;
    out[i] = code === top ? NaN : low + code * step;
  }
  return out;
}

export function decodeColumn(bytes: Uint8Array, header: ColumnHeader): Column {
  const width = WIDTH[header.encoding];
  if (width === undefined) throw new Error(`unknown column encoding ${String(header.encoding)}`);
  if (header.offset < 0 || header.count < 0 || header.offset + header.count * width > bytes.length)
    throw new Error("a column extends beyond the data: the page is damaged");
  return header.encoding[0] === "f" ? plain(bytes, header) : differences(bytes, header);
}

/* Columns are decoded when first asked for: most channels are never looked at. */
export class ColumnStore {
  private readonly decoded = new Map<number, Column>();
  private readonly bytes: Uint8Array;
  private readonly headers: ColumnHeader[];
  constructor(bytes: Uint8Array, headers: ColumnHeader[]) {
    this.bytes = bytes;
    this.headers = headers;
  }
  get(index: number): Column {
    let column = this.decoded.get(index);
    if (!column) {
      const header = this.headers[index];
      if (!header) throw new Error(`the page has no column ${index}`);
      column = decodeColumn(this.bytes, header);
      this.decoded.set(index, column);
    }
    return column;
  }
}
