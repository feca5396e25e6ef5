/* Drives pages of `galpha view` in a real browser.
 *
 *   node test/viewer/run.mjs --program galpha --models examples --out DIR [--browser chromium] [--only regex] [--all] [--shard k/n]
 *
 * Of the examples only those are shown that have something no other has; --all: every one, and a model of
 * 10000 bodies, as `make nightly` does.
 *
 * Exit code 0: all well, 1: not, 77: nothing to test with. Screenshots stay in DIR. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readCsv } from "./csv.mjs";
import { abandon, chain, cutOff, makePage, open, outOfSight, PATIENCE, release, settle } from "./pages.mjs";

const here = dirname(fileURLToPath(import.meta.url));

function option(name, fallback) {
  const at = process.argv.indexOf(`--${name}`);
  return at >= 0 ? process.argv[at + 1] : fallback;
}

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

const program = option("program") && resolve(option("program"));
const models = resolve(option("models", join(here, "../../examples")));
const out = resolve(option("out", "viewer-test"));
const only = new RegExp(option("only", "."));
const all = process.argv.includes("--all");
const [shard, shards] = option("shard", "0/1").split("/").map(Number);
if (!program || !existsSync(program)) skip("no program");
mkdirSync(out, { recursive: true });

function findBrowser() {
  const given = option("browser");
  if (given) return given;
  for (const name of ["chromium", "chromium-browser", "google-chrome"])
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const file = join(folder, name);
      if (existsSync(file)) return file;
    }
  return null;
}
const browserFile = findBrowser();
if (!browserFile || !existsSync(browserFile)) skip("no chromium, chromium-browser or google-chrome");

let chromium;
try {
  const require = createRequire(join(here, "../../viewer/package.json"));
  ({ chromium } = require("playwright-core"));
} catch {
  skip("playwright-core is not installed: npm ci in viewer/");
}

/* ---- results */

const galpha = (...args) => execFileSync(program, args, { stdio: ["ignore", "pipe", "pipe"], cwd: out });
const at = (name) => join(out, name);

function simulate(model, name, ...extra) {
  galpha("run", model, "-q", "-o", at(`${name}.h5`), "--csv", at(`${name}.csv`), "--view", at(`${name}.html`), ...extra);
  return { page: at(`${name}.html`), csv: readCsv(at(`${name}.csv`)), result: at(`${name}.h5`) };
}
const cache = new Map();
function example(name, ...extra) {
  const key = [name, ...extra].join(" ");
  if (!cache.has(key)) cache.set(key, simulate(join(models, `${name}.yaml`), `${name}${extra.length ? `-${cache.size}` : ""}`, ...extra));
  return cache.get(key);
}
function write(name, text) {
  writeFileSync(at(`${name}.yaml`), text);
  return at(`${name}.yaml`);
}

/* ---- the harness */

class Failure extends Error {}
function check(condition, text) {
  if (!condition) throw new Failure(text);
}
function near(got, want, tolerance, what) {
  check(Math.abs(got - want) <= tolerance, `${what}: ${got}, should be ${want} within ${tolerance}`);
}

/* Pictures are drawn in software, whose cost is that of the pixels: windows are small where size does not
 * matter, and edges are not smoothed. */
const args = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--webgl-antialias-mode=none", "--disable-gpu-compositing"];
const browser = await chromium.launch({ executablePath: browserFile, args, timeout: PATIENCE });
const DESKTOP = { width: 1280, height: 800 };
const MIDDLE = { width: 960, height: 600 };
const SMALL = { width: 880, height: 480 };
const PHONE = { width: 390, height: 844 };
const desktop = await browser.newContext({ viewport: MIDDLE, colorScheme: "light", acceptDownloads: true });

const tests = [];
const test = (name, run) => tests.push({ name, run });

async function clean(opened, shot) {
  if (shot) await opened.page.screenshot({ path: at(`${shot}.png`) });
  check(opened.problems.length === 0, opened.problems.join("; "));
  release(opened);
}
const g = (page, body, argument) => page.evaluate(new Function("a", `const g = window.galpha; ${body}`), argument);

/* Largest distance of any body from where the file says, over some frames. */
async function placeError(page, csv, bodies, planar, frames) {
  let worst = 0;
  for (const row of frames) {
    const t = csv.rows[row][0];
    const poses = await g(page, "g.setTime(a.t); return a.names.map((n) => g.body(n));", { t, names: bodies });
    bodies.forEach((name, i) => {
      const p = poses[i];
      const want = ["x", "y", "z"].map((k) => (csv.has(`${name}.position.${k}`) ? csv.at(row, `${name}.position.${k}`) : 0));
      want.forEach((x, k) => (worst = Math.max(worst, Math.abs(x - p.position[k]))));
      if (planar && csv.has(`${name}.rotation`)) {
        const a = csv.at(row, `${name}.rotation`);
        worst = Math.max(worst, Math.abs(Math.abs(p.rotation[0]) - Math.abs(Math.cos(a / 2))), Math.abs(Math.abs(p.rotation[3]) - Math.abs(Math.sin(a / 2))));
      } else if (csv.has(`${name}.rotation.w`)) {
        const q = ["w", "x", "y", "z"].map((k) => csv.at(row, `${name}.rotation.${k}`));
        const dot = q.reduce((s, x, k) => s + x * p.rotation[k], 0);
        worst = Math.max(worst, 1 - Math.abs(dot));
      }
    });
  }
  return worst;
}

/* A scene of one body. */
const point = { format: 1, name: "made", dimension: 3, gravity: [0, 0, -9.81], bodies: [{ name: "b", kind: "rigid", mass: 1, inertia: [1, 1, 1], position: [0, 0, 1], rotation: [1, 0, 0, 0], points: [], shapes: [] }], joints: [], motions: [], forces: [], groups: [] };

/* ---- examples */

/* Examples with a kind of element, in the plane or in space, or a number of bodies that none before has. */
function telling(files) {
  const seen = new Set();
  return files.filter((file) => {
    const text = readFileSync(join(models, file), "utf8");
    const flat = /^dimension: 2/m.test(text) ? "2-D" : "3-D";
    const things = [...text.matchAll(/type: ([a-z-]+)/g)].map((m) => `${flat} ${m[1]}`);
    for (const key of ["repeat", "motions", "shape"]) if (new RegExp(`^ *${key}:`, "m").test(text)) things.push(`${flat} ${key}`);
    const fresh = things.filter((t) => !seen.has(t));
    fresh.forEach((t) => seen.add(t));
    return fresh.length > 0;
  });
}

