#!/usr/bin/env bash
# Everything that must pass: the whole test suite on the optimised build, then the readers, unit,
# conformance and distributed tests under the address and undefined-behaviour sanitizers with a bounded fuzz run, and solvers in
# several threads under the thread sanitizer. Where a CUDA compiler is installed, the CUDA sources are compiled and
# linked too, and the HIP sources where the system offers hipcc; neither needs a GPU.
#
#   cmake/test.sh [--no-sanitizers]
set -euo pipefail
# shellcheck source=cmake/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

with_sanitizers=yes
case ${1:-} in
  "") ;;
  --no-sanitizers) with_sanitizers=no ;;
  *) echo "usage: cmake/test.sh [--no-sanitizers]" >&2; exit 2 ;;
esac

passed=0 failed=0 skipped=0

# run_tests PRESET [WRAPPER...]: runs them all, whatever fails, and adds to the counts. A test that could not be
# started is "notrun" in ctest's report, like a skipped one: only what said so itself is skipped.
run_tests() {
  local preset=$1 report=$root/build/$1/test_report.xml code=0 all good left_out bad
  shift
  say "Testing preset $preset"
  rm -f "$report"
  "$@" ctest --preset "$preset" --parallel "$jobs" --output-junit "$report" || code=$?
  count() { grep -c "$1" "$report" || true; }
  all=0 good=0 left_out=0
  if [ -s "$report" ]; then
    all=$(count '<testcase ')
    good=$(count '<testcase .*status="run"')
    left_out=$(count '<skipped message="SKIP_')
  fi
  bad=$((all - good - left_out))
  if [ $code -ne 0 ] && [ $bad -eq 0 ]; then
    echo "ctest ended with $code" >&2
    bad=1
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  skipped=$((skipped + left_out))
}

install_missing "${build_packages[@]}" "${mpi_packages[@]}" "${docs_packages[@]}" "${test_packages[@]}"
# Fewer kernels for the fiber target: many differ in a constant, and compile for minutes. Waves of 32 lanes
# here; under the sanitizers, where there are any, of 64 (see the preset asan).
settings=(-DCNC_KERNELS=small)
[ $with_sanitizers = no ] || settings+=(-DCNC_TEST_WAVES=32)
mpi=()
if command -v mpicxx >/dev/null && command -v mpirun >/dev/null; then
  mpi=(-DCNC_ENABLE_MPI=ON)
else
  echo "No MPI here: nothing ran on several processes."
fi
configure cpu "${settings[@]}" "${mpi[@]}"
build cpu
run_tests cpu

if [ $with_sanitizers = yes ]; then
  install_missing "${sanitizer_packages[@]}"
  settings=()
  if ! command -v clang++ >/dev/null; then
    echo "No clang++ here: sanitizers of the default compiler, and the fuzz tests replay their corpus."
    settings=(-DCMAKE_CXX_COMPILER=c++ -DCNC_FUZZ=OFF)
  fi
  configure asan "${settings[@]}" "${mpi[@]}"
  build asan cnc_tests_sanitized
  run_tests asan
  if command -v clang++ >/dev/null; then
    configure tsan
    build tsan concurrency_test
    # The sanitizer does not know addresses as random as some kernels make them.
    as_placed=(setarch --addr-no-randomize)
    "${as_placed[@]}" true 2>/dev/null || as_placed=()
    run_tests tsan "${as_placed[@]}"
  else
    echo "No clang++ here: nothing ran under the thread sanitizer."
  fi
fi

# One build tree for the device sources of both vendors. The rest of it is that of the first one, which ccache has.
install_missing "${hip_packages[@]}"
device_preset="" device_targets=(cnc_tests_device_check)
device_settings=("${mpi[@]}" -DCNC_BUILD_PERF=OFF -DCNC_TEST_GPU_HOST=OFF -DCNC_WITH_ROCSPARSE=OFF)
if command -v hipcc >/dev/null; then
  device_preset=hip-check
  device_targets+=(hip_kernels)
  device_settings+=(-DCNC_ENABLE_HIP=ON)
else
  echo "No hipcc here: the HIP sources were not compiled."
fi
if find_nvcc >/dev/null; then
  # One architecture is enough to see that everything compiles and links.
  device_preset=cuda-check
  device_settings+=(-DCMAKE_CUDA_COMPILER="$(find_nvcc)" -DCMAKE_CUDA_ARCHITECTURES=90)
  # Nor does it matter how fast these kernels would be.
  if [[ $("$(find_nvcc)" --help) == *--Ofast-compile* ]]; then
    device_settings+=(-DCMAKE_CUDA_FLAGS_RELEASE="-O1 -DNDEBUG --Ofast-compile=max")
  fi
else
  echo "No nvcc here: the CUDA sources were not compiled."
fi
if [ -n "$device_preset" ]; then
  configure "$device_preset" "${device_settings[@]}"
  build "$device_preset" "${device_targets[@]}"
  run_tests "$device_preset"
fi

say "Result"
[ $skipped -eq 0 ] || echo "$skipped skipped: what they need is not on this machine"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
