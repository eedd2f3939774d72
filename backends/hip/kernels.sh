#!/bin/sh
# Lists the kernels in HIP objects with the registers and shared memory that the compiler gave them.
#
#   kernels.sh LIST OBJECT...
set -eu
list=$1
shift

# The first of these names that is there: packages add LLVM's version to them.
tool() {
  for version in "" -20 -19 -18 -17 -16 -15; do
    for directory in "" /opt/rocm/llvm/bin/; do
      command -v "$directory$1$version" && return
    done
  done
  echo "kernels.sh: no $1 here" >&2
  return 1
}
bundler=$(tool clang-offload-bundler)
readelf=$(tool llvm-readelf)
objcopy=$(tool llvm-objcopy)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line per kernel of a code object, from the metadata that the driver reads too.
kernels_of() {
  "$readelf" --notes "$1" | awk -v target="$2" '
    function print_kernel() {
      if (name != "")
        printf "%-8s %5d %5d %5d %6d %6d %8d  %s\n", target, vgpr, agpr, sgpr, spill, lds, scratch, name
      name = ""
    }
    $1 == "-" && $2 == ".agpr_count:" { print_kernel(); agpr = $3 }
    $1 == "-" && $2 == ".args:" { print_kernel(); agpr = 0 }
    $1 == ".agpr_count:" { agpr = $2 }
    $1 == ".group_segment_fixed_size:" { lds = $2 }
    $1 == ".name:" && $2 ~ /^_Z/ { name = $2 }
    $1 == ".private_segment_fixed_size:" { scratch = $2 }
    $1 == ".sgpr_count:" { sgpr = $2 }
    $1 == ".vgpr_count:" { vgpr = $2 }
    $1 == ".vgpr_spill_count:" { spill = $2 }
    END { print_kernel() }'
}

for object; do
  "$objcopy" --dump-section ".hip_fatbin=$work/bundle" "$object" 2>/dev/null || continue
  "$bundler" --type=o --list --input="$work/bundle" | grep amdgcn | while read -r target; do
    "$bundler" --type=o --unbundle --targets="$target" --input="$work/bundle" --output="$work/code"
    kernels_of "$work/code" "${target##*-}"
  done
done | sort -u | c++filt | sed 's/cnc::gpu::hip_target:://g; s/cnc:://g' >"$work/kernels"

{
  printf '%-8s %5s %5s %5s %6s %6s %8s  %s\n' target vgprs agprs sgprs spills lds scratch kernel
  cat "$work/kernels"
} >"$list"
awk -v list="$list" '
  { ++kernels[$1]; if ($5 > 0) ++spilling[$1]; if ($2 > most[$1]) most[$1] = $2; if ($6 > lds[$1]) lds[$1] = $6 }
  END {
    if (NR == 0) { print "kernels.sh: no kernels in these objects"; exit 1 }
    for (t in kernels)
      printf "%s: %d kernels, at most %d vector registers and %d bytes of shared memory, %d spill\n",
        t, kernels[t], most[t], lds[t], spilling[t]
    print "All of them: " list
  }' "$work/kernels"