const examples = readdirSync(models).filter((f) => f.endsWith(".yaml"));
for (const file of all ? examples : telling(examples)) {
  const name = basename(file, ".yaml");
  test(`example ${name}`, async () => {
    const { page: html, csv } = example(name);
    const opened = await open(desktop, html, { size: SMALL });
    const { page } = opened;
    const scene = await page.evaluate(() => JSON.parse(document.getElementById("galpha-header").textContent).runs[0].scene);
    const names = scene.bodies.map((b) => b.name);
    check((await g(page, 'return g.visible("bodies")')) === names.length, "not all bodies are drawn");
    check((await g(page, 'return g.visible("joints")')) === scene.joints.length, "not all joints are drawn");
    /* relative to how far things are from each other; the format promises 2e-5 */
    let size = 0;
    for (const n of names) for (const k of ["x", "y", "z"]) if (csv.has(`${n}.position.${k}`)) for (const r of csv.rows.keys()) size = Math.max(size, Math.abs(csv.at(r, `${n}.position.${k}`)));
    const frames = [0, 0.31, 0.5, 0.77, 1].map((s) => Math.round(s * (csv.frames - 1)));
    const shown = names.length > 120 ? names.filter((_, i) => i % 25 === 0) : names;
    const error = await placeError(page, csv, shown, scene.dimension === 2, frames);
    if (!(await g(page, "return g.follow()")))
      for (const row of frames) {
        const lost = await outOfSight(page, shown, csv.rows[row][0]);
        check(lost.length === 0, `out of the picture: ${lost.join("; ")}`);
      }
    check(error <= 1e-4 * Math.max(1, size), `bodies are ${error} away from the result`);
    /* what is plotted first is no constant */
    const [first] = await g(page, "return g.panes()");
    check(first?.channels.length > 0, "no curves");
    const stored = first.channels.filter((c) => csv.has(c));
    for (const c of stored) {
      const values = [...csv.rows.keys()].map((r) => csv.at(r, c));
      const [low, high] = [Math.min(...values), Math.max(...values)];
      check(high - low > 1e-3 * Math.max(Math.abs(low), Math.abs(high)), `${c} is plotted first and hardly changes`);
    }
    await g(page, "const [s, e] = g.duration(); g.setTime(s + 0.35 * (e - s));");
    const part = await g(page, "return g.covered()");
    check(part > 0.0008, `bodies cover ${(100 * part).toFixed(3)} % of the picture: blank?`);
    await clean(opened, `example-${name}`);
  });
}

/* ---- time, plots, keys */

test("scrub, click and drag set the time", async () => {
  const { page: html, csv } = example("heavy_top");
  const opened = await open(desktop, html);
  const { page } = opened;
  const scrub = page.locator(".scrub");
  await scrub.evaluate((e) => {
    e.value = "25000";
    e.dispatchEvent(new Event("input", { bubbles: true }));
  });
  near(await g(page, "return g.time"), 0.25, 1e-9, "time after scrubbing to a quarter");
  const row = csv.rows.findIndex((r) => Math.abs(r[0] - 0.25) < 1e-9);
  const body = await g(page, 'return g.body("top")');
  ["x", "y", "z"].forEach((k, i) => near(body.position[i], csv.at(row, `top.position.${k}`), 1e-4, `top.position.${k}`));
  /* a click into a plot */
  const over = page.locator(".pane .u-over").first();
  const box = await over.boundingBox();
  await page.mouse.click(box.x + 0.6 * box.width, box.y + 0.5 * box.height);
  near(await g(page, "return g.time"), 0.6, 0.01, "time after a click at 60 % of a plot");
  /* zoom by dragging, and back */
  await page.mouse.move(box.x + 0.2 * box.width, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.4 * box.width, box.y + 60, { steps: 4 });
  await page.mouse.up();
  check(await page.locator('.pane [title^="Zoom out"]').first().isVisible(), "dragging does not zoom");
  await page.mouse.dblclick(box.x + 0.5 * box.width, box.y + 50);
  check(!(await page.locator('.pane [title^="Zoom out"]').first().isVisible()), "double click does not zoom out");
  await clean(opened, "scrub");
});

test("plots show the values of the result at the cursor", async () => {
  const { page: html, csv } = example("heavy_top");
  const opened = await open(desktop, html);
  const { page } = opened;
  await page.locator(".plots input[type=search]").fill("pivot force");
  await page.locator(".tree .chip.whole", { hasText: "force" }).first().click();
  const panes = await g(page, "return g.panes()");
  check(panes[0].channels.includes("pivot.force.z"), `the pane has ${panes[0].channels}`);
  check(/^t = 0 s$/.test(await page.locator(".pane .when").first().textContent()), "no time beside the values");
  for (const row of [0, 137, csv.frames - 1]) {
    await g(page, "g.setTime(a)", csv.rows[row][0]);
    for (const part of ["x", "y", "z"]) {
      const want = csv.at(row, `pivot.force.${part}`);
      near(await g(page, "return g.cursorValue(a)", `pivot.force.${part}`), want, 1e-4 * Math.max(1, Math.abs(want)), `pivot.force.${part}`);
    }
    /* and what is written there for people */
    const now = (await g(page, "return g.panes()"))[0];
    const k = now.channels.indexOf("pivot.force.z");
    const text = Number(now.values[k].replace("−", "-"));
    const want = csv.at(row, "pivot.force.z");
    near(text, want, 1e-3 * Math.max(1, Math.abs(want)), "pivot.force.z as written");
  }
  /* the pointer over a plot shows values there */
  const box = await page.locator(".pane .u-over").first().boundingBox();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 30);
  await settle(page);
  check(/^at t = /.test(await page.locator(".pane .when").first().textContent()), "no values under the pointer");
  await clean(opened, "plots");
});

