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

# The headless shell comes first: it has no windows, tabs and menus to keep up, and the scenarios take a third less CPU time.
find_shell() {
    for name in "${TARSY_CHROMIUM:-}" chromium-headless-shell; do
        if [ -n "$name" ] && command -v "$name"; then
            return 0
        fi
    done
    return 1
}

find_browser() {
    find_shell && return 0
    for name in chromium chromium-browser google-chrome-stable google-chrome \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
        if command -v "$name"; then
            return 0
        fi
    done
    return 1
}

found() {
    echo "$2" >"$root/.cache/chromium"
    say "$1 $2"
    exit 0
}

install() {
    say "installing Debian's $1 with apt-get (about $2 MB unpacked, once)…"
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$1" fonts-liberation >>"$log" 2>&1
}

if browser=$(find_shell); then
    found "nothing to do: found" "$browser"
fi

why="there is no Chromium (looked for TARSY_CHROMIUM, chromium-headless-shell, chromium, google-chrome)"

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    log=$root/.cache/chromium.log
    : >"$log"
    # With a browser at hand, only what apt-get already knows of is worth the time.
    find_browser >/dev/null || apt-get update >>"$log" 2>&1 || true
    if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
        install chromium-headless-shell 300 || true
    fi
    find_browser >/dev/null || install chromium 350 || why="apt-get could not install chromium; .cache/chromium.log says why"
fi

if browser=$(find_browser); then
    found "found" "$browser"
fi

echo "$why" >"$root/.cache/chromium.reason"
say "skipped: $why"
