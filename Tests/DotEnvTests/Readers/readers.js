// What real readers make of `.env` texts, for programs and tests that compare with them.
//
//   node readers.js TEXTS
//
// TEXTS is a file of texts with a NUL after each. Writes a line of JSON for each: the pairs that
// motdotla/dotenv gives, then those of Node and of bash, null where they are the same. Needs Node 20.12
// (for util.parseEnv) and bash. The expression below is that of the classic reader of motdotla/dotenv
// (BSD-2-Clause), the reference for the default dialect.

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { parseEnv } = require("node:util");

const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;

function classic(text) {
  const pairs = [];
  for (const match of text.replace(/\r\n?/gm, "\n").matchAll(LINE)) {
    const raw = (match[2] || "").trim();
    let value = raw.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
    if (raw[0] === '"') value = value.replace(/\\n/g, "\n").replace(/\\r/g, "\r");
    pairs.push([match[1], value]);
  }
  return pairs;
}

// Each text is sourced by a shell of its own, which starts without variables and finds no programs.
const BASH = `cd "$1" || exit 1
for file in text*; do
  (PATH=/nonexistent; set -a; . "./$file" >/dev/null 2>&1 </dev/null; exec /usr/bin/env -0) >"of-$file" 2>/dev/null
done`;

function bash(texts) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "texts-"));
  try {
    texts.forEach((text, index) => fs.writeFileSync(path.join(directory, `text${index}`), text));
    const result = spawnSync("/bin/bash", ["--norc", "-c", BASH, "sh", directory], { env: {} });
    if (result.error) throw result.error;
    return texts.map((_, index) =>
      fs.readFileSync(path.join(directory, `of-text${index}`), "utf8")
        .split("\0").filter((entry) => entry)
        .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)])
        .filter(([name]) => !["PATH", "PWD", "OLDPWD", "SHLVL", "_"].includes(name)));
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

const node = (text) => Object.entries(parseEnv(text));
const canonical = (pairs) => JSON.stringify([...new Map(pairs)].sort());
const withoutPrototype = (pairs) => pairs.filter(([name]) => name !== "__proto__");

module.exports = { classic, node, bash, canonical, withoutPrototype };

if (require.main === module) {
  const texts = fs.readFileSync(process.argv[2], "utf8").split("\0").slice(0, -1);
  const shell = bash(texts);
  texts.forEach((text, index) => {
    const reference = withoutPrototype(classic(text));
    const others = [node(text), shell[index]].map((pairs) =>
      canonical(pairs) === canonical(reference) ? null : pairs);
    console.log(JSON.stringify([reference, ...others]));
  });
}