test("several panes, PNG and CSV", async () => {
  const { page: html, csv } = example("heavy_top");
  const opened = await open(desktop, html);
  const { page } = opened;
  const before = (await g(page, "return g.panes()")).length;
  await page.keyboard.press("n");
  await page.locator(".plots input[type=search]").fill("energy.total");
  await page.locator(".tree .chip.whole", { hasText: "total" }).click();
  const panes = await g(page, "return g.panes()");
  check(panes.length === before + 1 && panes.at(-1).channels[0] === "energy.total", `panes: ${JSON.stringify(panes)}`);
  const pane = page.locator(".pane").last();
  const [table] = await Promise.all([page.waitForEvent("download"), pane.locator('[title="Save as CSV"]').click()]);
  await table.saveAs(at("export.csv"));
  const saved = readCsv(at("export.csv"));
  check(saved.frames === csv.frames, `CSV has ${saved.frames} rows of ${csv.frames}`);
  near(saved.at(500, "energy.total"), csv.at(500, "energy.total"), 1e-3, "energy in the CSV");
  const [picture] = await Promise.all([page.waitForEvent("download"), pane.locator('[title="Save as PNG"]').click()]);
  await picture.saveAs(at("export.png"));
  const bytes = readFileSync(at("export.png"));
  check(bytes.subarray(1, 4).toString() === "PNG" && bytes.length > 4000, "the PNG is empty");
  const [view] = await Promise.all([page.waitForEvent("download"), page.locator('[title^="Save an image"]').click()]);
  await view.saveAs(at("export-view.png"));
  check(readFileSync(at("export-view.png")).length > 10000, "the picture of the scene is empty");
  await pane.locator('[title="Close this pane"]').click();
  check((await g(page, "return g.panes()")).length === before, "a pane does not close");
  await clean(opened);
});

test("play advances, at the speed it says", async () => {
  const { page: html } = example("four_bar");
  const opened = await open(desktop, html);
  const { page } = opened;
  await page.locator(".play").click();
  check(await g(page, "return g.playing"), "does not play");
  await page.waitForFunction(() => window.galpha.frameIntervals().length > 3);
  /* From frame to frame, however slow they come: time advances by what has passed, at most by a second.
   * Whether the page or the test is called first in a frame is not known, so one frame may be missing. */
  const { advanced, passed, longest } = await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame((now) => done([window.galpha.time, now / 1000])));
    window.galpha.setSpeed(0.1);
    window.galpha.setTime(0);
    await frame();
    await frame();
    const [start, first] = await frame();
    let [t, now, passed, longest] = [start, first, 0, 0];
    for (let k = 0; (k < 8 || passed < 1) && passed < 6; ++k) {
      const [next, at] = await frame();
      const step = Math.min(at - now, 1);
      passed += step;
      longest = Math.max(longest, step);
      [t, now] = [next, at];
    }
    return { advanced: t - start, passed, longest };
  });
  near(advanced, 0.1 * passed, 0.1 * longest + 1e-9, `simulated time after ${passed} s`);
  await g(page, "g.setSpeed(1)");
  await page.locator(".play").click();
  const stopped = await g(page, "return g.time");
  await page.waitForTimeout(150);
  check((await g(page, "return g.time")) === stopped, "pause does not stop");
  /* at the end: from the start again when looping, a stop otherwise */
  const [, end] = await g(page, "return g.duration()");
  await g(page, "g.setTime(a)", end - 0.02);
  await page.keyboard.press(" ");
  await page.waitForFunction((e) => window.galpha.time < e / 2, end);
  check(await g(page, "return g.playing"), "looping stops");
  await page.keyboard.press("l");
  await g(page, "g.setTime(a)", end - 0.02);
  await page.waitForFunction(() => !window.galpha.playing);
  near(await g(page, "return g.time"), end, 1e-9, "time at the end");
  await clean(opened);
});

test("keyboard", async () => {
  const { page: html, csv } = example("heavy_top");
  const opened = await open(desktop, html);
  const { page } = opened;
  const time = () => g(page, "return g.time");
  const press = (k) => page.keyboard.press(k);
  await press("ArrowRight");
  near(await time(), csv.rows[1][0], 1e-12, "one frame on");
  await press("Shift+ArrowRight");
  near(await time(), csv.rows[11][0], 1e-12, "ten frames on");
  await press("ArrowLeft");
  near(await time(), csv.rows[10][0], 1e-12, "one frame back");
  await press("End");
  near(await time(), csv.rows.at(-1)[0], 1e-12, "the end");
  await press("Home");
  near(await time(), csv.rows[0][0], 1e-12, "the start");
  await press(" ");
  check(await g(page, "return g.playing"), "space does not play");
  await press(" ");
  check(!(await g(page, "return g.playing")), "space does not pause");
  const speed = () => page.locator(".speed").inputValue();
  const before = Number(await speed());
  await press("ArrowUp");
  check(Number(await speed()) > before, "not faster");
  await press("ArrowDown");
  check(Number(await speed()) === before, "not slower");
  await press("?");
  check(await page.locator("dialog.help").isVisible(), "no help");
  await page.screenshot({ path: at("help.png") });
  await press("Escape");
  check(!(await page.locator("dialog.help").isVisible()), "the help stays");
  await press("d");
  check((await page.evaluate(() => document.documentElement.dataset.theme)) === "dark", "not dark");
  await press("j");
  check((await g(page, 'return g.visible("joints")')) === 0, "joints stay");
  await press("j");
  await press("h");
  check(!(await page.locator(".panel").isVisible()), "the panel stays");
  await press("h");
  for (const k of ["1", "2", "3", "4", "5", "6", "7", "f", "[", "]"]) await press(k);
  await press("/");
  await page.keyboard.type("nutation j d");
  check((await page.locator(".plots input[type=search]").inputValue()) === "nutation j d", "typing is taken for shortcuts");
  check((await g(page, 'return g.visible("joints")')) === 1, "typing switches things");
  await clean(opened, "keyboard");
});

/* ---- pointing */

