#!/usr/bin/env bash
# Runs the tests in a separate build with coverage, and prints the line coverage of each target.
#
#   Tests/coverage.sh [LEAST TARGET…]
#
# Exits with 1 if one of the targets is below LEAST percent or a test failed. Programs started by
# tests count too, if they end normally: one that is killed or replaced with exec does not.
set -uo pipefail

cd "$(dirname "$0")/.."
export SWIFT_BACKTRACE=enable=no ZG_INSTRUMENTED=1
least=${1:-0}
shift || true
scratch=.build/coverage

# The toolchain's own tools, because the distribution's are older and cannot read its profiles.
tools=$(dirname "$(readlink -f "$(command -v swift)")")
# They are built without zlib and cannot read compressed names.
plain_names=-enable-name-compression=false
swift build --build-tests --enable-code-coverage --scratch-path "$scratch" \
    -Xswiftc -Xllvm -Xswiftc "$plain_names" -Xcc -mllvm -Xcc "$plain_names" \
    --explicit-target-dependency-import-check error || exit 1
status=0
tests=("$scratch"/debug/*PackageTests.xctest)
# Processes of one program append to one file in turn. Four files per program reduce waiting.
rm -f -- "$scratch"/lines-*.profraw
export LLVM_PROFILE_FILE=$PWD/$scratch/lines-%4m.profraw
excluded=()
while read -r which suite _; do
    [[ $which == '*' || $which == coverage ]] && excluded+=("$suite")
done < <(grep -v '^#' Tests/instrumented-excluded.txt)
skip=$(IFS='|'; echo "${excluded[*]}")
Tests/run-all "${tests[0]}" --skip "$skip" || status=1
unset LLVM_PROFILE_FILE
"$tools/llvm-profdata" merge --sparse "$scratch"/lines-*.profraw -o "$scratch/tests.profdata" || exit 1
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
