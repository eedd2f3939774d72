#!/usr/bin/env bash
# From a clean clone to a solved system: installs what is missing, builds the command line, solves an
# elasticity problem and compares the backends on it.
#
#   cmake/bootstrap.sh [--preset cpu|cuda|hip] [--kokkos TREE] [PROBLEM or FILE]        default: cpu, elasticity3d:20
#
# For a GPU Kokkos must reach it: the source tree given by --kokkos is built along, else the Kokkos in Kokkos_ROOT is
# used if that is set, else a release is fetched and built. Where there is no GPU, what was built is not run.
#
# CNC_JOBS sets the number of parallel compilations (default: all cores).
set -euo pipefail
# shellcheck source=cmake/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  echo "usage: cmake/bootstrap.sh [--preset cpu|cuda|hip] [--kokkos TREE] [PROBLEM or FILE]" >&2
  exit 2
}

preset=cpu kokkos='' problem=''
while [ $# -gt 0 ]; do
  case $1 in
    --preset) [ $# -ge 2 ] || usage; preset=$2; shift 2 ;;
    --kokkos) [ $# -ge 2 ] || usage; kokkos=$(cd "$2" && pwd); shift 2 ;;
    -*) usage ;;
    *) [ -z "$problem" ] || usage; problem=$1; shift ;;
  esac
done
problem=${problem:-elasticity3d:20}

settings=() packages=("${build_packages[@]}") where=()
case $preset in
  cpu) ;;
  cuda)
    nvcc=$(find_nvcc) || { echo "No nvcc in PATH, CUDA_HOME or /usr/local/cuda: install the CUDA Toolkit 12 or 13." >&2; exit 1; }
    say "$nvcc: $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p')"
    settings+=("-DCMAKE_CUDA_COMPILER=$nvcc")
    has_gpu() { nvidia-smi -L >/dev/null 2>&1; } ;;
  hip)
    packages+=("${hip_packages[@]}")
    has_gpu() { [ -e /dev/kfd ]; } ;;
  *) usage ;;
esac

if [ "$preset" != cpu ]; then
  where=(--memory device)
  # The distribution's Kokkos reaches no device.
  packages=("${packages[@]/libtrilinos-*/}")
fi
if [ -n "$kokkos" ]; then
  settings+=("-DFETCHCONTENT_SOURCE_DIR_KOKKOS=$kokkos")
elif [ "$preset" != cpu ] && [ -z "${Kokkos_ROOT:-}" ]; then
  settings+=(-DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON)
fi

mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep .)
install_missing "${packages[@]}"
if [ "$preset" = hip ]; then
  command -v hipcc >/dev/null || { echo "No hipcc in PATH: install ROCm, or hipcc from the distribution." >&2; exit 1; }
  settings+=("-DCMAKE_CXX_COMPILER=$(command -v hipcc)")
fi
configure "$preset" "${settings[@]}"
build "$preset" cnc_cli

cnc=build/$preset/src/cli/cnc
if [ "$preset" != cpu ] && ! has_gpu; then
  say "$cnc is built. No GPU is usable on this machine, so it is not run."
  exit
fi
say "$cnc solve $problem ${where[*]}"
$cnc solve "$problem" "${where[@]}"
say "$cnc compare $problem ${where[*]}"
$cnc compare "$problem" "${where[@]}"
