#!/usr/bin/env bash
# cnc under mpirun: one report, one file, one message, and the exit codes of one process.
#   program_test.sh CNC MPIRUN...
set -euo pipefail
cnc=$1
shift
run=("$@" "$cnc")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
export NO_COLOR=1  # mpirun gives its ranks a terminal

fail() { echo "program_test: $*" >&2; exit 1; }
# expect CODE command...: leaves standard output in `out` and error in `err`.
expect() {
  local wanted=$1 code=0
  shift
  "$@" >out 2>err || code=$?
  [ "$code" = "$wanted" ] || fail "exit code $code instead of $wanted: $*: $(cat out err)"
}

expect 0 "$cnc" solve poisson2d:30x20 --threads 1 --form fused -q -o one.mtx
expect 0 "${run[@]}" solve poisson2d:30x20 -o several.mtx --json several.json
[ "$(grep -c '^Status' out)" = 1 ] || fail "one rank reports: $(cat out)"
grep -q '^Ranks *3' out || fail "the report names the ranks: $(cat out)"
grep -q '"count": 3' several.json || fail "and so does the JSON"
head -2 several.mtx | cmp - <(head -2 one.mtx) || fail "x has the form that one process writes"
paste <(tail -n +3 one.mtx) <(tail -n +3 several.mtx) |
  awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-6) exit 1 }' || fail "x in the order of the file"

expect 0 "${run[@]}" solve poisson2d:30x20 --repeat 3
[ "$(grep -c '^Later solves *2:' out)" = 1 ] || fail "solves after the first: $(cat out)"

expect 1 "${run[@]}" solve poisson2d:30x20 --max-iterations 2 -q
expect 2 "${run[@]}" solve nothing.mtx
[ "$(grep -c '^cnc: ' err)" = 1 ] || fail "one message: $(cat err)"
expect 2 "${run[@]}" solve poisson2d:30x20 --reorder rcm
grep -q '^cnc: .*reordering' err || fail "what is refused is named: $(cat err)"
expect 2 "${run[@]}" compare poisson2d:30x20
[ "$(grep -c '^cnc: only solve' err)" = 1 ] || fail "one message: $(cat err)"
expect 2 "${run[@]}" solve --no-such-option
[ "$(grep -c '^cnc: ' err)" = 1 ] || fail "one message: $(cat err)"