test("hover names, click selects, channels are live", async () => {
  const { page: html, csv } = example("heavy_top");
  const opened = await open(desktop, html);
  const { page } = opened;
  await g(page, "g.setTime(0.3)");
  await settle(page);
  const canvas = await page.locator(".stage canvas").boundingBox();
  const p = await g(page, 'return g.project("top")');
  await page.mouse.move(canvas.x + p.x, canvas.y + p.y);
  await page.locator(".tip").waitFor({ state: "visible" });
  check(/top/.test(await page.locator(".tip").textContent()), "no name under the pointer");
  await page.mouse.click(canvas.x + p.x, canvas.y + p.y);
  const card = page.locator(".selection");
  check((await card.locator("strong").textContent()) === "top", "a click does not select");
  const cell = () => card.locator("tr", { hasText: "position" }).first().locator("td").first().textContent();
  const read = (s) => Number(s.replace("−", "-"));
  const row = csv.rows.findIndex((r) => Math.abs(r[0] - 0.3) < 1e-9);
  near(read(await cell()), csv.at(row, "top.position.x"), 1e-3, "x on the card");
  await g(page, "g.setTime(0.7)");
  near(read(await cell()), csv.at(csv.rows.findIndex((r) => Math.abs(r[0] - 0.7) < 1e-9), "top.position.x"), 1e-3, "x on the card, later");
  /* following keeps a body where it is in the picture */
  await card.getByText("Follow").click();
  await settle(page);
  await g(page, "g.setTime(0.1)");
  await settle(page);
  const p1 = await g(page, 'return g.project("top")');
  await g(page, "g.setTime(0.5)");
  await settle(page);
  const p2 = await g(page, 'return g.project("top")');
  near(Math.hypot(p1.x - p2.x, p1.y - p2.y), 0, 1, "pixels a followed body moves");
  check((await g(page, 'return g.visible("traces")')) === 1, "a lone body has no trace");
  await page.keyboard.press("Escape");
  check(await card.isHidden(), "the card stays");
  check(await g(page, 'return g.select("pivot")'), "no joint pivot");
  check(/spherical/.test(await card.textContent()), "the joint has no card");
  await clean(opened, "selection");
});

test("arrows, and words where channels are missing", async () => {
  const { page: html } = example("heavy_top", "--set", "output.channels=[top.position, top.rotation, top.velocity, pivot.force]");
  const opened = await open(desktop, html);
  const { page } = opened;
  await g(page, "g.setTime(0.4)");
  await page.keyboard.press("v");
  await page.keyboard.press("r");
  await settle(page);
  check((await g(page, 'return g.visible("arrows")')) === 2, "not two arrows");
  await clean(opened, "arrows");
  const silent = { ...point, joints: [{ name: "j", type: "spherical", a: { body: -1 }, b: { body: 0 } }] };
  const other = await open(desktop, makePage(example("heavy_top").page, at("no-forces.html"), [{ scene: silent, times: [0, 1], channels: {} }]));
  for (const [key, word] of [["v", /no velocities/], ["r", /no forces/]]) {
    await other.page.keyboard.press(key);
    await other.page.locator(".toast").waitFor({ state: "visible" });
    check(word.test(await other.page.locator(".toast").textContent()), `${word} is not said`);
  }
  check((await g(other.page, 'return g.visible("arrows")')) === 0, "arrows out of nothing");
  await clean(other);
});

test("velocities come from positions where they are not stored", async () => {
  const { csv } = example("heavy_top", "--set", "output.channels=[top]");
  const { page: html } = example("heavy_top", "--set", "output.channels=[energy.total]");
  const opened = await open(desktop, html);
  const { page } = opened;
  for (const row of [0, 137, 500, csv.frames - 1]) {
    await g(page, "g.setTime(a)", csv.rows[row][0]);
    for (const k of ["x", "y", "z"]) {
      near(await g(page, "return g.cursorValue(a)", `top.velocity.${k}`), csv.at(row, `top.velocity.${k}`), 0.02, `top.velocity.${k}`);
      near(await g(page, "return g.cursorValue(a)", `top.angular_velocity.${k}`), csv.at(row, `top.angular_velocity.${k}`), 1.5, `top.angular_velocity.${k}`);
    }
  }
  await g(page, "g.setTime(0.5); g.select('top')");
  check(/velocity/.test(await page.locator(".selection").textContent()), "the card has no velocity");
  await page.keyboard.press("v");
  await settle(page);
  check((await g(page, 'return g.visible("arrows")')) === 1, "no arrow");
  await clean(opened, "derived");
});

test("step sizes are stored with --view", async () => {
  const { page: html } = example("heavy_top", "--set", "output.channels=[energy.total]");
  const opened = await open(desktop, html);
  const { page } = opened;
  await page.locator("[data-tab=Run]").click();
  await settle(page);
  check(/step size at output times/.test(await page.locator(".info").textContent()), "step sizes are not those of the solver");
  near(await g(page, 'g.setTime(0.5); return g.cursorValue("solver.step")'), 1e-3, 1e-9, "solver.step");
  await clean(opened, "steps");
});

/* ---- camera and links */

