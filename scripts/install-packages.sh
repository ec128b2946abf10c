#!/bin/sh
# Installs packages of the npm registry that are not ours and that tests or the benchmark run
# against ours, in the versions of their lock file, into .cache. Does nothing if they are there
# already. Without node, npm or a network it says so and succeeds: what needs the packages is then
# skipped, with the same reason.
#
#   scripts/install-packages.sh mcp-servers    MCP servers that end-to-end tests talk to
#   scripts/install-packages.sh mcp-inspector  the official MCP inspector, which end-to-end tests point at our own MCP server
#   scripts/install-packages.sh js-sdks        the JavaScript SDKs of LLM providers, the Vercel AI SDK, LangChain.js, discord.js, Slack's SDKs and an OpenID provider
#   scripts/install-packages.sh aimock         the mock server that the benchmark compares ours with
#   scripts/install-packages.sh bullmq         the job queue that the benchmark compares the note pipeline with
#   scripts/install-packages.sh dashboard      what the dashboard is built and tested with, into web/node_modules
set -eu

say() { echo "install-packages: $*" >&2; }

root=$(cd "$(dirname "$0")/.." && pwd)
name=${1:-}

case $name in
mcp-servers) what="the MCP servers of others (about 40 MB)" ;;
mcp-inspector) what="the MCP inspector (about 110 MB)" ;;
js-sdks) what="the JavaScript SDKs (about 230 MB)" ;;
aimock) what="aimock (about 12 MB)" ;;
bullmq) what="BullMQ (about 20 MB)" ;;
dashboard) what="the dashboard's packages (about 330 MB)" ;;
*)
    say "say what to install: mcp-servers, mcp-inspector, js-sdks, aimock, bullmq or dashboard"
    exit 2
    ;;
esac

source=$root/scripts/$name
target=$root/.cache/$name
if [ "$name" = dashboard ]; then
    source=$root/web
    target=$root/web/node_modules
fi

mkdir -p "$root/.cache"
# The tests read the reason from here.
reason=$root/.cache/$name.reason
rm -f "$reason"

for program in node npm; do
    if ! command -v "$program" >/dev/null 2>&1; then
        echo "$program is missing" >"$reason"
        say "skipped: $program is missing; install it to have $what"
        exit 0
    fi
done

# node is there, a program that prints SHA-256 sums may not be.
lock=$(node -p 'crypto.createHash("sha256").update(fs.readFileSync(process.argv[1])).digest("hex")' "$source/package-lock.json")
if [ "$(cat "$target/.lock-hash" 2>/dev/null)" = "$lock" ]; then
    say "nothing to do: $what: $target"
    exit 0
fi

work=$(mktemp -d "$root/.cache/.$name-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The lock file has the hashes, so what npm has in its cache is right. By default npm waits for minutes without a network.
retries="--prefer-offline --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000"

say "installing $what into $target with npm…"
cp "$source/package.json" "$source/package-lock.json" "$work"
if ! (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund $retries >npm.log 2>&1); then
    # Tests run without a network too. Anything else that npm reports is a mistake in the lock file or in the package.
    if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT' "$work/npm.log"; then
        echo "npm cannot reach its registry; run make again with a network to install $what" >"$reason"
        say "skipped: $(cat "$reason")"
        exit 0
    fi
    cat "$work/npm.log" >&2
    say "npm could not install the packages"
    exit 1
fi
rm -f "$work/npm.log"

made=$work
if [ "$name" = dashboard ]; then
    made=$work/node_modules
fi
echo "$lock" >"$made/.lock-hash"

# A directory is there whole or not at all.
rm -rf "$target"
mv "$made" "$target"
chmod 755 "$target"
say "done"
