#!/usr/bin/env bash
# From a clean clone to a solved system: installs what is missing, builds the command line, solves an
# elasticity problem and compares the backends on it.
#
#   cmake/bootstrap.sh [PROBLEM or FILE]        default: elasticity3d:20
#
# CNC_JOBS sets the number of parallel compilations (default: all cores).
set -euo pipefail
# shellcheck source=cmake/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

problem=${1:-elasticity3d:20}

install_missing "${build_packages[@]}"
configure cpu
build cpu cnc_cli

cnc=build/cpu/src/cli/cnc
say "$cnc solve $problem"
$cnc solve "$problem"
say "$cnc compare $problem"
$cnc compare "$problem"