test("links restore time, camera and what is followed", async () => {
  const html = example("heavy_top").page;
  const camera = [3, -2, 1, 0.1, 0.2, -0.3];
  const opened = await open(desktop, html, { hash: `#t=0.3&camera=${camera.join(",")}` });
  const { page } = opened;
  near(await g(page, "return g.time"), 0.3, 1e-12, "time of the link");
  const same = async (p, want, what) => (await g(p, "return g.camera()")).forEach((x, k) => near(x, want[k], 1e-5, `${what}, number ${k}`));
  await same(page, camera, "camera of the link");
  /* as the user leaves it */
  await g(page, "g.setTime(0.7)");
  await page.keyboard.press("1");
  await page.locator(".follow").selectOption("top");
  await settle(page);
  const [now, place] = [await g(page, "return g.time"), await g(page, "return g.camera()")];
  await page.locator('[title^="Copy a link"]').click();
  await page.locator(".toast").waitFor({ state: "visible" });
  const hash = await page.evaluate(() => window.location.hash);
  check(/^#t=0\.7&camera=.*&follow=top$/.test(hash), `the address says ${hash}`);
  const again = await open(desktop, html, { hash });
  near(await g(again.page, "return g.time"), now, 1e-9, "time of the copied link");
  await same(again.page, place, "camera of the copied link");
  check((await g(again.page, "return g.follow()")) === "top", "what was followed is not");
  /* an address that changes in an open page; nonsense changes nothing */
  await again.page.evaluate(() => (window.location.hash = "#t=0.1&camera=top"));
  await again.page.waitForFunction(() => Math.abs(window.galpha.time - 0.1) < 1e-9);
  await again.page.evaluate(() => (window.location.hash = "#t=abc&camera=1,2&follow=nobody"));
  await settle(again.page);
  near(await g(again.page, "return g.time"), 0.1, 1e-9, "time after nonsense");
  await clean(again);
  await clean(opened, "link");
});

test("the camera follows, and fits the motion or the moment", async () => {
  const opened = await open(desktop, example("rolling_disc").page);
  const { page } = opened;
  const far = async () => {
    const c = await g(page, "return g.camera()");
    return Math.hypot(c[0] - c[3], c[1] - c[4], c[2] - c[5]);
  };
  const whole = await far();
  await g(page, "g.setTime(2)");
  await page.locator('[title^="Fit the current frame"]').click();
  await settle(page);
  const near_ = await far();
  check(near_ < 0.6 * whole, `fitting the moment leaves the camera at ${near_} of ${whole}`);
  const box = await page.locator(".stage canvas").boundingBox();
  const p = await g(page, 'return g.project("disc")');
  check(Math.abs(p.x - box.width / 2) < 0.2 * box.width && Math.abs(p.y - box.height / 2) < 0.2 * box.height, `the disc is at ${p.x}, ${p.y}`);
  await page.screenshot({ path: at("fit-moment.png") });
  await page.locator(".follow").selectOption("disc");
  await settle(page);
  const p1 = await g(page, 'return g.project("disc")');
  await g(page, "g.setTime(3.5)");
  await settle(page);
  const p2 = await g(page, 'return g.project("disc")');
  near(Math.hypot(p1.x - p2.x, p1.y - p2.y), 0, 1, "pixels a followed body moves");
  await page.locator(".follow").selectOption("");
  await page.keyboard.press("f");
  await settle(page);
  near(await far(), whole, 0.02 * whole, "distance after fitting the whole motion");
  await clean(opened, "camera");
});

test("planes of point-on-plane hide nothing", async () => {
  const opened = await open(desktop, example("sliding_ladder").page);
  const { page } = opened;
  const at = [2.5, 0.15, 0]; /* on the floor, beside the ladder */
  const drawn = await g(page, "return g.pixel(a)", at);
  await g(page, 'g.option("joints")');
  await settle(page);
  const bare = await g(page, "return g.pixel(a)", at);
  check(drawn.every((x, k) => Math.abs(x - bare[k]) < 6), `the floor is ${drawn}, without joints ${bare}`);
  await clean(opened, "planes");
});

const TRAVEL = `galpha: 1
bodies:
  car: {mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [5, 0, 0]}
  ball: {mass: 0.1, inertia: [0.001, 0.001, 0.001], position: [1, 0, 0], velocity: [5, 0, 0]}
joints:
  rail: {type: prismatic, between: [ground, car], axis: [1, 0, 0]}
  slot: {type: prismatic, between: [car, ball], axis: [1, 0, 0], stiffness: 10}
simulate: {t_end: 10, step: 0.1}
`;

test("the fit of a moment leaves out what stands far behind", async () => {
  const opened = await open(desktop, simulate(write("travel", TRAVEL), "travel").page);
  const { page } = opened;
  await page.keyboard.press("Shift+F");
  await settle(page);
  const far = async () => {
    const c = await g(page, "return g.camera()");
    return Math.hypot(c[0] - c[3], c[1] - c[4], c[2] - c[5]);
  };
  const first = await far();
  await g(page, "g.setTime(8)");
  await settle(page);
  await page.keyboard.press("Shift+F");
  await settle(page);
  near(await far(), first, 0.3 * first, "distance 40 m farther on");
  await clean(opened, "travel");
});

test("what is fitted stays fitted when the window changes, until the camera is moved", async () => {
  const opened = await open(desktop, example("slider_crank").page, { size: { width: 1000, height: 560 } });
  const { page } = opened;
  const names = ["crank_bar", "rod_bar", "piston"];
  const wide = await g(page, "return g.camera()");
  await page.setViewportSize(PHONE);
  await page.waitForFunction((z) => Math.abs(window.galpha.camera()[2] - z) > 1e-3 * z, wide[2]);
  const lost = await outOfSight(page, names);
  check(lost.length === 0, `out of the picture: ${lost.join("; ")}`);
  await page.keyboard.press("]");
  const own = await g(page, "return g.camera()");
  await page.setViewportSize(SMALL);
  await settle(page);
  (await g(page, "return g.camera()")).forEach((x, k) => near(x, own[k], 1e-9, `number ${k} of the camera`));
  await clean(opened, "resized");
});

/* ---- starts of models */

const OPEN = `galpha: 1
name: open
dimension: 2
bodies:
  crank: {mass: 1, inertia: 0.01, position: [0.1, 0], points: {o: [-0.1, 0], a: [0.1, 0]}}
  coupler: {mass: 1, inertia: 0.01, position: [0.35, 0.1], points: {a: [-0.15, 0], b: [0.15, 0]}}
  rocker: {mass: 1, inertia: 0.01, position: [1.9, 0.1], points: {b: [-0.1, 0], o: [0.1, 0]}}
joints:
  o: {type: revolute, between: [[0, 0], crank.o]}
  a: {type: revolute, between: [crank.a, coupler.a]}
  b: {type: revolute, between: [coupler.b, rocker.b]}
  c: {type: revolute, between: [[END, 0], rocker.o]}
`;

test("a model that cannot be assembled shows its gaps", async () => {
  const model = write("open", OPEN.replace("END", "2"));
  let code = 0;
  try {
    galpha("view", model, "-o", at("open.html"));
  } catch (error) {
    code = error.status;
  }
  check(code === 1, `exit code ${code}`);
  const opened = await open(desktop, at("open.html"));
  const { page } = opened;
  const listed = await page.locator(".gap").allTextContents();
  check(listed.length === 3 && /^b1\.3 m apart/.test(listed[0]), `gaps: ${listed}`);
  check(/cannot be assembled/.test(await page.locator(".gaps").textContent()), "the page does not say so");
  check((await g(page, 'return g.body("rocker")')).position[0] === 1.9, "not as written");
  await page.locator(".gap").first().click();
  check((await page.locator(".selection strong").textContent()) === "b", "a gap does not select its joint");
  await page.keyboard.press("Escape");
  /* red in the middle of the largest gap */
  const p = await g(page, "return g.pixel(a)", [1.15, 0.1, 0]);
  check(p && p[0] > 150 && p[1] < 90 && p[2] < 90, `no mark of the gap: ${p}`);
  await clean(opened, "start-open");
});

test("a model that assembly moves shows both positions", async () => {
  const model = write("rough", OPEN.replace("END", "0.6").replace("1.9, 0.1", "0.6, 0.1"));
  galpha("view", model, "-q", "-o", at("rough.html"));
  const opened = await open(desktop, at("rough.html"));
  const { page } = opened;
  check((await page.locator(".runs .run").count()) === 2, "not two positions");
  check(/Moved by assembly/.test(await page.locator(".gaps").textContent()), "the page does not say so");
  const rocker = (await g(page, 'return [g.body("rocker", 0), g.body("rocker", 1)]')).map((b) => b.position[0]);
  check(rocker[1] === 0.6 && Math.abs(rocker[0] - 0.6) > 1e-3, `rocker at ${rocker}`);
  for (const tab of ["Plots", "Model", "Run", "Scene"]) await page.locator(`[data-tab=${tab}]`).click();
  await clean(opened, "start-rough");
});

test("no gears are drawn over given shapes", async () => {
  const frame = (body, x) => ({ body, position: [x, 0, 0], rotation: [1, 0, 0, 0] });
  const wheel = (name, x, shapes) => ({ name, kind: "rigid", mass: 1, inertia: [1, 1, 2], position: [x, 0, 0], rotation: [1, 0, 0, 0], points: [], shapes });
  const round = [{ type: "cylinder", radius: 0.5, length: 0.1, axis: [0, 0, 1] }];
  const scene = (shapes) => ({
    ...point,
    bodies: [wheel("a", 0, shapes), wheel("b", 1.5, [])],
    joints: [
      { name: "p", type: "revolute", a: frame(-1, 0), b: frame(0, 0) },
      { name: "q", type: "revolute", a: frame(-1, 1.5), b: frame(1, 0) },
      { name: "mesh", type: "gear", joints: ["p", "q"], ratio: -0.5 },
    ],
  });
  for (const [shapes, count] of [[[], 2], [round, 1]]) {
    const opened = await open(desktop, makePage(example("heavy_top").page, at(`gears-${count}.html`), [{ scene: scene(shapes), times: [0, 1], channels: {} }]));
    check((await g(opened.page, 'return g.visible("gears")')) === count, `not ${count} gears`);
    await clean(opened, `gears-${count}`);
  }
});

/* ---- compare */

test("two results, one over the other", async () => {
  const a = example("heavy_top");
  const b = example("heavy_top", "--set", "simulate.formulation=index3", "--set", "simulate.start=plain", "--set", "simulate.step=2e-3");
  galpha("view", a.result, b.result, "-q", "-o", at("compare.html"));
  const opened = await open(desktop, at("compare.html"));
  const { page } = opened;
  check((await page.locator(".runs .run").count()) === 2, "no legend of results");
  check((await g(page, 'return g.visible("bodies")')) === 2, "not two bodies");
  const panes = await g(page, "return g.panes()");
  check(panes[0].curves === 2 * panes[0].channels.length, `curves of one result only: ${JSON.stringify(panes[0])}`);
  /* times are matched by value: the second result has half the frames */
  const t = 0.5;
  await g(page, "g.setTime(a)", t);
  for (const [i, r] of [a, b].entries()) {
    const row = r.csv.rows.findIndex((x) => Math.abs(x[0] - t) < 1e-9);
    near(await g(page, 'return g.cursorValue("top.position.z", a)', i), r.csv.at(row, "top.position.z"), 1e-4, `result ${i}`);
    near((await g(page, 'return g.body("top", a)', i)).position[0], r.csv.at(row, "top.position.x"), 1e-4, `body of result ${i}`);
  }
  await page.locator(".runs .run").last().click();
  check((await g(page, 'return g.visible("bodies")')) === 1, "a result cannot be hidden");
  check((await g(page, "return g.panes()"))[0].curves === panes[0].channels.length, "its curves stay");
  await page.locator(".runs .run").last().click();
  await page.locator("[data-tab=Run]").click();
  await settle(page);
  await page.screenshot({ path: at("compare-run.png") });
  await page.locator("[data-tab=Plots]").click();
  await settle(page);
  await clean(opened, "compare");
});

/* ---- panels and sizes */

test("panels: scene, model, run", async () => {
  const opened = await open(desktop, example("suspension_corner").page);
  const { page } = opened;
  await page.locator("[data-tab=Model]").click();
  const text = await page.locator(".model code").textContent();
  check(text.trimEnd() === readFileSync(join(models, "suspension_corner.yaml"), "utf8").trimEnd(), "the model's text is not the file's");
  check((await page.locator(".y-key").count()) > 50 && (await page.locator(".y-comment").count()) > 3, "no colours");
  const sizes = await page.locator(".model").evaluate((e) => [e.parentElement.scrollWidth, e.parentElement.clientWidth]);
  check(sizes[0] <= sizes[1], `lines of the model are cut off: ${sizes}`);
  const copied = await page.evaluate(() => {
    getSelection().selectAllChildren(document.querySelector(".model code"));
    return getSelection().toString();
  });
  check(copied.trimEnd() === text.trimEnd(), "what is copied is not the model's text");
  await page.evaluate(() => getSelection().removeAllRanges());
  await page.screenshot({ path: at("panel-model.png") });
  await page.locator("[data-tab=Run]").click();
  await settle(page);
  const info = await page.locator(".info").textContent();
  for (const word of ["Solver", "method", "auto", "Step size", "Energy balance"]) check(info.includes(word), `the panel does not say ${word}`);
  await page.screenshot({ path: at("panel-run.png") });
  await page.locator("[data-tab=Scene]").click();
  check((await page.locator(".thing").count()) === 16, `${await page.locator(".thing").count()} things of 16`);
  await page.locator(".scene input[type=search]").fill("strut");
  await page.locator(".thing .pick").click();
  check((await page.locator(".selection strong").textContent()) === "strut", "not selected from the list");
  check((await g(page, 'return g.visible("springs")')) === 2, "not two springs");
  await clean(opened, "panel-scene");
});

test("desktop and phone: nothing is cut off", async () => {
  for (const [size, label, model] of [
    [DESKTOP, "desktop", "suspension_corner"],
    [PHONE, "phone", "suspension_corner"],
    [PHONE, "phone", "heavy_top"],
    [{ width: 360, height: 640 }, "small", "slider_crank"],
  ]) {
    const context = await browser.newContext({ viewport: size, hasTouch: size.width < 500, deviceScaleFactor: size.width < 500 ? 2 : 1 });
    const opened = await open(context, example(model).page);
    const { page } = opened;
    for (const tab of ["Plots", "Scene", "Model", "Run"]) {
      await page.locator(`[data-tab=${tab}]`).click();
      await settle(page);
      const cut = await cutOff(page);
      check(cut.length === 0, `${label}, ${tab}: ${cut.join("; ")}`);
      await page.screenshot({ path: at(`${label}-${model}-${tab.toLowerCase()}.png`) });
    }
    await page.locator("[data-tab=Plots]").click();
    await g(page, "const [s, e] = g.duration(); g.setTime(s + 0.4 * (e - s)); g.select(a)", model === "heavy_top" ? "top" : "strut");
    await settle(page);
    const cut = await cutOff(page);
    check(cut.length === 0, `${label}, selected: ${cut.join("; ")}`);
    await page.keyboard.press("?");
    await page.screenshot({ path: at(`${label}-help.png`) });
    await page.keyboard.press("Escape");
    await clean(opened, `${label}-${model}`);
    await context.close();
  }
});

test("light and dark follow the system", async () => {
  for (const scheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: DESKTOP, colorScheme: scheme });
    const opened = await open(context, example("stewart_platform").page);
    check((await opened.page.evaluate(() => document.documentElement.dataset.theme)) === scheme, `not ${scheme}`);
    await g(opened.page, "g.setTime(0.5)");
    await settle(opened.page);
    await clean(opened, `theme-${scheme}`);
    await context.close();
  }
});

