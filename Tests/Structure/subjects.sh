#!/usr/bin/env bash
# Refuses a new commit whose subject is longer than 72 characters.
#
#   Tests/Structure/subjects.sh
#
# Commits are new if no remote branch has them and they are later than the base below, up to which
# subjects were longer. Without a repository there is nothing to check.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
base=${ZG_ENV_SUBJECTS_BASE:-b3ae739783764b0121043567fa0bece0ac183db8}
[[ -e .git && -n $(type -P git) ]] || exit 0
git rev-parse --quiet --verify HEAD >/dev/null || exit 0

commits=(HEAD --not --remotes "$base")
if ! git cat-file -e "$base^{commit}" 2>/dev/null; then
    # In a shallow clone or another history, only the newest commit is certainly new.
    commits=(--max-count=1 HEAD)
fi
export LC_ALL=C.UTF-8
status=0
while IFS= read -r line; do
    subject=${line#* }
    [[ ${#subject} -gt 72 ]] || continue
    status=1
    echo "subjects: ${#subject} characters, at most 72: $line" >&2
done < <(git log --no-merges --format='%h %s' "${commits[@]}")
[[ $status -eq 0 ]] || echo "subjects: change them with git commit --amend or git rebase -i" >&2
exit "$status"
