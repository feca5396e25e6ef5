/* Frames of a page of `galpha view` while it plays, for tools/make_gallery.
 *
 *     node gallery_motion.mjs NODE_MODULES CHROMIUM PAGE FOLDER FROM TO COUNT
 *
 * COUNT pictures 000.png, 001.png, ... at the times FROM, FROM + (TO - FROM)/COUNT, ...; TO itself is
 * the next round of a loop.
 */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, executablePath, file, folder, from, to, count] = process.argv.slice(2);
const require = createRequire(path.join(modules, "here.js"));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const page = await browser.newPage({ viewport: { width: 960, height: 540 }, colorScheme: "light" });
await page.goto(pathToFileURL(file).href);
await page.waitForFunction(() => window.galpha && (window.galpha.ready || window.galpha.error));
const error = await page.evaluate(() => window.galpha.error);
if (error) throw new Error(`${file}: ${error}`);
for (let k = 0; k < Number(count); ++k) {
  const t = Number(from) + (k / Number(count)) * (Number(to) - Number(from));
  await page.evaluate(
    (time) =>
      new Promise((done) => {
        window.galpha.setTime(time);
        requestAnimationFrame(() => requestAnimationFrame(done));
      }),
    t,
  );
  await page.screenshot({ path: path.join(folder, `${String(k).padStart(3, "0")}.png`) });
}
await browser.close();
