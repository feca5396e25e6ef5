/* Pages for the tests: opening them, looking at them, and making ones that no simulation would give.
 * A made page takes the viewer out of a page of the program and puts other data into it, coded here. */
import { deflateSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const HEADER = '<script type="application/json" id="galpha-header">';
const DATA = '<script type="text/plain" id="galpha-data">';

export const escape = (json) => json.replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

/* runs: [{label, scene, times, channels: {name: [[column], ...]}, ...}] */
export function makePage(template, file, runs, change = {}) {
  const page = readFileSync(template, "utf8");
  const start = page.indexOf(HEADER);
  const end = page.indexOf("</script>", page.indexOf(DATA)) + "</script>".length;
  if (start < 0 || end < start) throw new Error(`${template} is not a page of galpha view`);
  const columns = [];
  const pieces = [];
  let offset = 0;
  const put = (values) => {
    const bytes = Buffer.from(Float64Array.from(values).buffer);
    columns.push({ offset, count: values.length, encoding: "f64" });
    pieces.push(bytes);
    offset += bytes.length;
    return columns.length - 1;
  };
  const parts = { 2: ["x", "y"], 3: ["x", "y", "z"], 4: ["w", "x", "y", "z"] };
  const header = {
    format: 1,
    generator: "galpha test",
    title: "made",
    columns,
    runs: runs.map((r) => ({
      label: r.label ?? "made.h5",
      model: r.model ?? "galpha: 1\n",
      solver: r.solver ?? {},
      scene: r.scene,
      frames: r.times.length,
      frames_in_file: r.times.length,
      notices: r.notices ?? [],
      time: put(r.times),
      channels: Object.entries(r.channels ?? {}).map(([name, list]) => ({
        name,
        unit: "m",
        description: "",
        parts: parts[list.length] ?? null,
        columns: list.map(put),
      })),
    })),
  };
  const data = change.data ?? deflateSync(Buffer.concat(pieces)).toString("base64");
  const text = `${HEADER}${escape(change.header ?? JSON.stringify(header))}</script>\n${DATA}${data}</script>`;
  writeFileSync(file, page.slice(0, start) + text + page.slice(end));
  return file;
}

/* A chain of n links that swings like a rope skipped by hand; every body has its channels. */
export function chain(n, frames) {
  const times = Array.from({ length: frames }, (_, i) => i / 50);
  const side = Math.ceil(Math.sqrt(n));
  const bodies = [];
  const joints = [];
  const channels = {};
  for (let i = 0; i < n; ++i) {
    const x = (i % side) - side / 2;
    const y = Math.floor(i / side) - side / 2;
    bodies.push({ name: `b${i}`, kind: "rigid", mass: 1, inertia: [0.001, 0.08, 0.08], position: [x, y, 0], rotation: [1, 0, 0, 0], points: [], shapes: [] });
    if (i % side) joints.push({ name: `j${i}`, type: "revolute", a: { body: i - 1, position: [0.5, 0, 0], rotation: [1, 0, 0, 0] }, b: { body: i, position: [-0.5, 0, 0], rotation: [1, 0, 0, 0] } });
    const z = times.map((t) => Math.sin(3 * t + x + y));
    channels[`b${i}.position`] = [times.map(() => x), times.map(() => y), z];
    channels[`b${i}.rotation`] = [times.map((t) => Math.cos(t)), times.map((t) => Math.sin(t)), times.map(() => 0), times.map(() => 0)];
  }
  return { label: `chain of ${n}`, scene: { format: 1, name: `chain of ${n}`, dimension: 3, gravity: [0, 0, -9.81], bodies, joints, motions: [], forces: [], groups: [] }, times, channels };
}

/* ms: nothing but a fault takes as long, on a busy machine either. */
export const PATIENCE = 240000;

/* A tab is used for one page after the other: a new one costs as much as all the rest of a short test. */
const free = new WeakMap();

async function tab(context) {
  const pages = free.get(context) ?? [];
  free.set(context, pages);
  if (pages.length) return pages.pop();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const opened = { page, context, problems: [], size: page.viewportSize() };
  const note = (text) => opened.problems.push(text);
  page.on("console", (m) => {
    /* what the driver says about reading pixels for screenshots is not the page's */
    if (["error", "warning"].includes(m.type()) && !/GPU stall|ReadPixels/i.test(m.text())) note(`console: ${m.text()}`);
  });
  page.on("pageerror", (e) => note(`error: ${e.message}`));
  page.on("dialog", (d) => {
    note(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on("request", (r) => {
    if (!/^(file|data|blob):/.test(r.url())) note(`request: ${r.url()}`);
  });
  page.on("requestfailed", (r) => note(`failed request: ${r.url()}`));
  return opened;
}

/* Opens a page and keeps what it complains about. */
export async function open(context, file, options = {}) {
  const url = pathToFileURL(file).href;
  const opened = await tab(context);
  const { page } = opened;
  opened.problems.length = 0;
  const size = options.size ?? opened.size;
  const now = page.viewportSize();
  if (size.width !== now.width || size.height !== now.height) await page.setViewportSize(size);
  await page.mouse.move(0, 0);
  await page.bringToFront(); /* hidden tabs draw no frames */
  /* the same file again would be taken for a link within the page */
  if (page.url().split("#")[0] === url) {
    const blank = join(dirname(file), "blank.html");
    writeFileSync(blank, "<!doctype html><title>blank</title>");
    await page.goto(pathToFileURL(blank).href);
  }
  await page.goto(url + (options.hash ?? ""));
  await page.waitForFunction(() => window.galpha && (window.galpha.ready || window.galpha.error));
  return opened;
}

/* The tab may show another page. Not after a failure: that may have left anything behind. */
export const release = (opened) => void free.get(opened.context).push(opened);
export async function abandon(context) {
  free.set(context, []);
  for (const page of context.pages()) await page.close();
}

export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/* Bodies that are not within the picture at a time, and by how many pixels. */
export const outOfSight = (page, names, time) =>
  page.evaluate(([list, t]) => {
    if (t !== undefined) window.galpha.setTime(t);
    const { clientWidth, clientHeight } = document.querySelector(".stage canvas");
    return list.flatMap((name) => {
      const p = window.galpha.project(name);
      const off = p ? Math.max(-p.x, p.x - clientWidth, -p.y, p.y - clientHeight) : Infinity;
      return off > 0 ? [`${name} by ${Math.round(off)} pixels`] : [];
    });
  }, [names, time]);

/* Controls that do not lie wholly in the window, and whether the page is wider than it. */
export const cutOff = (page) =>
  page.evaluate(() => {
    const out = [];
    const root = document.scrollingElement;
    if (root.scrollWidth > window.innerWidth || root.scrollHeight > window.innerHeight) out.push(`page ${root.scrollWidth} x ${root.scrollHeight}`);
    const scrolls = (e) => {
      for (let p = e.parentElement; p; p = p.parentElement) if (/auto|scroll/.test(getComputedStyle(p).overflowY)) return p;
      return null;
    };
    for (const e of document.querySelectorAll("button, input, select, output, h1, .scale, .clock, .truth, .legend .value, .facts dd, .card, .pane")) {
      const r = e.getBoundingClientRect();
      if (!r.width || !r.height || getComputedStyle(e).visibility === "hidden") continue;
      const host = scrolls(e);
      if (r.left < -0.5 || r.right > window.innerWidth + 0.5) {
        if (!host || host.scrollWidth <= host.clientWidth + 1) out.push(`${e.className || e.tagName} ${Math.round(r.left)} .. ${Math.round(r.right)} wide`);
      }
      if (!host && (r.top < -0.5 || r.bottom > window.innerHeight + 0.5)) out.push(`${e.className || e.tagName} ${Math.round(r.top)} .. ${Math.round(r.bottom)} high`);
    }
    for (const e of document.querySelectorAll(".tab:not([hidden]), .panes, .tree, .selection .values"))
      if (!e.classList.contains("model-tab") && e.scrollWidth > e.clientWidth + 1) out.push(`${e.className} scrolls sideways`);
    return out;
  });
