#!/usr/bin/env bash
# Runs the tests in a build of their own that counts which lines run, and prints how many of each
# target that were.
#
#   Tests/coverage.sh [LEAST TARGET…]
#
# Ends with status 1 where one of the targets is below LEAST percent, or a test failed. Tests of
# commands are left out: the programs they start would write their counts into the directories whose
# content is compared. So what is shown of ZGEnvCommands is less than what tests reach.
set -uo pipefail

cd "$(dirname "$0")/.."
export SWIFT_BACKTRACE=enable=no
least=${1:-0}
shift || true
scratch=.build/coverage

# The toolchain's own tools: those of the distribution are older and do not read its profiles.
tools=$(dirname "$(readlink -f "$(command -v swift)")")
# They are built without zlib and cannot read names that were packed with it.
plain_names=-enable-name-compression=false
swift build --build-tests --enable-code-coverage --scratch-path "$scratch" \
    -Xswiftc -Xllvm -Xswiftc "$plain_names" -Xcc -mllvm -Xcc "$plain_names" \
    --explicit-target-dependency-import-check error || exit 1
status=0
tests=("$scratch"/debug/*PackageTests.xctest)
# By process: the programs that tests start are built to count too, and must not write into the same file.
rm -f -- "$scratch"/tests-*.profraw
LLVM_PROFILE_FILE=$PWD/$scratch/tests-%p.profraw "${tests[0]}" --testing-library swift-testing \
    --skip '^(CommandLineTests|DemoTests)\.' >"$scratch/tests.log" 2>&1 &
process=$!
wait "$process" || status=1
profile=$scratch/tests-$process.profraw
grep -E '✘|Test run' "$scratch/tests.log" | tail -20
"$tools/llvm-profdata" merge --sparse "$profile" -o "$scratch/tests.profdata" || exit 1
"$tools/llvm-cov" export -summary-only -instr-profile "$scratch/tests.profdata" "${tests[0]}" \
    >"$scratch/summary.json" || exit 1

python3 - "$scratch/summary.json" "$least" "$@" <<'PYTHON' || status=1
import collections, json, sys

summary, least, wanted = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
lines = collections.defaultdict(lambda: [0, 0])
for file in json.load(open(summary))["data"][0]["files"]:
    name = file["filename"]
    if "/Sources/" not in name:
        continue
    target = name.split("/Sources/", 1)[1].split("/")[0]
    count = file["summary"]["lines"]
    lines[target][0] += count["covered"]
    lines[target][1] += count["count"]
failed = []
for target, (covered, count) in sorted(lines.items()):
    share = 100 * covered / count
    print(f"{target:24} {covered:7} of {count:7} lines {share:6.1f} %")
    if target in wanted and share < least:
        failed.append(target)
missing = [target for target in wanted if target not in lines]
if missing or failed:
    sys.exit(f"coverage: below {least:g} %: {', '.join(failed + missing)}")
PYTHON
exit "$status"
