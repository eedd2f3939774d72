#pragma once

// Everything that the kernels include, read before a wider instruction set is switched on.
#include <cnc/contract/backend.hpp>
#include <cnc/contract/stored_rows.hpp>
#include <openmp/careful.hpp>
#include <openmp/gathers.hpp>
#include <openmp/openmp.hpp>
#include <openmp/partition.hpp>
#include <openmp/row_terms.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
