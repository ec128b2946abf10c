#!/bin/sh
# Runs the same tests several times at once, so that each copy has little of the machine: this finds tests that depend on how fast it is.
# Fails if a copy fails. The output of each is in .cache/test-crowd.
#
#   scripts/test-crowd.sh COPIES COMMAND…
#
#   scripts/test-crowd.sh 10 go test ./e2e
set -eu

[ $# -ge 2 ] || {
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

cd "$(dirname "$0")/.."
copies=$1
shift
logs=.cache/test-crowd
rm -rf "$logs"
mkdir -p "$logs"

begin=$(date +%s)
number=0
while [ $number -lt "$copies" ]; do
    number=$((number + 1))
    {
        code=0
        "$@" >"$logs/$number.log" 2>&1 || code=$?
        echo $code >"$logs/$number.code"
        echo "copy $number: exit code $code after $(($(date +%s) - begin)) s, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
    } &
done
wait

failed=$(grep -Lx 0 "$logs"/*.code | wc -l)
grep -hE '^(--- |flaky |failed )' "$logs"/*.log | sort | uniq -c | sort -rn || true
echo "$copies copies at once, $failed failed ($(($(date +%s) - begin)) s)"
[ "$failed" -eq 0 ]
