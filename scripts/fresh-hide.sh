#!/bin/sh
# Part of scripts/fresh.sh: the first process of its namespaces, as their root. Hides the PostgreSQL programs of the
# machine, makes the caller's caches available if asked to, and runs scripts/fresh-run.sh as an ordinary user within the
# time limit. Only this process and its children see what is mounted here.
set -eu

work=$FRESH_WORK
say() { echo "fresh: $*" >&2; }
fail() {
    echo "$*" >"$work/reason"
    exit 1
}

# as_user runs a command as the user of the fresh machine. The namespace of an ordinary user has no user but root, which
# is the caller; in a namespace below, the caller has its own number again.
if [ "$FRESH_CALLER" != 0 ]; then
    as_user() { unshare --user --map-user="$FRESH_UID" --map-group="$FRESH_GID" "$@"; }
elif command -v setpriv >/dev/null 2>&1; then
    as_user() { setpriv --reuid="$FRESH_UID" --regid="$FRESH_GID" --clear-groups --no-new-privs "$@"; }
else
    as_user() { runuser -u nobody -- "$@"; }
fi

own() { [ "$FRESH_CALLER" != 0 ] || chown -R "$FRESH_UID:$FRESH_GID" "$@"; }

# The places of internal/postgres/private/binaries.go and scripts/install-postgres.sh; the caller's own cache is not seen
# from another home directory. Programs in PATH, or where pg_config leads to, can be among others in /usr/bin.
hide_postgres() {
    places=$(pg_config --bindir 2>/dev/null || true):$PATH
    IFS=:
    for directory in $places; do
        for program in "$directory/postgres" "$directory/initdb" "$directory/pg_ctl" "$directory/pg_config"; do
            [ ! -x "$program" ] || mount --bind "$work/nothing" "$program" || fail "cannot hide $program"
        done
    done
    unset IFS
    for directory in /usr/lib/postgresql /usr/pgsql-* /opt/homebrew/opt/postgresql* /usr/local/opt/postgresql* \
        /home/linuxbrew/.linuxbrew/opt/postgresql* /var/cache/tarsy; do
        [ ! -d "$directory" ] || mount -t tmpfs -o mode=755,size=1m tmpfs "$directory" || fail "cannot hide $directory"
    done
}

# borrow NAME DIRECTORY makes a cache of the caller available in $work/cache/NAME. Changes go to a directory of ours.
borrow() {
    target=$work/cache/$1
    mkdir "$target" "$work/cache/$1.changes" "$work/cache/$1.work"
    if [ ! -d "$2" ]; then
        say "there is no cache of $1 to borrow"
        own "$target"
        return 0
    fi
    layers=lowerdir=$2,upperdir=$work/cache/$1.changes,workdir=$work/cache/$1.work
    # Giving the files to the user then does not copy them.
    options=metacopy=on
    [ "$FRESH_CALLER" = 0 ] || options=userxattr
    if ! mount -t overlay -o "$layers,$options" overlay "$target" 2>/dev/null; then
        say "copying $2, because the kernel has no overlay for it"
        cp -R "$2/." "$target"
    fi
    own "$target"
}

# out_of_reach tells whether a directory is there and the user may not look into it.
out_of_reach() { [ -d "$1" ] && ! as_user test -r "$1/."; }

# hide_home shows an empty home directory of the caller in place of one that the user may not look into.
hide_home() {
    case $FRESH_HOME:$work in
    :* | /:* | "$FRESH_HOME:$FRESH_HOME"/*) return 0 ;; # there is none, or it would hide our directory too
    esac
    mount -t tmpfs -o mode=755 tmpfs "$FRESH_HOME" || fail "cannot mount an empty $FRESH_HOME"
    mkdir -p "$FRESH_MODULES" "$FRESH_CHECKOUT"
}

# appear SOURCE TARGET shows a directory of ours under the name that it has for the caller.
appear() { [ -d "$2" ] && mount --bind "$1" "$2" && as_user test -r "$2/."; }

# Go compiles a package again if its directory has another name, so modules and clone get the names that they had when
# the caller's cache was filled.
borrow_all() {
    FRESH_MODULES=${FRESH_MODULES:-$work/no-modules}
    borrow modules "$FRESH_MODULES"
    borrow builds "${FRESH_BUILDS:-$work/no-builds}"
    borrow npm "${FRESH_NPM:-$work/no-npm}"
    if out_of_reach "$FRESH_MODULES" || out_of_reach "$FRESH_CHECKOUT"; then
        hide_home
    fi
    GOCACHE=$work/cache/builds GOMODCACHE=$work/cache/modules npm_config_cache=$work/cache/npm
    export GOCACHE GOMODCACHE npm_config_cache
    ! appear "$GOMODCACHE" "$FRESH_MODULES" || GOMODCACHE=$FRESH_MODULES
    ! appear "$work/clone" "$FRESH_CHECKOUT" || clone=$FRESH_CHECKOUT
}

clone=$work/clone
: >"$work/nothing"
chmod 644 "$work/nothing"
if [ "$FRESH_WARM" = yes ]; then say "hiding PostgreSQL and borrowing caches"; else say "hiding PostgreSQL"; fi
hide_postgres
# Segments of a server that is killed are then gone too.
mount -t tmpfs -o mode=1777 tmpfs /dev/shm || fail "cannot mount an empty /dev/shm"
own "$work/home" "$work/tmp" "$work/clone" "$work/times"
: >"$work/output"
: >"$work/reason"
own "$work/output" "$work/reason"
[ "$FRESH_WARM" = no ] || borrow_all

as_user test -x "$work/home" || fail "user $FRESH_UID cannot reach $work; set TMPDIR to a directory that everybody can pass through"
cd "$clone"
read -r up _ </proc/uptime
printf 'hide PostgreSQL\t%s\n' "$((${up%.*}${up#*.} - FRESH_SINCE))" >>"$work/times"
as_user sh "$work/fresh-run.sh" &
run=$!
(
    sleep "$((FRESH_LIMIT * 60))"
    echo "it took longer than $FRESH_LIMIT minutes (--limit); see above for the part it was in" >"$work/reason"
    kill -KILL "$run"
) &
wait "$run"
