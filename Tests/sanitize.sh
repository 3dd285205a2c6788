#!/usr/bin/env bash
# Builds everything with a sanitizer and runs the tests.
#
#   Tests/sanitize.sh address|thread [SUITES, as a regular expression]
set -euo pipefail

cd "$(dirname "$0")/.."
export SWIFT_BACKTRACE=enable=no ZG_INSTRUMENTED=1
sanitizer=$1
suites=${2:-}
scratch=.build/$sanitizer

# libsodium wipes and frees guarded memory, and processes end without freeing the rest.
export ASAN_OPTIONS=detect_leaks=0:allow_user_segv_handler=1
export TSAN_OPTIONS=halt_on_error=0:exitcode=66

excluded=()
while read -r which suite _; do
    [[ $which == '*' || $which == "$sanitizer" ]] && excluded+=("$suite")
done < <(grep -v '^#' Tests/instrumented-excluded.txt)

swift build --build-tests --sanitize="$sanitizer" --scratch-path "$scratch" \
    --explicit-target-dependency-import-check error
skip=$(IFS='|'; echo "${excluded[*]}")
tests=("$scratch"/debug/*PackageTests.xctest)
if [[ -z $suites ]]; then
    exec Tests/run-all "${tests[0]}" ${skip:+--skip "$skip"}
fi
exec "${tests[0]}" --testing-library swift-testing ${skip:+--skip "$skip"} --filter "$suites"
