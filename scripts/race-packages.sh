#!/bin/sh
# Lists the packages for the race detector: those whose own code starts goroutines or uses sync, and that have tests. With
# --others, lists all others. The end-to-end tests share memory too, and take too long with the detector for every run:
# make test-race-all has them.
set -eu

cd "$(dirname "$0")/.."
others=no
[ "${1:-}" = --others ] && others=yes

go list -f '{{.ImportPath}} {{.Dir}} {{len .TestGoFiles}}{{len .XTestGoFiles}}' ./... | while read -r package directory tests; do
    shares=no
    case "$package $tests" in
    */e2e\ * | *\ 00) ;;
    *)
        for file in "$directory"/*.go; do
            case "$file" in *_test.go) continue ;; esac
            if grep -qE '^[[:space:]]*go [a-z]|\.Go\(|sync\.|atomic\.' "$file"; then
                shares=yes
                break
            fi
        done
        ;;
    esac
    [ "$shares" = "$others" ] || echo "$package"
done
