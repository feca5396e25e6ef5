/* Bundles the page into one HTML file: script and style stand in it, and a content security policy
 * names them by their hashes, so that nothing else on the page can run or be fetched. */
import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

const PLACE = "<!-- galpha:data -->";
const TITLE = "<title>galpha</title>";

const hash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

const count = (text: string, part: string): number => text.split(part).length - 1;

function inline(): Plugin {
  return {
    name: "galpha-inline",
    enforce: "post",
    generateBundle(_options, bundle) {
      let html = "";
      let script = "";
      let style = "";
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") script += item.code;
        else if (name.endsWith(".css")) style += String(item.source);
        else if (name.endsWith(".html")) html = String(item.source);
        delete bundle[name];
      }
      /* an element's text ends at the first end tag, wherever it stands in the code */
      script = script.replace(/<\/script/gi, "<\\/script").trim();
      style = style.trim();
      if (/<!--/.test(script)) throw new Error("the script contains an HTML comment");
      if (/<\/style/i.test(style)) throw new Error("the style ends its own element");
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const page = html
        .replace(/\s*<script type="module"[^>]*src=[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace("<!-- policy -->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace("<!-- style -->", () => `<style>${style}</style>`)
        .replace("<!-- script -->", () => `<script type="module">${script}</script>`);
      for (const part of [PLACE, TITLE])
        if (count(page, part) !== 1) throw new Error(`${part} must stand in the page once`);
      /* the page is embedded in a program as characters */
      const odd = /[^\t\n -~]/.exec(page);
      if (odd) throw new Error(`the page is not plain ASCII: ${JSON.stringify(odd[0])} at ${odd.index}`);
      if (/(?:src|href)="(?!data:)/.test(html.replace(/<script[^>]*>|<link[^>]*>/g, "")))
        throw new Error("the page refers to another file");
      this.emitFile({ type: "asset", fileName: "index.html", source: page });
    },
  };
}

export default defineConfig({
  build: {
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 1e8,
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
  },
  esbuild: { charset: "ascii" },
  plugins: [inline()],
  test: { include: ["test/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