/* ---- hostile and broken */

test("HTML in names is text", async () => {
  const bad = "<script>alert(1)</script>";
  const worse = "<img src=x onerror=alert(2)>";
  const model = write(
    "hostile",
    `galpha: 1
name: "</title>${bad}"
gravity: [0, 0, -9.81]
bodies:
  "${bad}": {mass: 1, inertia: [1, 1, 1], position: [0, 0, -1], points: {"${worse}": [0, 0, -1]}}
joints:
  "${worse}": {type: spherical, between: [ground, "${bad}"], at: [0, 0, 0]}
simulate: {t_end: 0.2, step: 1e-2} # </script>${bad}<!--
`,
  );
  const { page: html } = simulate(model, "hostile");
  const opened = await open(desktop, html);
  const { page } = opened;
  check(await g(page, "return g.select(a)", bad), "the body is not there by its name");
  check((await page.locator(".selection strong").textContent()) === bad, "the name is not shown as text");
  for (const tab of ["Scene", "Model", "Run", "Plots"]) await page.locator(`[data-tab=${tab}]`).click();
  check((await page.locator("h1").textContent()) === `</title>${bad}`, "the title is not text");
  check((await page.title()) === `</title>${bad}`, "the window's title is not text");
  check((await page.locator("img").count()) === 0 && (await page.locator("script").count()) === 2, "elements came out of names");
  await page.waitForTimeout(100);
  await clean(opened, "hostile");
});

