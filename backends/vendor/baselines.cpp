#include "vendor/baselines.hpp"

#ifdef CNC_HAVE_CUSPARSE
#include "vendor/cusparse.hpp"
#endif
#ifdef CNC_HAVE_KOKKOS_KERNELS
#include "vendor/kokkos_kernels.hpp"
#endif
#ifdef CNC_HAVE_ROCSPARSE
#include "vendor/rocsparse.hpp"
#endif

#include <vector>

namespace cnc {

/// The only list of baselines.
std::span<const Backend* const> baselines() {
  static const std::vector<const Backend*> list = {
#ifdef CNC_HAVE_KOKKOS_KERNELS
      &kokkos_kernels_backend,
#endif
#ifdef CNC_HAVE_CUSPARSE
      &cusparse_backend,       &cusparse_alg2_backend,
      &cusparse_sell_backend,  &cusparse_bsr_backend,
#endif
#ifdef CNC_HAVE_ROCSPARSE
      &rocsparse_backend,      &rocsparse_stream_backend,
#endif
  };
  return list;
}

}  // namespace cnc
