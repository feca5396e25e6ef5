import { format } from "./dom";

/* As many digits as tell neighbours apart. */
export function tickTexts(values: (number | null)[], step: number): string[] {
  const most = values.reduce<number>((m, v) => Math.max(m, Math.abs(v ?? 0)), 0);
  const digits = Math.min(15, Math.max(2, Math.ceil(Math.log10(most / step + 1e-300) + 1e-9) + 1));
  return values.map((v) => (v === null ? "" : Math.abs(v) < 1e-9 * most ? "0" : format(v, digits)));
}