test("the policy allows nothing but the page's own script and style", async () => {
  const opened = await open(desktop, example("heavy_top").page);
  const policy = await opened.page.evaluate(() => document.querySelector("meta[http-equiv=Content-Security-Policy]")?.content ?? "");
  check(/default-src 'none'/.test(policy) && !/unsafe/.test(policy), `policy: ${policy}`);
  const ran = await opened.page.evaluate(() => {
    const s = document.createElement("script");
    s.textContent = "window.injected = true";
    document.body.append(s);
    return "injected" in window;
  });
  check(!ran, "an added script runs");
  await opened.page.close(); /* with the complaint about that script */
});


test("zero frames, one frame, NaN, missing channels, no scene", async () => {
  const template = example("heavy_top").page;
  const cases = {
    "zero frames": [{ scene: point, times: [], channels: { "b.position": [[], [], []] } }, "no frames", 1],
    "one frame": [{ scene: point, times: [2], channels: { "b.position": [[0], [0], [3]] } }, "rotations", 1],
    NaN: [{ scene: point, times: [0, 1, 2], channels: { "b.position": [[0, NaN, 1], [0, 0, Infinity], [NaN, NaN, NaN]], "energy.total": [[NaN, NaN, NaN]] } }, "invalid positions", 1],
    "missing channels": [{ scene: point, times: [0, 1], channels: {} }, "positions are not in the result", 1],
    "no scene": [{ scene: null, times: [0, 1], channels: { "a.position": [[0, 1], [0, 1], [0, 1]], "c.position": [[2, 1], [0, 1], [0, 1]] } }, "no scene", 2],
    "no bodies": [{ scene: { ...point, bodies: [] }, times: [0, 1], channels: { "energy.total": [[1, 2]] } }, "", 0],
    "unknown kinds": [
      { scene: { ...point, joints: [{ name: "j", type: "magic", a: { body: -1 }, b: { body: 0 } }], forces: [{ name: "f", type: "spell" }], groups: [{ type: "beam" }], bodies: [{ ...point.bodies[0], shapes: [{ type: "teapot" }] }] }, times: [0, 1], channels: { "b.position": [[0, 1], [0, 0], [0, 0]] } },
      "beam",
      1,
    ],
  };
  for (const [name, [run, notice, bodies]] of Object.entries(cases)) {
    const opened = await open(desktop, makePage(template, at(`${name.replaceAll(" ", "-")}.html`), [run]), { size: SMALL });
    const { page } = opened;
    check(await g(page, "return g.ready"), `${name}: ${await g(page, "return g.error")}`);
    check((await g(page, 'return g.visible("bodies")')) === bodies, `${name}: bodies`);
    const said = (await g(page, "return g.notices()")).flat().join("; ");
    check(said.includes(notice), `${name}: no notice of it in: ${said}`);
    await page.keyboard.press(" ");
    for (const k of ["ArrowRight", "End", "Home", "v", "r", "t", "f", "7"]) await page.keyboard.press(k);
    await g(page, "g.setTime(0.5); g.setTime(NaN); g.setTime(1e9); g.select('b')");
    for (const tab of ["Run", "Model", "Scene", "Plots"]) await page.locator(`[data-tab=${tab}]`).click();
    await settle(page);
    await clean(opened, `odd-${name.replaceAll(" ", "-")}`);
  }
});

