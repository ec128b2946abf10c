#!/bin/sh
# Installs the MCP servers that the end-to-end tests talk to and that are not ours, in the
# versions of scripts/mcp/package-lock.json, into .cache/mcp-servers. Does nothing if they
# are there already. Without node or npm it says so and succeeds: the tests that need the
# servers are then skipped, with the same reason.
#
#   scripts/install-mcp-servers.sh
set -eu

say() { echo "install-mcp-servers: $*" >&2; }

root=$(cd "$(dirname "$0")/.." && pwd)
source=$root/scripts/mcp
target=$root/.cache/mcp-servers

mkdir -p "$root/.cache"
# The tests read the reason from here.
reason=$root/.cache/mcp-servers.reason
rm -f "$reason"

for program in node npm; do
    if ! command -v "$program" >/dev/null 2>&1; then
        echo "$program is missing" >"$reason"
        say "skipped: $program is missing; install it to test against MCP servers that are not ours"
        exit 0
    fi
done

# node is there, a program that prints SHA-256 sums may not be.
lock=$(node -p 'crypto.createHash("sha256").update(fs.readFileSync(process.argv[1])).digest("hex")' "$source/package-lock.json")
if [ "$(cat "$target/.lock-hash" 2>/dev/null)" = "$lock" ]; then
    say "nothing to do: the MCP servers are in $target"
    exit 0
fi

work=$(mktemp -d "$root/.cache/.mcp-servers-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

say "installing MCP servers into $target with npm (about 40 MB)…"
cp "$source/package.json" "$source/package-lock.json" "$work"
if ! (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1); then
    cat "$work/npm.log" >&2
    say "npm could not install the packages"
    exit 1
fi
rm -f "$work/npm.log"
echo "$lock" >"$work/.lock-hash"

# A directory is there whole or not at all.
rm -rf "$target"
mv "$work" "$target"
chmod 755 "$target"
say "done"
