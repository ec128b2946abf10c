#!/bin/sh
# Finds a Chromium for the tests of the dashboard, and installs Debian's where it can: as root, with apt-get. Writes where
# the browser is to .cache/chromium, or why there is none to .cache/chromium.reason; the tests are then skipped with
# that reason. Browsers are never downloaded from anywhere else.
#
#   TARSY_CHROMIUM=/path/to/chromium scripts/install-chromium.sh    uses that one
set -eu

say() { echo "install-chromium: $*" >&2; }

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$root/.cache"
rm -f "$root/.cache/chromium" "$root/.cache/chromium.reason"

find_browser() {
    for name in "${TARSY_CHROMIUM:-}" chromium chromium-browser google-chrome-stable google-chrome \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
        if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

if browser=$(find_browser); then
    echo "$browser" >"$root/.cache/chromium"
    say "nothing to do: found $browser"
    exit 0
fi

why="there is no Chromium (looked for TARSY_CHROMIUM, chromium, google-chrome)"

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing Debian's chromium with apt-get (about 300 MB unpacked, once)…"
    log=$root/.cache/chromium.log
    if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-liberation; } >"$log" 2>&1 &&
        browser=$(find_browser); then
        echo "$browser" >"$root/.cache/chromium"
        say "done: $browser"
        exit 0
    fi
    why="apt-get could not install chromium; .cache/chromium.log says why"
fi

echo "$why" >"$root/.cache/chromium.reason"
say "skipped: $why"
