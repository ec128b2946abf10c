#!/bin/sh
# Finds an Alertmanager and a Prometheus for the end-to-end tests of the webhooks, and gets Debian's where it can: as root, with
# apt-get. The packages are unpacked into .cache and not installed, because installing them starts services; only Alertmanager's
# templates are copied to where it looks for them. Writes links to the programs to .cache/alertmanager and .cache/prometheus, or
# why there is none to .cache/alertmanager.reason and .cache/prometheus.reason; the tests are then skipped with that reason.
set -eu

say() { echo "install-alertmanager: $*" >&2; }

root=$(cd "$(dirname "$0")/.." && pwd)
cache=$root/.cache
log=$cache/alertmanager.log
mkdir -p "$cache"
: >"$log"

# Debian's Alertmanager does not start without its templates in this directory.
templates=/usr/share/prometheus/alertmanager

# can_run name: whether the program that .cache/name links to starts.
can_run() {
    "$cache/$1" --version >>"$log" 2>&1 || return 1
    unpacked=$cache/debian/prometheus-alertmanager/root$templates
    [ "$1" = alertmanager ] && [ -d "$unpacked" ] && [ ! -e "$templates" ] || return 0
    mkdir -p "$(dirname "$templates")" && cp -R "$unpacked" "$templates"
} 2>>"$log"

link() {
    ln -sfn "$2" "$cache/$1"
    can_run "$1"
}

# unpack name package: downloads the package once and unpacks its files.
unpack() {
    say "getting Debian's $2 with apt-get (once)…"
    dir=$cache/debian/$2
    rm -rf "$dir" && mkdir -p "$dir/deb"
    (cd "$dir/deb" && apt-get download "$2") >>"$log" 2>&1 || {
        apt-get update >>"$log" 2>&1 || return 1
        (cd "$dir/deb" && apt-get download "$2") >>"$log" 2>&1 || return 1
    }
    dpkg -x "$dir"/deb/*.deb "$dir/root" >>"$log" 2>&1 || return 1
    rm -rf "$dir/deb"
    link "$1" "debian/$2/root/usr/bin/$2"
}

# get name package: leaves .cache/name or .cache/name.reason.
get() {
    rm -f "$cache/$1.reason"
    if [ -e "$cache/$1" ] && can_run "$1"; then
        say "nothing to do: found .cache/$1"
        return
    fi
    for program in "$1" "$2"; do
        if path=$(command -v "$program") && link "$1" "$path"; then
            say "found $path"
            return
        fi
    done
    why="there is no $1"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && command -v dpkg >/dev/null 2>&1; then
        if unpack "$1" "$2"; then
            say "found .cache/$1"
            return
        fi
        why="apt-get could not get $2; .cache/alertmanager.log says why"
    fi
    rm -f "$cache/$1"
    echo "$why" >"$cache/$1.reason"
    say "skipped $1: $why"
}

get alertmanager prometheus-alertmanager
get prometheus prometheus
