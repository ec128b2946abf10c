#!/bin/sh
# Part of scripts/fresh.sh: what the new user does, in the clone that is the current directory. Reads the output of make
# run line by line, so that each part is timed by the line that announces it.
set -eu

work=$FRESH_WORK
say() { echo "fresh: $*" >&2; }
fail() {
    [ -s "$work/reason" ] || echo "$*" >"$work/reason"
    exit 1
}

now() { read -r up _ </proc/uptime && echo "${up%.*}${up#*.}"; }

# begin ends the part before, and announces the next one unless it is the last.
part=
begin() {
    [ -z "$part" ] || printf '%s\t%s\n' "$part" "$(($(now) - since))" >>"$work/times"
    part=${1:-}
    since=$(now)
    [ -z "$part" ] || say "$part"
}

no_postgres() {
    for program in postgres initdb pg_ctl pg_config; do
        ! command -v "$program" >/dev/null 2>&1 || fail "$(command -v "$program") could not be hidden, so this is not a fresh machine"
    done
    for directory in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin \
        /home/linuxbrew/.linuxbrew/opt/postgresql*/bin /var/cache/tarsy/postgresql/*/native/bin "$HOME"/.cache/tarsy; do
        [ ! -e "$directory" ] || fail "$directory could not be hidden, so this is not a fresh machine"
    done
}

# processes prints the numbers of the processes whose command line matches a pattern. No others than ours are in this namespace. A server
# hides its program and directory from other processes, but not its command line.
processes() {
    for process in /proc/[0-9]*; do
        # shellcheck disable=SC2254 # a pattern
        case $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) in
        $1) echo "${process#/proc/}" ;;
        esac
    done
}

# verdict asks the API twice a second until a session has a verdict. Node has no connection to anything but the demo.
verdict() {
    # shellcheck disable=SC2016 # JavaScript
    node -e '
        const [server, limit] = process.argv.slice(1);
        const outcomes = "cause_found,probable_cause,inconclusive,false_alarm,needs_human";
        const get = async (query) => {
            const response = await fetch(`${server}/api/v1/sessions?${query}`);
            if (!response.ok) throw new Error(`GET /api/v1/sessions answers ${response.status}: ${await response.text()}`);
            return (await response.json()).sessions;
        };
        (async () => {
            for (const end = Date.now() + limit * 1000; Date.now() < end; ) {
                const [session] = await get(`limit=1&outcome=${outcomes}`);
                if (session) return console.error(`fresh: verdict ${session.outcome}: ${session.title}`);
                await new Promise((done) => setTimeout(done, 500));
            }
            const counts = (await get("limit=200")).map((session) => session.status).sort().join(", ");
            throw new Error(`no session has a verdict after ${limit} s; their statuses: ${counts || "there is no session"}`);
        })().catch((error) => {
            console.error(`fresh: ${error.message}${error.cause ? `: ${error.cause.message}` : ""}`);
            process.exit(1);
        });
    ' "$1" 120
}

# stop asks the demo to end; the rest of its output follows.
stop() {
    demo=$(processes 'bin/tarsy demo *' | head -n 1)
    [ -n "$demo" ] || fail "the demo has ended by itself"
    kill -TERM "$demo"
}

# use does with the demo what a new user does.
use() {
    bin/tarsy smoke --ready --server "$1" >&2 || fail "the demo does not answer at $1"
    begin "first verdict"
    verdict "$1" || fail "the demo came to no verdict"
    begin "smoke"
    bin/tarsy smoke --server "$1" >&2 || fail "tarsy smoke found problems"
    begin "stop"
    stop
}

follow() {
    url=
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$work/output"
        case $line in
        *"installing the dashboard's packages"*) begin "install dashboard packages" ;;
        "==> building the dashboard"*) begin "build dashboard" ;;
        "==> building bin/tarsy"*) begin "build binary" ;;
        "==> looking for PostgreSQL"*) begin "PostgreSQL download" ;;
        *"there is a PostgreSQL server in"*) fail "PostgreSQL could not be hidden: $line" ;;
        "==> starting the demo"*) begin "start to first answer" ;;
        *"TARSy is running at "*) url=${line##* } ;;
        *"not in this binary"*) fail "the binary has no dashboard" ;;
        # The last line of the welcome: everything about the start was read.
        "Ctrl-C stops everything"*)
            [ -n "$url" ] || fail "the demo printed no address"
            use "$url"
            ;;
        esac
    done
    begin
    [ -n "$url" ] || fail "make run ended before the demo ran"
}

no_postgres
say "no PostgreSQL programs; user $(id -un), home directory $HOME"
mkfifo "$work/tmp/lines"
make run DEMOFLAGS='--listen 127.0.0.1:0' </dev/null >"$work/tmp/lines" 2>&1 &
run=$!
follow <"$work/tmp/lines"

# Where this script ends early, the end of the namespace ends the demo.
status=0
wait "$run" || status=$?
[ "$status" = 0 ] || fail "make run ended with code $status"
for command in '*/postgres *' 'postgres: *' '*bin/tarsy *'; do
    left=$(processes "$command")
    [ -z "$left" ] || fail "$command still runs after the demo has ended: process $left"
done
