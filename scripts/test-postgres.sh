#!/bin/sh
# Tests on several versions of PostgreSQL: installs each and runs the packages that have SQL of their own and a sample
# of the end-to-end scenarios (e2e/testdata/postgres-sample.txt) on it. Fails if a test fails, or if the tests ran on
# another version.
#
#   scripts/test-postgres.sh [--e2e] MAJOR[-stock]…
#
#   scripts/test-postgres.sh 14 15 16 17 18
#   scripts/test-postgres.sh 14 18-stock         # 18 with the default settings of PostgreSQL
#   scripts/test-postgres.sh --e2e 18-stock      # every end-to-end scenario instead
set -eu

packages='./internal/postgres/... ./internal/note/... ./internal/triage/... ./internal/jobs/... ./internal/retention/...
    ./internal/writeback/... ./flow/journal/pgjournal'
fast_parallel=4
# By default PostgreSQL has 100 connections, of which each of the servers of a scenario takes up to 31 (docs/configuration.md).
stock_parallel=2

say() { echo "==> $*" >&2; }
fail() {
    echo "test-postgres: $*" >&2
    exit 1
}

whole=no
while [ $# -gt 0 ]; do
    case "$1" in
    --e2e) whole=yes ;;
    -h | --help)
        sed -n '2,10s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    -*) fail "unknown argument $1; see --help" ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || fail "needs the major versions to test on, such as 14 18; see --help"

cd "$(dirname "$0")/.."
root=$PWD
# As in the Makefile, or everything is compiled again.
GOFLAGS="-trimpath $(go env GOFLAGS | sed "s|-trimpath||")"
export GOFLAGS
work=$root/.cache/test-postgres
mkdir -p "$work"

if [ "$whole" = yes ]; then
    packages=./e2e
    sample=.
else
    packages="$packages ./e2e"
    sample="^($(grep '^Test' e2e/testdata/postgres-sample.txt | paste -s -d'|' -))\$"
fi

# Linking takes longer than many of the tests do, and all versions run the same binaries.
say "compiling the tests (once for all versions)"
rm -rf "$work"/*.test "$work"/list
go build -o "$work/test2json" cmd/test2json
go build -o "$work/testsummary" ./internal/tools/testsummary
binary_of() { echo "$work/$(echo "$1" | tr / -).test"; }
# shellcheck disable=SC2086 # several patterns
go list -f '{{.ImportPath}} {{.Dir}}' $packages >"$work/all"
while read -r package directory; do
    # Whatever has no test, or none that uses a database, is the same on all versions.
    ls "$directory"/*_test.go >/dev/null 2>&1 || continue
    case "$package" in */internal/postgres*) ;; *) grep -qs internal/postgres/pgtest "$directory"/*_test.go || continue ;; esac
    echo "$package $directory" >>"$work/list"
done <"$work/all"
# Two at a time, since a linker uses one core most of the time, and without the tables of debuggers.
while read -r package directory; do
    binary=$(binary_of "$package")
    echo "${binary#"$root/"} $package" # relative, because the name of the clone may have spaces, at which xargs splits
done <"$work/list" | xargs -n 2 -P 2 go test -vet=off -ldflags='-s -w' -c -o

# events runs the tests of all packages, with what is in the environment.
events() {
    while read -r package directory; do
        run=.
        case "$package" in */e2e) run=$sample ;; esac
        # How a package ended is in its last event.
        (cd "$directory" && "$work/test2json" -t -p "$package" "$(binary_of "$package")" -test.v=test2json -test.paniconexit0 \
            -test.timeout=30m -test.parallel="$parallel" -test.shuffle=on -test.run="$run" </dev/null) || true
    done <"$work/list"
}

# On a server that is named, no version would be tested but that server's.
unset TARSY_TEST_DATABASE_URL
failed=no
for server in "$@"; do
    major=${server%-stock} stock= parallel=$fast_parallel
    [ "$server" = "$major" ] || stock=stock parallel=$stock_parallel
    bin=$(sh scripts/install-postgres.sh --major "$major")
    version=$("$bin/postgres" --version | sed 's/.*(PostgreSQL) \([0-9.]*\).*/\1/')
    case "$version" in "$major".*) ;; *) fail "the programs in $bin are of version $version, not $major" ;; esac
    name="PostgreSQL $version${stock:+ with default settings}"
    say "testing on $name (three to four minutes on two cores)"
    begin=$(date +%s)
    # PATH too: some tests look for the server as tarsy does. The programs of that version come first everywhere.
    {
        code=0
        (
            export PATH="$bin:$PATH" TARSY_PG_BIN="$bin" TARSY_TEST_POSTGRES="$stock" TARSY_TEST_POSTGRES_MAJOR="$major"
            events
        ) | "$work/testsummary" -read || code=$?
        echo "$code" >"$work/code"
    } | tee "$work/$server.log" | grep -Ev '^(ok  |[0-9]+ passed)' || true
    result=$(tail -n 1 "$work/$server.log" | sed 's/\([0-9]\)\([0-9]\{3\}\) passed/\1,\2 passed/')
    echo "$name: $result ($(($(date +%s) - begin)) s)"
    case "$(cat "$work/code") $result" in
    "0 0 passed"*) fail "no test ran" ;;
    0\ *) ;;
    *) failed=yes ;;
    esac
done
[ "$failed" = no ] || fail "tests failed; the output is in $work/*.log"
