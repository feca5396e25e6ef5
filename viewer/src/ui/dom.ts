/* Small helpers for building the page. Text from files enters as text nodes only, never as markup. */

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on") && typeof value === "function") e.addEventListener(key.slice(2), value as EventListener);
    else if (key === "class") e.className = String(value);
    else if (key === "text") e.textContent = String(value);
    else if (key in e && key !== "list" && key !== "role") (e as unknown as Props)[key] = value;
    else e.setAttribute(key, value === true ? "" : String(value));
  }
  for (const c of children) if (c) e.append(c);
  return e;
}

const SVG = "http://www.w3.org/2000/svg";

/* 24 x 24, strokes; a leading ! fills instead. */
const ICONS: Record<string, string> = {
  play: "!M7 4.5v15l13-7.5z",
  pause: "!M6 4.5h4.2v15H6zM13.8 4.5H18v15h-4.2z",
  first: "M6 5v14M19 5.5 9.5 12 19 18.5z",
  back: "M15.5 5.5 7 12l8.5 6.5zM19 5v14",
  next: "M8.5 5.5 17 12l-8.5 6.5zM5 5v14",
  loop: "M17 3.5 20.5 7 17 10.5M20 7H8a5 5 0 0 0-5 5M7 20.5 3.5 17 7 13.5M4 17h12a5 5 0 0 0 5-5",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  focus: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  link: "M10 14a4 4 0 0 0 5.7 0l3.1-3.1a4 4 0 0 0-5.7-5.7L12 6.3M14 10a4 4 0 0 0-5.7 0l-3.1 3.1a4 4 0 0 0 5.7 5.7L12 17.7",
  cube: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12 4 7.5M12 12v9",
  grid: "M4 4h16v16H4zM4 9.3h16M4 14.7h16M9.3 4v16M14.7 4v16",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  help: "M9.2 9a2.9 2.9 0 1 1 4.3 2.6c-.9.5-1.5 1.1-1.5 2.2v.4M12 17.4v.2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  camera: "M4 8h3.5L9 5.5h6L16.5 8H20v11H4zM12 10a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6z",
  close: "M6 6l12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  target: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12 2.5V7M12 17v4.5M2.5 12H7M17 12h4.5",
  trace: "M3 17c3-9 6-9 9-4s6 3 9-6",
  plot: "M4 4v16h16M7 15l4-5 3 3 5-7",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9.2v.1",
  table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14",
  reset: "M4 12a8 8 0 1 0 2.6-5.9M4 4v4.5h4.5",
  warn: "M12 4 2.8 19.5h18.4zM12 10v4.5M12 17v.2",
  panel: "M4 5h16v14H4zM14.5 5v14",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.3 15.3 20 20",
  arrow: "M4 20 19 5M10 5h9v9",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(SVG, "path");
  const d = ICONS[name] ?? "";
  path.setAttribute("d", d.replace(/^!/, ""));
  if (d.startsWith("!")) path.classList.add("filled");
  svg.append(path);
  return svg;
}

export function button(name: string, title: string, action: () => void, extra: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "icon-button", title, "aria-label": title, onclick: action, ...extra }, icon(name));
}

/* Numbers for people: six digits, small and large ones with an exponent. */
export function format(x: number, digits = 6): string {
  if (x !== x) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const a = Math.abs(x);
  const plain = x.toPrecision(digits);
  const text = a >= 1e6 || a < 1e-4 ? x.toExponential(Math.max(0, digits - 2)) : plain.includes("e") ? String(Number(plain)) : plain;
  return text.replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1").replace("-", "−").replace("e−", "e-").replace("e+", "e");
}

/* A length in the unit that needs fewest digits: 2 mm, 0.5 m, 20 km. */
export function lengthText(metres: number): string {
  const units: [string, number][] = [["km", 1e3], ["m", 1], ["mm", 1e-3], ["\u00b5m", 1e-6], ["nm", 1e-9]];
  const [unit, size] = units.find(([, s]) => metres >= (s === 1 ? 0.1 : s) * (1 - 1e-9)) ?? ["m", 1];
  return `${format(metres / size)} ${unit}`;
}

export function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const a = h("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export const fileName = (text: string): string => text.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "galpha";

export const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
