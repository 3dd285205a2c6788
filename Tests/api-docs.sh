#!/usr/bin/env bash
# Builds the libraries' documentation with DocC from the last debug build. Warnings are errors, for
# example broken links or documented parameters that do not exist. The exception is an undocumented
# parameter beside documented ones: a name that says everything needs no sentence.
#
#   Tests/api-docs.sh DIRECTORY
set -euo pipefail

cd "$(dirname "$0")/.."
[[ $# -eq 1 ]] || { echo "usage: api-docs.sh DIRECTORY" >&2; exit 2; }
output=$1
modules=.build/debug
[[ -d $modules/Modules ]] || { echo "api-docs: build first: swift build --build-tests" >&2; exit 2; }
# The toolchain's own, next to its compiler.
docc=$(dirname "$(readlink -f "$(command -v swift)")")/docc

graphs=$(mktemp -d "${TMPDIR:-/tmp}/zg-env-api-XXXXXX")
trap 'rm -rf -- "$graphs"' EXIT
arguments=(-target "$(uname -m)-unknown-linux-gnu" -I "$modules/Modules"
    -minimum-access-level package -skip-synthesized-members -output-dir "$graphs")
for map in Sources/*/module.modulemap "$modules"/*.build/module.modulemap; do
    arguments+=(-Xcc "-fmodule-map-file=$map")
done
for headers in libsecret-1 glib-2.0 "../lib/$(uname -m)-linux-gnu/glib-2.0/include"; do
    arguments+=(-Xcc "-I/usr/include/$headers")
done

# Every library: a folder of Sources with Swift code that is not a program.
for folder in Sources/*/; do
    module=$(basename "$folder")
    [[ -n $(find "$folder" -name '*.swift' -print -quit) && $module != zg-env* ]] || continue
    swift symbolgraph-extract -module-name "$module" "${arguments[@]}"
done

"$docc" convert --additional-symbol-graph-dir "$graphs" --fallback-display-name zg-env \
    --fallback-bundle-identifier zg-env --output-path "$output" >"$graphs/log" 2>&1 || {
    cat "$graphs/log"
    exit 1
}
if grep -E '^(warning|error):' "$graphs/log" | grep -vqE "^warning: Parameter '.*' is missing documentation$"; then
    grep -A6 -E '^(warning|error):' "$graphs/log" |
        awk '/^(warning|error):/ { shown = !/is missing documentation$/ } shown'
    exit 1
fi
echo "api-docs: $(find "$output/data" -name '*.json' | wc -l) pages in $output"
