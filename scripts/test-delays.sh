#!/bin/sh
# Runs tests with delays that a busy machine has now and then: some answers to HTTP requests and some results of PostgreSQL
# reach the program late, and some requests to the API are answered late. What has happened outside is then known there long
# before the program knows it, which finds tests that look too early, and pages that move when something is loaded. The delays
# are compiled into copies of net/http and pgx; nothing in the repository changes.
#
#   scripts/test-delays.sh COMMAND…       # its -modfile and -overlay are in $DELAYS
#
#   TARSY_DELAY_HTTP=250 TARSY_DELAY_POSTGRES=60 TARSY_DELAY_API=0 scripts/test-delays.sh sh -c 'go test $DELAYS ./e2e'
#
# The variables are the longest delays in milliseconds; they hold for the programs that are compiled, too.
set -eu

[ $# -ge 1 ] || {
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

cd "$(dirname "$0")/.."
work=$PWD/.cache/test-delays
rm -rf "$work"
mkdir -p "$work"

# delay writes the function that waits in one of so many calls.
delay() {
    cat <<EOF
package $1

import (
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

var longest$4, _ = strconv.Atoi(os.Getenv("$2"))

func $4() {
	if longest$4 > 0 && rand.IntN($3) == 0 {
		time.Sleep(time.Duration(rand.IntN(longest$4)) * time.Millisecond)
	}
}
EOF
}

# insert copies a file with a call before or behind the one line that fits a pattern.
insert() {
    [ "$(grep -c "$3" "$1")" = 1 ] || {
        echo "test-delays: $1 has not exactly one line like '$3': this version of it is not known" >&2
        exit 1
    }
    sed "/$3/$4" "$1" >"$2"
}

http=$(go env GOROOT)/src/net/http
delay http TARSY_DELAY_HTTP 3 delayAnswer >"$work/answer.go"
insert "$http/roundtrip.go" "$work/roundtrip.go" 'return t\.roundTrip(req)' 'i\
	defer delayAnswer()'
delay http TARSY_DELAY_API 2 delayAPI >"$work/api.go"
insert "$http/server.go" "$work/server.go" 'serverHandler{c\.server}\.ServeHTTP(w, w\.req)' 'i\
		if strings.HasPrefix(w.req.URL.Path, "/api/") {\
			delayAPI()\
		}'
printf '{"Replace": {"%s": "%s", "%s": "%s", "%s": "%s", "%s": "%s"}}\n' \
    "$http/roundtrip.go" "$work/roundtrip.go" "$http/delay_answer.go" "$work/answer.go" \
    "$http/server.go" "$work/server.go" "$http/delay_api.go" "$work/api.go" >"$work/overlay.json"

pgx=$(go list -m -f '{{.Dir}}' github.com/jackc/pgx/v5)
cp -R "$pgx" "$work/pgx"
chmod -R u+w "$work/pgx"
delay pgconn TARSY_DELAY_POSTGRES 10 delayResult >"$work/pgx/pgconn/delay.go"
insert "$pgx/pgconn/pgconn.go" "$work/pgx/pgconn/pgconn.go" 'pgConn\.txStatus = msg\.TxStatus' 'a\
		delayResult()'
cp go.mod go.sum "$work"
echo "replace github.com/jackc/pgx/v5 => $work/pgx" >>"$work/go.mod"

DELAYS="-modfile=$work/go.mod -overlay=$work/overlay.json"
export DELAYS
"$@"
