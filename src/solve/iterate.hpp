#pragma once

#include "solve/prepare.hpp"
#include "solve/residual.hpp"

namespace cnc::detail {

/// Where x and r of a solve lie for callbacks: in the order of the iterations, and, where that is not the
/// caller's, room to bring them into the caller's.
template <class V, class Exec>
struct IterateViews {
  using Space = typename Exec::memory_space;
  const Ordering<V, Exec>& ordering;
  Vector<V, Space> x, r;
  Vector<V, Space> x_given, r_given;  ///< used when rows are reordered only
  index_t rows, cols;                 ///< of the matrix given
};

/// The iterate for the time of one callback, brought into the caller's order and units when it asks.
template <class V, class Exec>
class ShownIterate final : public Iterate {
 public:
  using Space = typename Exec::memory_space;

  /// form_residual(engine) is called before r is shown.
  ShownIterate(const TrueResidual<V, Exec>& residual, const IterateViews<V, Exec>& views,
               void (*form_residual)(void*), void* engine)
      : residual_(residual), views_(views), form_residual_(form_residual), engine_(engine) {
    rows = views.rows;
    cols = views.cols;
    scalar_bytes = sizeof(V);
    on_host = is_host_space<Space>;
  }
  ~ShownIterate() {
    if (x_shown_) scale(views_.x, residual_.scale());
    if (r_shown_) scale(views_.r, residual_.scale());
  }
  ShownIterate(const ShownIterate&) = delete;
  ShownIterate& operator=(const ShownIterate&) = delete;

  const void* x() override { return show(views_.x, views_.x_given, x_shown_); }
  const void* r() override {
    if (!r_shown_) form_residual_(engine_);
    return show(views_.r, views_.r_given, r_shown_);
  }

 private:
  const void* show(const Vector<V, Space>& v, const Vector<V, Space>& given, bool& shown) {
    const Exec& exec = residual_.execution_space_instance();
    if (!shown) {
      scale(v, 1 / residual_.scale());
      if (views_.ordering.active()) views_.ordering.scatter(exec, v, given);
      exec.fence();
    }
    shown = true;
    return views_.ordering.active() ? given.data() : v.data();
  }
  void scale(const Vector<V, Space>& v, double factor) const {
    if (factor != 1) residual_.multiply(v, factor);
  }

  const TrueResidual<V, Exec>& residual_;
  const IterateViews<V, Exec>& views_;
  void (*form_residual_)(void*);
  void* engine_;
  bool x_shown_ = false, r_shown_ = false;
};

}  // namespace cnc::detail