test("damaged pages say so", async () => {
  const template = example("heavy_top").page;
  const run = { scene: point, times: [0, 1], channels: {} };
  for (const [name, change] of Object.entries({ header: { header: "{" }, format: { header: '{"format": 99, "columns": [], "runs": []}' }, data: { data: "AAAA" }, short: { data: "eJwDAAAAAAE=" }, empty: { header: '{"format": 1, "columns": [], "runs": []}' } })) {
    const opened = await open(desktop, makePage(template, at(`damaged-${name}.html`), [run], change));
    const error = await g(opened.page, "return g.error");
    check(error && (await opened.page.locator(".failure").isVisible()), `${name}: no message`);
    await opened.page.screenshot({ path: at(`damaged-${name}.png`) });
    release(opened);
  }
});

test("without WebGL plots still work", async () => {
  const other = await chromium.launch({ executablePath: browserFile, args: ["--no-sandbox", "--disable-3d-apis", "--disable-gpu"] });
  const context = await other.newContext({ viewport: DESKTOP });
  const { csv, page: html } = example("heavy_top");
  const opened = await open(context, html);
  check(/WebGL/.test(await opened.page.locator(".no-webgl").textContent()), "no message");
  await g(opened.page, "g.setTime(a)", csv.rows[100][0]);
  near(await g(opened.page, 'return g.cursorValue("top.position.x")'), csv.at(100, "top.position.x"), 1e-4, "value without WebGL");
  check((await opened.page.locator(".uplot").count()) > 0, "no plots");
  await opened.page.screenshot({ path: at("no-webgl.png") });
  const problems = opened.problems.filter((p) => !/WebGL/i.test(p));
  check(problems.length === 0, problems.join("; "));
  await other.close();
});

/* ---- shapes and glyphs */

test("shapes of every kind", async () => {
  const triangles = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0]).buffer).toString("base64");
  const shapes = [
    { type: "box", size: [1, 0.6, 0.4], position: [0, 0, 0], rotation: [1, 0, 0, 0], color: "#cc3344" },
    { type: "cylinder", radius: 0.3, length: 1, axis: [1, 0, 0], position: [0, 0, 0], rotation: [1, 0, 0, 0] },
    { type: "sphere", radius: 0.5, position: [0, 0, 0], rotation: [1, 0, 0, 0] },
    { type: "capsule", radius: 0.2, length: 0.8, axis: [0, 0, 1], position: [0, 0, 0], rotation: [1, 0, 0, 0] },
    { type: "mesh", triangles, position: [0, 0, 0], rotation: [1, 0, 0, 0], scale: 0.8 },
  ];
  const bodies = shapes.map((s, i) => ({ ...point.bodies[0], name: s.type, position: [1.6 * i, 0, 0], shapes: [s] }));
  const channels = Object.fromEntries(bodies.map((b) => [`${b.name}.position`, [[b.position[0], b.position[0]], [0, 0], [0, 0.3]]]));
  const opened = await open(desktop, makePage(example("heavy_top").page, at("shapes.html"), [{ scene: { ...point, bodies }, times: [0, 1], channels }]));
  const { page } = opened;
  const canvas = await page.locator(".stage canvas").boundingBox();
  for (const s of shapes) {
    await g(page, "return g.select(a)", s.type);
    const p = await g(page, "return g.project(a)", s.type);
    /* the mesh's corner is at the centre: point at its inside */
    await page.mouse.click(canvas.x + p.x + (s.type === "mesh" ? 4 : 0), canvas.y + p.y - (s.type === "mesh" ? 6 : 0));
    check((await page.locator(".selection strong").textContent()) === s.type, `a click on the ${s.type} misses it`);
  }
  await page.keyboard.press("Escape");
  const part = await g(page, "return g.covered()");
  check(part > 0.01, `shapes cover ${part}`);
  await clean(opened, "shapes");
});

/* ---- speed */

const median = (a) => [...a].sort((x, y) => x - y)[a.length >> 1] ?? NaN;
for (const [n, frames, limit] of [
  [1000, 100, 16],
  all ? [10000, 10, 100] : [4000, 10, 40] /* a crowd, drawn with fewer faces */,
])
  test(`${n} bodies`, async () => {
    const opened = await open(desktop, makePage(example("heavy_top").page, at(`bodies-${n}.html`), [chain(n, frames)]), { size: SMALL });
    const { page } = opened;
    check((await g(page, 'return g.visible("bodies")')) === n, "not all are drawn");
    await g(page, "g.play(true)");
    await page.waitForFunction(() => window.galpha.frameIntervals().length >= 6);
    await g(page, "g.play(false)");
    const script = median((await g(page, "return g.frameTimes()")).slice(3));
    const interval = median(await g(page, "return g.frameIntervals()"));
    const info = await g(page, "return g.drawInfo()");
    console.log(`    ${n} bodies: ${script.toFixed(2)} ms of script for a frame, ${interval.toFixed(1)} ms between frames drawn in software, ${info.calls} draw calls, ${info.triangles} triangles`);
    /* what a graphics card takes is not known here; the script's part of a frame is */
    check(script < limit, `the script takes ${script} ms for a frame, more than ${limit}`);
    const start = performance.now();
    const p = await g(page, 'return g.project("b7")');
    const canvas = await page.locator(".stage canvas").boundingBox();
    await page.mouse.move(canvas.x + p.x, canvas.y + p.y);
    await page.locator(".tip").waitFor({ state: "visible" });
    console.log(`    name under the pointer after ${(performance.now() - start).toFixed(0)} ms`);
    check((await g(page, "return g.covered()")) > 0.01, "blank");
    await clean(opened, `bodies-${n}`);
  });

/* ---- run them */

let failed = 0;
let done = 0;
for (const [k, { name, run }] of tests.entries()) {
  if (!only.test(name) || k % shards !== shard) continue;
  const start = performance.now();
  try {
    await run();
    console.log(`ok      ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    ++failed;
    await desktop.pages().at(-1)?.screenshot({ path: at(`failed-${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`) }).catch(() => undefined);
    await abandon(desktop);
    console.log(`FAILED  ${name}: ${error instanceof Failure ? error.message : (error.stderr?.toString() || error.stack)}`);
  }
  ++done;
}
await browser.close();
console.log(failed ? `${failed} of ${done} failed` : `all ${done} passed; pictures in ${out}`);
process.exit(failed ? 1 : 0);
