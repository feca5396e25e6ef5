/* The truth: what the program wrote as comma-separated values. */
import { readFileSync } from "node:fs";

function fields(line) {
  const out = [];
  const rule = /("(?:[^"]|"")*"|[^,]*)(,|$)/y;
  for (;;) {
    const m = rule.exec(line);
    out.push(m[1].startsWith('"') ? m[1].slice(1, -1).replaceAll('""', '"') : m[1]);
    if (m[2] === "") return out;
  }
}

export function readCsv(file) {
  const lines = readFileSync(file, "utf8").split(/\r?\n/).filter(Boolean);
  const names = fields(lines[0]);
  const rows = lines.slice(1).map((l) => l.split(",").map(Number));
  const index = new Map(names.map((n, i) => [n, i]));
  return {
    names,
    rows,
    frames: rows.length,
    has: (name) => index.has(name),
    at: (row, name) => rows[row][index.get(name)],
  };
}
