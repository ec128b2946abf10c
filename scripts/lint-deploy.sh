#!/bin/sh
# Checks the files of installations with the parsers of the programs that read them, if they have changed since they were
# last checked: the first time that compiles Helm and the types of Kubernetes, which takes minutes. What was checked is
# known by its hash (internal/tools/deploycheck/checked.txt), which this script writes and people commit.
#
#   scripts/lint-deploy.sh [--always]
set -eu

cd "$(dirname "$0")/.."
checked=internal/tools/deploycheck/checked.txt

# Only the version of Go in go.mod is of interest.
now=$({
    grep '^go ' go.mod
    git ls-files Dockerfile .dockerignore .goreleaser.yaml deploy internal/tools/deploycheck | grep -vxF "$checked" | while read -r file; do
        echo "$file"
        cat "$file"
    done
} | git hash-object --stdin)

if [ "${1:-}" != --always ] && [ "$now" = "$(cat "$checked" 2>/dev/null)" ]; then
    echo "lint-deploy: nothing to do: the files have not changed since they were checked"
    exit 0
fi

echo "==> checking the files of installations (the first time downloads and compiles Helm)"
(cd internal/tools/deploycheck && go vet ./... && go test ./...)
if [ "$now" != "$(cat "$checked" 2>/dev/null)" ]; then
    echo "$now" >"$checked"
    echo "lint-deploy: the files are correct; commit $checked"
fi
