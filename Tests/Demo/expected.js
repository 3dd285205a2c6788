// Makes real-world.json, the values that real-world.env has for the programs of its users.
//
//   node expected.js
//
// The expression and the steps around it are those of the classic reader of motdotla/dotenv
// (BSD-2-Clause), held against its own answers in every case of the conformance tests. So the demo
// compares with what programs see, not with what zg-env believes.

const fs = require("node:fs");
const path = require("node:path");

const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;

function classic(text) {
  const values = {};
  for (const match of text.replace(/\r\n?/gm, "\n").matchAll(LINE)) {
    const raw = (match[2] || "").trim();
    let value = raw.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
    if (raw[0] === '"') value = value.replace(/\\n/g, "\n").replace(/\\r/g, "\r");
    values[match[1]] = value;
  }
  return values;
}

const text = fs.readFileSync(path.join(__dirname, "real-world.env"), "utf8");
const values = JSON.stringify(classic(text), null, 2);
fs.writeFileSync(path.join(__dirname, "real-world.json"), values + "\n");
