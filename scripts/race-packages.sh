#!/bin/sh
# Lists the packages for the race detector: those whose own code starts goroutines, and those that use sync and whose tests
# start some. With --others, lists all others. Left to make test-race-all are the end-to-end tests, which share memory too and
# take five times as long with the detector, and internal/mask, whose tests are minutes of regular expressions with it and
# which shares a cache only.
set -eu

cd "$(dirname "$0")/.."
others=no
[ "${1:-}" = --others ] && others=yes
starts='^[[:space:]]*go [a-z]|\.Go\('

# found tells whether a pattern is in the code (code) or in the tests (tests) of a directory.
found() {
    for file in "$3"/*.go; do
        case "$1 $file" in code\ *_test.go) continue ;; esac
        case "$1 $file" in code\ * | tests\ *_test.go) ! grep -qE "$2" "$file" || return 0 ;; esac
    done
    return 1
}

go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package directory; do
    shares=no
    case "$package" in
    */e2e | */internal/mask) ;;
    *)
        if found tests '^func Test' "$directory"; then
            if found code "$starts" "$directory" || { found code 'sync\.|atomic\.' "$directory" && found tests "$starts" "$directory"; }; then
                shares=yes
            fi
        fi
        ;;
    esac
    [ "$shares" = "$others" ] || echo "$package"
done
