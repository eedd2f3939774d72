# shellcheck shell=bash
# Shared by bootstrap.sh and test.sh: finds what is missing, configures and builds. Not run by itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
jobs=${CNC_JOBS:-$(nproc 2>/dev/null || echo 2)}

say() { printf '\n== %s\n' "$*"; }

# The tool chain and libraries of a host build, by their Debian names. BLAS and LAPACK are there for
# Kokkos Kernels, whose package links them without asking for them.
# shellcheck disable=SC2034
build_packages=(
  g++ cmake ninja-build
  libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev libblas-dev liblapack-dev
  libfast-float-dev libxxhash-dev libpng-dev zlib1g-dev
  libcli11-dev nlohmann-json3-dev
  catch2 libeigen3-dev libboost-context-dev
)
# What cnc::mpi needs on top.
# shellcheck disable=SC2034
mpi_packages=(libopenmpi-dev openmpi-bin libmetis-dev)
# What the tests have on top: two of their build trees share most of what they compile.
# shellcheck disable=SC2034
test_packages=(ccache)
# What the tests of the documentation need on top.
# shellcheck disable=SC2034
docs_packages=(doxygen)
# What the sanitized part of the tests needs on top: clang, its sanitizers and its OpenMP library.
# shellcheck disable=SC2034
sanitizer_packages=(clang libclang-rt-14-dev libomp-dev)
# What compiling and linking the HIP sources needs; no GPU.
# shellcheck disable=SC2034
hip_packages=(hipcc libamdhip64-dev rocm-device-libs)

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

has_candidate() {
  local policy
  policy=$(apt-cache policy "$1" 2>/dev/null)
  [[ $policy == *"Candidate: "* && $policy != *"Candidate: (none)"* ]]
}

# install_missing PACKAGE...: installs through apt-get what dpkg does not list, and nothing else. A
# package that the system does not offer is named and left out: CMake then says whether it matters.
install_missing() {
  local package missing=() offered=() absent=() as_root=()
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This system has no apt-get. Needed, by their Debian names: $*"
    return 0
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages, and neither root nor sudo to install them. As root, run:"
      echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
      return 0
    fi
    as_root=(sudo)
  fi
  apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@"
  }
  # A fresh machine has no package lists yet.
  for package in "${missing[@]}"; do
    if ! has_candidate "$package"; then
      say "Reading the package lists (apt-get update)"
      apt_get update || true
      break
    fi
  done
  for package in "${missing[@]}"; do
    if has_candidate "$package"; then offered+=("$package"); else absent+=("$package"); fi
  done
  if [ ${#absent[@]} -gt 0 ]; then
    echo "Not offered by this system's package manager: ${absent[*]}"
  fi
  [ ${#offered[@]} -gt 0 ] || return 0
  say "Installing with apt-get: ${offered[*]}"
  # Lists that are too old name files that are gone: read them again and try once more.
  apt_get install -y --no-install-recommends "${offered[@]}" ||
    { apt_get update && apt_get install -y --no-install-recommends "${offered[@]}"; }
}

# find_nvcc: prints the CUDA compiler, which is often installed beside the search path; fails without one.
find_nvcc() {
  command -v nvcc && return
  local nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
  [ -x "$nvcc" ] && echo "$nvcc"
}

# ccache keeps nothing that is compiled with a precompiled header unless it is told that macros of time and definitions
# that the header does not read may differ; and it takes what one build tree compiled for another where it looks at paths from here.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root}

# configure PRESET [cmake argument...]: ccache is used where it is installed, and never needed.
configure() {
  local preset=$1
  shift
  say "Configuring preset $preset"
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
  cmake --preset "$preset" "$@"
}

# build PRESET [target...]
build() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  say "Building preset $preset"
  cmake --build --preset "$preset" --parallel "$jobs" "${targets[@]}"
}
