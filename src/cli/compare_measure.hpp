#pragma once

#include "memory.hpp"
#include "precision.hpp"
#include "timing.hpp"

#include <cnc/backend.hpp>
#include <cnc/formats.hpp>
#include <cnc/model.hpp>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace cnc::cli {

/// What is measured and how long.
struct CompareRequest {
  std::vector<std::string> backends;  ///< names; empty: every usable one that is no variant
  std::string memory = "all";         ///< "host", "device" or "all"
  std::vector<FormatSpec> formats;    ///< empty: those that could win on this matrix
  bool variants = false;
  Effort effort;  ///< for each figure
  int threads = 0;
  int block_threads = 0;
};

/// One operation timed. `error` is relative to the reference backend in double (maximum norms).
struct Measurement {
  Timing timing;
  Cost cost;
  double working_set = 0;  ///< bytes that it touches
  double read_rate = 0;    ///< bytes per second of a read stream over as many
  double error = std::numeric_limits<double>::quiet_NaN();

  double gigabytes_per_second() const { return cost.bytes / timing.median * 1e-9; }
  double gigaflops() const { return cost.flops / timing.median * 1e-9; }
  /// Of the read stream. Above one it needs a remark.
  double bandwidth_fraction() const { return gigabytes_per_second() * 1e9 / read_rate; }
  bool above_stream() const { return timing.resolved() && bandwidth_fraction() > 1.005; }
};

/// Who worked on what.
struct Row {
  Precision precision = Precision::f64;
  const Backend* backend = nullptr;
  int threads = 1;  ///< at most; means nothing on a device
};

inline bool on_device(const Row& row) { return row.backend->memory == MemorySpace::device; }

/// One backend on one format in one precision. What is not offered stays unmeasured.
struct MatrixRow : Row {
  std::string format;
  Measurement spmv;
  Measurement pcg;  ///< one Jacobi-PCG iteration; `error` unused
};

struct VectorRow : Row {
  std::string operation;
  Measurement measurement;
};

/// What one memory delivers.
struct MemorySpeed {
  MemorySpace space = MemorySpace::host;
  Bandwidth at_size;  ///< over as many bytes as CSR in double needs
  Bandwidth memory;   ///< over more than the caches hold
};

struct Comparison {
  std::vector<MemorySpeed> speeds;  ///< of each memory in which something was measured
  Structure structure;
  int threads = 0;
  std::vector<MatrixRow> matrix_rows;
  std::vector<VectorRow> vector_rows;
  std::vector<std::string> notes;  ///< what was left out, and why
};

/// Usable backends of one memory; those asked for by name are refused when they are not usable.
std::vector<const Backend*> chosen_backends(const CompareRequest& request, MemorySpace memory);

/// Runs everything. `tell` hears what is being measured.
/// Errors   as Context and build_format.
Comparison measure_all(const CsrMatrix<double>& A, const CompareRequest& request,
                       const std::function<void(const std::string&)>& tell);

}  // namespace cnc::cli
