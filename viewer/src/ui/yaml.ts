/* Colours for model files: a tokenizer of lines that knows as much YAML as helps reading. It never
 * changes the text: the tokens of a line joined are the line. */

export type TokenKind = "comment" | "key" | "string" | "number" | "word" | "mark" | "name" | "plain";
export interface Token {
  kind: TokenKind;
  text: string;
}

const RULES: [TokenKind, RegExp][] = [
  ["comment", /#.*/y],
  ["string", /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/y],
  ["key", /[^\s#"'{}[\],:&*][^#"'{}[\],:]*?(?=\s*:(?:\s|$))/y],
  ["name", /[&*][^\s,\]}]+/y],
  ["number", /[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?=[\s,\]}#]|$)/y],
  ["word", /(?:true|false|null|yes|no|~)(?=[\s,\]}#]|$)/y],
  ["mark", /[{}[\],:|>]|-(?=\s|$)/y],
  ["plain", /\s+/y],
  ["plain", /[^\s{}[\],#:]+/y],
  ["plain", /./y],
];

export function tokens(line: string): Token[] {
  const out: Token[] = [];
  let at = 0;
  while (at < line.length) {
    for (const [kind, rule] of RULES) {
      /* a hash opens a comment only at the start or behind a space */
      if (kind === "comment" && at > 0 && !/\s/.test(line[at - 1]!)) continue;
      rule.lastIndex = at;
      const m = rule.exec(line);
      if (!m || m[0].length === 0) continue;
      const last = out[out.length - 1];
      if (last && last.kind === kind && kind === "plain") last.text += m[0];
      else out.push({ kind, text: m[0] });
      at += m[0].length;
      break;
    }
  }
  return out;
}
