#!/usr/bin/env bash
# What cmake/bootstrap.sh asks of CMake for each preset, with stand-ins for cmake, the compilers and the package manager.
#
#   bootstrap_test.sh REPOSITORY WORK_DIR
set -euo pipefail
repository=$1 work=$2
rm -rf "$work"
mkdir -p "$work/bin" "$work/cuda/bin" "$work/tree"

stub() { printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"; chmod +x "$work/$1"; }
stub bin/cmake 'echo "cmake $*" >>"$CNC_LOG"'
stub bin/dpkg-query 'echo "$*" | grep -o "[^ ]*$" >>"$CNC_LOG.packages"; printf installed'
stub bin/apt-get 'exit 1'
stub bin/nvidia-smi 'exit 1'
stub bin/hipcc 'exit 0'
stub cuda/bin/nvcc 'echo "Cuda compilation tools, release 12.8, V12.8.93"'
for tool in bash sh env dirname grep sed cat nproc printf uname; do
  ln -sf "$(command -v $tool)" "$work/bin/$tool"
done

failures=0
# expect PRESET TEXT... -- ARGUMENT...: every text is in the lines that cmake was called with; !TEXT is not.
expect() {
  local preset=$1 text texts=() log=$work/log
  shift
  while [ "$1" != -- ]; do texts+=("$1"); shift; done
  shift
  rm -f "$log" "$log.packages"
  if ! CNC_LOG=$log CUDA_HOME=$work/cuda PATH=$work/bin "$repository/cmake/bootstrap.sh" --preset "$preset" "$@" \
    >"$work/out" 2>&1; then
    echo "--preset $preset $*: failed"; cat "$work/out"; failures=$((failures + 1)); return
  fi
  for text in "${texts[@]}"; do
    if [ "${text#!}" != "$text" ]; then
      ! grep -qe "${text#!}" "$log" "$log.packages" || { echo "--preset $preset: has ${text#!}"; failures=$((failures + 1)); }
    else
      grep -qe "$text" "$log" "$log.packages" || { echo "--preset $preset: lacks $text"; cat "$log"; failures=$((failures + 1)); }
    fi
  done
}

release=-DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON
expect cuda "cmake --preset cuda" "CMAKE_CUDA_COMPILER=$work/cuda/bin/nvcc" "$release" \
  "cmake --build --preset cuda .*cnc_cli" '!libtrilinos' libpng-dev --
expect cuda "FETCHCONTENT_SOURCE_DIR_KOKKOS=$work/tree" "!$release" -- --kokkos "$work/tree"
Kokkos_ROOT=$work/tree expect cuda "!$release" '!FETCHCONTENT' --
expect hip "cmake --preset hip" "CMAKE_CXX_COMPILER=$work/bin/hipcc" "$release" hipcc rocm-device-libs '!libtrilinos' --

for wrong in "--preset" "--preset tpu" "--nonsense" "one two"; do
  # shellcheck disable=SC2086
  if CNC_LOG=$work/log PATH=$work/bin "$repository/cmake/bootstrap.sh" $wrong >"$work/out" 2>&1; then
    echo "'$wrong' was accepted"; failures=$((failures + 1))
  fi
done
exit $((failures > 0))
