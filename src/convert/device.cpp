#include "convert/device_space.hpp"

#ifdef CNC_KOKKOS_HAS_DEVICE
#include "convert/narrow_indices.hpp"
#include "convert/portable/analyze.hpp"
#include "convert/portable/bcsr.hpp"
#include "convert/portable/bsell.hpp"
#include "convert/portable/dia.hpp"
#include "convert/portable/to_csr.hpp"
#include "convert/settled.hpp"

// What the other sources of this directory define for host matrices, for device matrices. One source: nvcc does
// not bear the same lambda of a template in two.

namespace cnc {

using detail::DeviceExec;
using detail::DeviceSpace;
using detail::Settled;

// First: what comes after uses it.
#define CNC_DEFINE(T)                                    \
  template <>                                            \
  Checked BcsrMatrix<T, DeviceSpace>::validate() const { \
    const Settled settled;                               \
    return portable::validate<DeviceExec>(*this);        \
  }
CNC_DEFINE(float)
CNC_DEFINE(double)
#undef CNC_DEFINE

#define CNC_DEFINE_CONVERSION(To, From)                                                            \
  template <>                                                                                      \
  BcsrMatrix<To, DeviceSpace> convert_values(const BcsrMatrix<From, DeviceSpace>& A) {             \
    const Settled settled;                                                                         \
    return portable::convert_values<To, DeviceExec>(A);                                            \
  }                                                                                                \
  template <>                                                                                      \
  void update_values(BcsrMatrix<To, DeviceSpace>& A, const CsrMatrix<From, DeviceSpace>& source) { \
    const Settled settled;                                                                         \
    portable::update_values<DeviceExec>(A, source);                                                \
  }
CNC_DEFINE_CONVERSION(float, float)
CNC_DEFINE_CONVERSION(float, double)
CNC_DEFINE_CONVERSION(double, float)
CNC_DEFINE_CONVERSION(double, double)
#undef CNC_DEFINE_CONVERSION

#define CNC_DEFINE(T)                                                                      \
  template <>                                                                              \
  BcsrMatrix<T, DeviceSpace> to_bcsr(const CsrMatrix<T, DeviceSpace>& A, int block_size) { \
    const Settled settled;                                                                 \
    return portable::to_bcsr<DeviceExec>(A, block_size);                                   \
  }                                                                                        \
  template <>                                                                              \
  BlockOccupancy block_occupancy(const CsrMatrix<T, DeviceSpace>& A, int block_size) {     \
    const Settled settled;                                                                 \
    return portable::block_occupancy<DeviceExec>(A, block_size);                           \
  }                                                                                        \
  template <>                                                                              \
  Structure analyze(const CsrMatrix<T, DeviceSpace>& A) {                                  \
    const Settled settled;                                                                 \
    return portable::analyze<DeviceExec>(A);                                               \
  }                                                                                        \
  template <>                                                                              \
  Asymmetry find_asymmetry(const CsrMatrix<T, DeviceSpace>& A) {                           \
    const Settled settled;                                                                 \
    return portable::find_asymmetry<DeviceExec>(A);                                        \
  }
CNC_DEFINE(float)
CNC_DEFINE(double)
#undef CNC_DEFINE

#define CNC_DEFINE_UPDATE(Layout, T, S)                                                    \
  template <>                                                                              \
  void update_values(Layout<T, DeviceSpace>& A, const CsrMatrix<S, DeviceSpace>& source) { \
    const Settled settled;                                                                 \
    portable::update_values<DeviceExec>(A, source);                                        \
  }
#define CNC_DEFINE_LAYOUT(Layout, T)              \
  CNC_DEFINE_UPDATE(Layout, T, float)             \
  CNC_DEFINE_UPDATE(Layout, T, double)            \
  template <>                                     \
  void Layout<T, DeviceSpace>::validate() const { \
    const Settled settled;                        \
    portable::validate<DeviceExec>(*this);        \
  }
#define CNC_DEFINE_TO_CSR(Layout, T)                                  \
  template <>                                                         \
  CsrMatrix<T, DeviceSpace> to_csr(const Layout<T, DeviceSpace>& A) { \
    const Settled settled;                                            \
    return portable::to_csr<DeviceExec>(A);                           \
  }
#define CNC_DEFINE(T)                                                                      \
  CNC_DEFINE_LAYOUT(BsellMatrix, T)                                                        \
  CNC_DEFINE_LAYOUT(DiaMatrix, T)                                                          \
  CNC_DEFINE_TO_CSR(BcsrMatrix, T)                                                         \
  CNC_DEFINE_TO_CSR(BsellMatrix, T)                                                        \
  CNC_DEFINE_TO_CSR(DiaMatrix, T)                                                          \
  template <>                                                                              \
  BsellMatrix<T, DeviceSpace> to_bsell(const CsrMatrix<T, DeviceSpace>& A, int block_size, \
                                       int slice_height, index_t sort_window) {            \
    const Settled settled;                                                                 \
    return portable::to_bsell<DeviceExec>(A, block_size, slice_height, sort_window);       \
  }                                                                                        \
  template <>                                                                              \
  DiaMatrix<T, DeviceSpace> to_dia(const CsrMatrix<T, DeviceSpace>& A, bool symmetric) {   \
    const Settled settled;                                                                 \
    return portable::to_dia<DeviceExec>(A, symmetric);                                     \
  }
CNC_DEFINE(float)
CNC_DEFINE(double)
#undef CNC_DEFINE
#undef CNC_DEFINE_TO_CSR
#undef CNC_DEFINE_LAYOUT
#undef CNC_DEFINE_UPDATE

namespace detail {
#define CNC_DEFINE(Index)                                                                    \
  template <>                                                                                \
  Vector<index_t, DeviceSpace> narrowed<DeviceSpace>(const char* name, const Index* indices, \
                                                     std::size_t n, int base) {              \
    const Settled settled;                                                                   \
    return narrowed_by<DeviceExec>(name, indices, n, base);                                  \
  }
CNC_FOR_EACH_INDEX_TYPE(CNC_DEFINE)
#undef CNC_DEFINE
}  // namespace detail

}  // namespace cnc
#endif
