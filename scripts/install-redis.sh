#!/bin/sh
# Finds a redis-server for the benchmark that compares the note pipeline with BullMQ, and installs Debian's where it can: as
# root, with apt-get. Writes a link to it to .cache/redis-server, or why there is none to .cache/redis.reason. No service is
# installed or started: Debian's redis-tools contains the server's program under another name.
set -eu

say() { echo "install-redis: $*" >&2; }

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$root/.cache"
rm -f "$root/.cache/redis-server" "$root/.cache/redis.reason"

found() {
    ln -sf "$2" "$root/.cache/redis-server"
    say "$1 $2"
    exit 0
}

find_server() { command -v redis-server || command -v redis-check-rdb; }

if server=$(find_server); then
    found "nothing to do: found" "$server"
fi

why="there is no redis-server"

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    log=$root/.cache/redis.log
    say "installing Debian's redis-tools with apt-get (about 5 MB unpacked, once)…"
    if apt-get update >"$log" 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends redis-tools >>"$log" 2>&1 &&
        server=$(find_server); then
        found "found" "$server"
    fi
    why="apt-get could not install redis-tools; .cache/redis.log says why"
fi

echo "$why" >"$root/.cache/redis.reason"
say "skipped: $why"
