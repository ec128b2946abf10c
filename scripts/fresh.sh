#!/bin/sh
# Tests what a new user does on a fresh machine: clones the repository (HEAD of this checkout, without uncommitted
# changes), runs make run as an ordinary user with an empty home directory, empty caches and no PostgreSQL programs, waits
# for the first verdict, runs tarsy smoke, stops the demo, and prints how long each part took.
#
#   scripts/fresh.sh          everything is downloaded: a few minutes
#   scripts/fresh.sh --warm   with the caller's caches of Go and npm, which it does not change: less than two minutes
#   scripts/fresh.sh --keep   keep the directory with the clone, the home directory and the output
#   scripts/fresh.sh --limit 30   give up after 30 minutes (default 45, with --warm 15)
#
# PostgreSQL is hidden, not removed: scripts/fresh-hide.sh runs in mount, process and IPC namespaces of its own (Linux
# only), so nothing outside changes and no process is left when it ends. scripts/fresh-run.sh is what happens inside, as
# nobody where the caller is root. Needs git, go, make, node, npm and unshare.
set -eu

say() { echo "fresh: $*" >&2; }
fail() { say "$*"; exit 1; }

root=$(cd "$(dirname "$0")/.." && pwd)
warm=no
keep=no
limit=
while [ $# -gt 0 ]; do
    case $1 in
    --warm) warm=yes ;;
    --keep) keep=yes ;;
    --limit)
        limit=${2:-}
        case $limit in
        '' | *[!0-9]*) fail "--limit needs a number of minutes" ;;
        esac
        shift
        ;;
    -h | --help)
        sed -n '2,13s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "unknown argument $1; see --help" ;;
    esac
    shift
done
[ -n "$limit" ] || { [ "$warm" = yes ] && limit=15; } || limit=45

[ "$(uname -s)" = Linux ] || fail "needs Linux: PostgreSQL programs cannot be hidden on $(uname -s); use a container or a virtual machine"
for program in git unshare; do
    command -v "$program" >/dev/null 2>&1 || fail "needs $program; install it (unshare is in util-linux)"
done

# An ordinary user becomes root of a user namespace, which may mount in its own mount namespace.
as_root=
if [ "$(id -u)" = 0 ]; then
    user=nobody
    id "$user" >/dev/null 2>&1 || fail "there is no user nobody to run as; create one, or run this as an ordinary user"
    command -v setpriv >/dev/null 2>&1 || command -v runuser >/dev/null 2>&1 ||
        fail "needs setpriv or runuser to become $user; install util-linux, or run this as an ordinary user"
else
    user=$(id -un)
    as_root='--user --map-root-user'
fi

namespaces() {
    # shellcheck disable=SC2086 # the options are words
    exec unshare $as_root --mount --propagation private --pid --fork --kill-child --mount-proc --ipc "$@"
}
# Both uses are subshells, which unshare replaces: its child is the first process inside.
why=$(namespaces true 2>&1) ||
    fail "cannot hide the PostgreSQL programs of this machine: unshare does not work here ($why); run this as root, or where user namespaces are allowed"

work=$(mktemp -d "${TMPDIR:-/tmp}/tarsy-fresh-XXXXXX")
inside=

# The end of the first process of a process namespace ends all others, and unshare waits for that.
stop() {
    trap '' INT TERM
    [ -n "$inside" ] || return 0
    grep -l "^PPid:[[:space:]]*$inside\$" /proc/[0-9]*/status 2>/dev/null | while IFS=/ read -r _ _ process _; do
        kill -KILL "$process"
    done
    wait "$inside" || true
}

# shellcheck disable=SC2317,SC2329 # called by a trap
clean() {
    result=$?
    stop
    if [ "$keep" = yes ]; then
        say "kept: $work (the clone is in clone, the output of make run in output)"
    else
        # Go's modules are read-only directories.
        [ -n "$as_root" ] && chmod -R u+rwX "$work"
        rm -rf "$work"
    fi
    exit "$result"
}
trap clean EXIT
trap 'say "interrupted; stopping"; exit 130' INT
trap 'say "stopped by a signal; cleaning up"; exit 143' TERM

# Hundredths of a second since the machine started.
now() { read -r up _ </proc/uptime && echo "${up%.*}${up#*.}"; }
seconds() { printf '%5d.%d s' "$(($1 / 100))" "$(($1 % 100 / 10))"; }
began=$(now)

# Git refuses a checkout that belongs to somebody else, such as one that was mounted into a container.
GIT_CONFIG_GLOBAL=$work/gitconfig
export GIT_CONFIG_GLOBAL
printf '[safe]\n\tdirectory = *\n' >"$GIT_CONFIG_GLOBAL"
say "cloning $(git -C "$root" log -1 --format='%h %s') into $work/clone"
[ -z "$(git -C "$root" status --porcelain)" ] || say "uncommitted changes of $root are not in the clone"
chmod 755 "$work"
mkdir "$work/home" "$work/tmp" "$work/cache"
git clone --quiet --no-hardlinks "$root" "$work/clone"
[ "$(git -C "$work/clone" rev-parse HEAD)" = "$(git -C "$root" rev-parse HEAD)" ] || fail "the clone is not at the commit of $root"
# The user may not be able to read this checkout.
cp "$root/scripts/fresh-hide.sh" "$root/scripts/fresh-run.sh" "$work"
printf 'clone\t%s\n' "$(($(now) - began))" >"$work/times"

# Only what leads to the package registries is taken over from the caller's environment and settings.
set -- "PATH=$PATH" "HOME=$work/home" "TMPDIR=$work/tmp" "USER=$user" "LOGNAME=$user" \
    "FRESH_WORK=$work" "FRESH_UID=$(id -u "$user")" "FRESH_GID=$(id -g "$user")" \
    "FRESH_LIMIT=$limit" "FRESH_WARM=$warm" "FRESH_CHECKOUT=$root" "FRESH_HOME=${HOME:-}" "FRESH_CALLER=$(id -u)" "FRESH_SINCE=$(now)"
for name in LANG TERM http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS; do
    eval "value=\${$name:-}"
    [ -z "$value" ] || set -- "$@" "$name=$value"
done
if command -v go >/dev/null 2>&1; then
    set -- "$@" "FRESH_MODULES=$(go env GOMODCACHE)" "FRESH_BUILDS=$(go env GOCACHE)"
    for name in GOPROXY GOSUMDB GOPRIVATE GONOPROXY GONOSUMDB; do
        set -- "$@" "$name=$(go env $name)"
    done
fi
if command -v npm >/dev/null 2>&1; then
    set -- "$@" "FRESH_NPM=$(npm config get cache 2>/dev/null)" "npm_config_registry=$(npm config get registry 2>/dev/null)"
fi

namespaces env -i "$@" sh "$work/fresh-hide.sh" </dev/null &
inside=$!
status=0
wait "$inside" || status=$?
inside=

if [ "$status" -ne 0 ] && [ -e "$work/output" ]; then
    say "the last lines of make run:"
    tail -n 40 "$work/output" | sed 's/^/    /' >&2
fi
while IFS='	' read -r part took; do
    printf '  %-32s %s\n' "$part" "$(seconds "$took")"
done <"$work/times"
printf '  %-32s %s\n' total "$(seconds "$(($(now) - began))")"
[ "$status" -eq 0 ] || fail "failed: $(grep . "$work/reason" 2>/dev/null || echo "the reason is above")"
say "passed: a fresh clone runs and has a first verdict"
