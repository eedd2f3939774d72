#!/usr/bin/env bash
# cnc under mpirun: one report, one file, one message, and the exit codes of one process.
#   program_test.sh CNC METIS MPIRUN...: METIS is ON where CNC was built with it
set -euo pipefail
cnc=$1 metis=$2
shift 2
run=("$@" "$cnc")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
unset NO_COLOR  # mpirun gives its ranks a terminal, which may be a file all the same

fail() { echo "program_test: $*" >&2; exit 1; }
# expect CODE command...: leaves standard output in `out` and error in `err`.
expect() {
  local wanted=$1 code=0
  shift
  "$@" >out 2>err || code=$?
  [ "$code" = "$wanted" ] || fail "exit code $code instead of $wanted: $*: $(cat out err)"
}
# x_of_one: several.mtx holds the x that one process writes.
x_of_one() {
  head -2 several.mtx | cmp - <(head -2 one.mtx) || fail "x has the form that one process writes"
  paste <(tail -n +3 one.mtx) <(tail -n +3 several.mtx) |
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-6) exit 1 }' || fail "x in the order of the file"
}

expect 0 "$cnc" solve poisson2d:30x20 --rhs random:3 --rtol 1e-11 --threads 1 --form fused -q -o one.mtx
expect 0 "${run[@]}" solve poisson2d:30x20 --rhs random:3 --rtol 1e-11 -o several.mtx --json several.json
[ "$(grep -c '^Status' out)" = 1 ] || fail "one rank reports: $(cat out)"
grep -q '^Ranks *3' out || fail "the report names the ranks: $(cat out)"
grep -q '"count": 3' several.json || fail "and so does the JSON"
grep -q '"partition": "segments"' several.json || fail "which says how they were cut"
x_of_one

expect 0 "$cnc" solve poisson2d:30x20 --rhs random:3 --rtol 1e-11 --partition graph -q  # one process has nothing to cut
for link in mpi host; do expect 0 "${run[@]}" solve poisson2d:30x20 --link $link -q; done  # the same between hosts
if [ "$metis" = ON ]; then
  expect 0 "${run[@]}" solve poisson2d:30x20 --rhs random:3 --rtol 1e-11 --partition graph -o several.mtx --json several.json
  grep -q '^Ranks *3, partition graph,' out || fail "the report names the partition: $(cat out)"
  grep -q '"partition": "graph"' several.json || fail "and so does the JSON"
  x_of_one
  expect 0 "${run[@]}" solve elasticity3d:6 --partition graph --precondition amg --components 3 -q
else
  expect 2 "${run[@]}" solve poisson2d:30x20 --partition graph
  [ "$(grep -c '^cnc: .*METIS' err)" = 1 ] || fail "what is missing is named: $(cat err)"
fi

# What a partition would be.
expect 0 "${run[@]}" info poisson2d:30x20 --json cut.json
grep -q '^Ranks *3, partition segments, .* up to 2 neighbours$' out || fail "the partition in a line: $(cat out)"
grep -Eq '^ *1 +196 +966 +62 +60 +60 +2$' out || fail "and each rank in one: $(cat out)"
grep -q '"halo_entries": 62' cut.json || fail "and in JSON: $(cat cut.json)"
[ "$(grep -c link cut.json)" = 0 ] || fail "nothing is exchanged"
expect 2 "${run[@]}" info poisson2d:30x20 --spy picture.png
grep -q '^cnc: --spy' err || fail "what is refused is named: $(cat err)"

# A file that each rank reads a part of; the words of one process for what is wrong with one.
for file in A.cnc A.mtx; do
  expect 0 "$cnc" generate poisson2d:30x20 -o $file
  expect 0 "${run[@]}" info $file
  grep -Eq '^ *1 +196 +966 +62 +60 +60 +2$' out || fail "a file is cut as a problem is: $(cat out)"
done
expect 0 "${run[@]}" solve A.mtx --rhs random:3 --rtol 1e-11 -o several.mtx
grep -q '^Matrix *A.mtx  600 × 600, 2,900 nonzeros' out || fail "the size of what is in parts: $(cat out)"
x_of_one
for precision in f32 f64; do
  expect 0 "${run[@]}" solve A.mtx --precision $precision --rtol 1e-5 --json parts.json -q
  grep -q '"error": [0-9.]*e-0[4-9]' parts.json || fail "x is all ones but for an error: $(grep error parts.json)"
done
expect 0 "${run[@]}" solve A.mtx --rhs several.mtx -q
if [ "$metis" = ON ]; then
  expect 0 "${run[@]}" solve A.mtx --rhs random:3 --rtol 1e-11 --partition graph -o several.mtx
  grep -q '^Ranks *3, partition graph,' out || fail "a file, too, is cut by its graph: $(cat out)"
  x_of_one
fi
expect 0 "${run[@]}" solve A.mtx --precision f32/f64 --rtol 1e-12 --json parts.json -q
grep -q '"error": [0-9.]*e-1[0-9]' parts.json || fail "float values, double accuracy: $(grep error parts.json)"
{ echo '%%MatrixMarket matrix coordinate real symmetric'; echo '60 60 119'  # no ends are held
  for i in $(seq 1 60); do echo "$i $i $(( i == 1 || i == 60 ? 1 : 2 ))"; [ "$i" = 1 ] || echo "$i $((i - 1)) -1"; done; } > chain.mtx
