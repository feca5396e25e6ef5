/* The model file with colours. Very long ones get none beyond a limit. A line that is broken goes on to
 * the right of where it began. */
import { h } from "./dom";
import { tokens } from "./yaml";

const COLOURED_LINES = 4000;

export function modelText(text: string): HTMLElement {
  const code = h("code", { class: "yaml" });
  const lines = text.replace(/\n$/, "").split("\n");
  const part = document.createDocumentFragment();
  lines.slice(0, COLOURED_LINES).forEach((line, i) => {
    const row = h("span", { class: "line", "data-line": String(i + 1) });
    row.style.setProperty("--indent", `${Math.min(line.length - line.trimStart().length, 12) + 2}ch`);
    for (const t of tokens(line)) row.append(t.kind === "plain" ? t.text : h("span", { class: `y-${t.kind}`, text: t.text }));
    row.append("\n");
    part.append(row);
  });
  if (lines.length > COLOURED_LINES) part.append(lines.slice(COLOURED_LINES).join("\n"));
  code.append(part);
  return h("pre", { class: "model", tabindex: "0" }, code);
}
