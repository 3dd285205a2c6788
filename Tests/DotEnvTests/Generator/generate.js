// Writes random-texts.json: random .env texts with what real readers make of them.
//
//   node generate.js /path/to/python /path/to/dotenv-expand > random-texts.json
//
// Needs what readers.js needs, a Python that has python-dotenv 1.2, and dotenv-expand 10.0.0, which is what
// @next/env 15 has in it.
// Each item is [text, motdotla, node, python, bash, next]; a reader that gives the same as motdotla has
// null, and one that ends with an error and takes nothing has false. Pairs are [name, value]; a null value
// is a name alone. The last pair of a name counts.

const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { classic, node, bash, canonical, withoutPrototype } = require("../Readers/readers.js");

const PYTHON = `
import io, json, logging, os, sys
from dotenv.main import DotEnv
logging.disable(logging.CRITICAL)
os.environ.clear()
for text in json.load(sys.stdin):
    text = text.replace("\\r\\n", "\\n").replace("\\r", "\\n")
    values = DotEnv(None, stream=io.StringIO(text, newline=""), interpolate=True).dict()
    print(json.dumps(list(values.items())))
`;

let state = 20240607;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
const pick = (list) => list[Math.floor(random() * list.length)];

const WILD = [
  "A", "B", "=", "=", "=", "\n", "\n", "\n", " ", " ", '"', '"', "'", "'", "`", "#", "\\", "\\n",
  "\\r", "n", "x", "export ", "export", "export\t", ":", ": ", "\t", "\r", "\r\n", "${A}", "$", ".",
  "-", "\u2028", "\u2029", "\u00a0", "\ufeff", "\u3000", "é", '\\"', "\\'", "\\`", "\\\\", "A=",
  'B="', "C='", "D=`", "\nA=", '\nB="', '"\n', "'\n", " # c", "#c", "\u0085", "\v", "\f", "\x1c",
  "\u200b", "😀", "1", "_", "{", "}", ":-", "E= ", "export A=", "export\nF=",
];
const QUOTES = ['"', "\\", '\\"', "\n", 'A="', "=", " ", "#", "'", "\\'", "`", "\\`", "A='", "B=`"];
const LINES = [
  "A=1\n", 'B="x"\n', "C='y z'\n", "# note\n", "\n", "  # ind\n", "export D=2\n", "E=${A}\n",
  'F="a\\nb"\n', "G=x#y\n", "H = 3\n", 'I="multi\nline"\n', "J=\n", "K=a b c\n", 'L="q" # c\n',
  "noeq\n", "M: 4\n", 'N="un\n', "O='un\n", "P=`b`\n", "Q=it's\n", "  R=5\n", "S=5  \n",
  'T="\\t"\n', 'U="x"y\n', "V=x # it's\n", "a.b=1\n", 'W="\\\\"\n', "__proto__=1\n",
];

const texts = [];
while (texts.length < 4000) {
  const tokens = pick([WILD, WILD, QUOTES, LINES, LINES]);
  let text = "";
  for (let count = 1 + Math.floor(random() * 14); count > 0; count--) {
    text += pick(tokens);
    if (random() < 0.05) text += pick(WILD);
  }
  texts.push(text);
}

const python = spawnSync(process.argv[2], ["-c", PYTHON], {
  input: JSON.stringify(texts),
  maxBuffer: 1 << 28,
});
if (python.status !== 0) throw new Error(python.stderr.toString());
const pythonPairs = python.stdout.toString().trim().split("\n").map((line) => JSON.parse(line));

const bashPairs = bash(texts);

const { expand } = require(path.resolve(process.argv[3]));
function next(pairs) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  try {
    return Object.entries(expand({ parsed: Object.fromEntries(withoutPrototype(pairs)) }).parsed);
  } catch {
    return false;
  }
}

console.log("[");
texts.forEach((text, index) => {
  const reference = withoutPrototype(classic(text));
  const others = [
    node(text), pythonPairs[index], bashPairs[index], next(reference),
  ].map((pairs) => (pairs && canonical(pairs) === canonical(reference) ? null : pairs));
  const end = index + 1 < texts.length ? "," : "";
  console.log(JSON.stringify([text, reference, ...others]) + end);
});
console.log("]");