expect 0 "${run[@]}" solve chain.mtx --null-space constant --rhs a-times-ones -q
{ echo '%%MatrixMarket matrix array real general'; echo '60 1'; echo 1; for i in $(seq 2 59); do echo 0; done; echo -1; } > chain.b.mtx
expect 0 "${run[@]}" solve chain.mtx --null-space constant --rhs chain.b.mtx --reorder rcm -o chain.x.mtx
tail -n +3 chain.x.mtx | awk '{ sum += $1 } NR == 1 { first = $1 } END { if (sum ^ 2 > 1e-12 || (first - 29.5) ^ 2 > 1e-6) exit 1 }' ||
  fail "x without a constant"
# Rigid motions of nodes in a file, as of the problem that brings its own; their unknowns stay together.
{ echo '%%MatrixMarket matrix array real general'; echo '1860 1'
  for y in $(seq 0 30); do for x in $(seq 1 30); do printf '%s\n%s\n' "$x" "$y"; done; done; } > points.mtx
expect 0 "${run[@]}" solve elasticity2d:30 --precondition amg
iterations=$(grep '^Iterations' out)
expect 0 "$cnc" generate elasticity2d:30 -o E.mtx
expect 0 "${run[@]}" solve E.mtx --precondition amg:block=2 --coordinates points.mtx
[ "$(grep '^Iterations' out)" = "$iterations" ] || fail "coordinates from a file: $(cat out)"
# The report says on how many ranks levels are.
expect 0 "${run[@]}" solve poisson2d:80x80 --precondition amg --json levels.json
grep -q '6,400 rows.* on 3 ranks$' out && grep -q ' rows.* on every rank$' out || fail "ranks of levels: $(cat out)"
grep -q '"ranks": 3,*$' levels.json && grep -q '"ranks": 0,*$' levels.json || fail "and in JSON: $(cat levels.json)"
sed '100s/$/ 7/' A.mtx > wrong.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n' > wide.mtx
expect 2 "$cnc" solve wrong.mtx
cp err one.err
expect 2 "${run[@]}" solve wrong.mtx
[ "$(grep '^cnc: ' err)" = "$(cat one.err)" ] || fail "$(cat err one.err)"

for bad in poisson3d:0 poison3d:8 poisson3d:2000; do
  expect 2 "$cnc" info $bad
  cp err one.err
  for command in info solve "compare --ranks"; do
    expect 2 "${run[@]}" $command $bad
    [ "$(grep '^cnc: ' err)" = "$(cat one.err)" ] || fail "$(cat err one.err)"
  done
done

expect 0 "${run[@]}" solve poisson2d:30x20 --repeat 3
[ "$(grep -c '^Later solves *2:' out)" = 1 ] || fail "solves after the first: $(cat out)"

for command in info solve "solve --solver lsqr" "compare --ranks"; do
  expect 2 "${run[@]}" $command wide.mtx
  grep -q '^cnc: wide.mtx: several ranks need a square matrix' err || fail "$command of what is not square: $(cat err)"
done

expect 1 "${run[@]}" solve poisson2d:30x20 --max-iterations 2 -q
expect 2 "${run[@]}" solve nothing.mtx
[ "$(grep -c '^cnc: ' err)" = 1 ] || fail "one message: $(cat err)"
expect 0 "${run[@]}" solve poisson2d:90 --precondition auto:100 --json auto.json
grep -q 'amg: jacobi takes some' out || fail "why it was taken: $(cat out)"
grep -q 'levels' auto.json || fail "its levels: $(cat auto.json)"
expect 0 "${run[@]}" solve wathen:12x10 --precondition auto:2
grep -q 'jacobi takes some' out || fail "why it was taken: $(cat out)"
expect 2 "${run[@]}" solve poisson2d:30x20 --backend reference
grep -q "^cnc: .*backend 'reference' does not offer pcg on several ranks$" err || fail "what is lacking is named: $(cat err)"
expect 0 "${run[@]}" solve A.mtx --rhs random:3 --rtol 1e-11 --reorder rcm --precondition ic0 -o several.mtx
x_of_one
expect 2 "${run[@]}" compare poisson2d:30x20
[ "$(grep -c '^cnc: compare .*--ranks' err)" = 1 ] || fail "one message: $(cat err)"
expect 2 "${run[@]}" generate poisson2d:30x20 -o B.mtx
[ "$(grep -c '^cnc: only solve' err)" = 1 ] || fail "one message: $(cat err)"

# One matrix on 1, 2 and 3 ranks.
expect 0 "${run[@]}" compare poisson2d:30x20 --ranks --repeats 11 --min-time 0 --json ranks.json
for count in 1 2 3; do
  [ "$(grep -Ec "^ +$count +[0-9]+ +1\.0" out)" = 1 ] || fail "a line for $count ranks: $(cat out)"
  grep -q "\"count\": $count," ranks.json || fail "and an entry in JSON: $(cat ranks.json)"
done
[ "$(grep -c '"repeats": 11,*$' ranks.json)" = 3 ] || fail "as many repeats as asked for: $(cat ranks.json)"
for bad in nothing.mtx wide.mtx "poisson2d:9 --formats csr"; do
  expect 2 "${run[@]}" compare $bad --ranks
  [ "$(grep -c '^cnc: ' err)" = 1 ] || fail "one message: $(cat err)"
done
expect 2 "$cnc" compare poisson2d:9 --ranks
grep -q '^cnc: compare --ranks: .*mpirun' err || fail "how it is started: $(cat err)"
expect 2 "${run[@]}" solve --no-such-option
[ "$(grep -c '^cnc: ' err)" = 1 ] || fail "one message: $(cat err)"
