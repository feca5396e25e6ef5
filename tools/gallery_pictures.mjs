/* Pictures of pages of `galpha view`, for tools/make_gallery.
 *
 *     node gallery_pictures.mjs NODE_MODULES CHROMIUM [PAGE PART FILE.jpg]...
 *
 * PART of the run is over when the picture is taken, of the bodies alone: no buttons, no panels.
 */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, executablePath, ...shots] = process.argv.slice(2);
const require = createRequire(path.join(modules, "here.js"));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const context = await browser.newContext({
  viewport: { width: 640, height: 420 },
  colorScheme: "light",
  bypassCSP: true,
});
const bare = `.bar, .panel, .splitter, .transport, .view-tools, .scale, .toast, .tip, .runs, .card
  { display: none !important }
  #app, #app > * { display: block !important; width: 100vw !important; height: 100vh !important; }
  .stage { position: fixed !important; inset: 0; width: 100vw !important; height: 100vh !important; }`;

for (let k = 0; k < shots.length; k += 3) {
  const [file, part, picture] = shots.slice(k, k + 3);
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.galpha && (window.galpha.ready || window.galpha.error));
  const error = await page.evaluate(() => window.galpha.error);
  if (error) throw new Error(`${file}: ${error}`);
  await page.addStyleTag({ content: bare });
  await page.evaluate(() => window.dispatchEvent(new Event("resize")));
  await page.waitForTimeout(300);
  await page.evaluate((p) => {
    const [start, end] = window.galpha.duration();
    window.galpha.play(false);
    window.galpha.setTime(start + p * (end - start));
  }, Number(part));
  await page.keyboard.press("f"); /* show all, in the size it has now */
  await page.waitForTimeout(500);
  await page.screenshot({ path: picture, type: "jpeg", quality: 80 });
  await page.close();
}
await browser.close();
