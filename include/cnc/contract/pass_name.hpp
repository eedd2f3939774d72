#pragma once

#include <cnc/contract/methods.hpp>

#include <type_traits>

namespace cnc {

/// Which of a method's lists of phases.
enum class PhaseGroup { start, iteration, finish };

/// A pass by its place among the phases of all methods.
struct PassName {
  int method = 0;                            ///< place in Methods
  PhaseGroup group = PhaseGroup::iteration;  ///< list of phases
  int phase = 0;                             ///< place there
};

namespace methods {

/// The place of a method in Methods.
template <class V, class Method>
constexpr int method_index() {
  int index = -1;
  Methods<V>::for_each([&]<class Other>(int m) {
    if (std::is_same_v<Method, Other>) index = m;
  });
  return index;
}

/// The name of a pass of a method, by its type.
template <class V, class Method, class Pass>
constexpr PassName name_of() {
  PassName name{method_index<V, Method>(), PhaseGroup::finish, 0};
  const auto find_in = [&](PhaseGroup group) {
    return [&name, group]<class Phase>(int k) {
      if (std::is_same_v<Phase, Pass>) name = {name.method, group, k};
    };
  };
  Method::Start::for_each(find_in(PhaseGroup::start));
  Method::Iteration::for_each(find_in(PhaseGroup::iteration));
  return name;
}

/// Calls f.template operator()<Pass>() with the pass of a method at this place.
template <class Method, class F>
constexpr void for_pass(PassName name, const F& f) {
  const auto try_all_of = [&](PhaseGroup group) {
    return [&, group]<class Phase>(int k) {
      if constexpr (!is_product<Phase>)
        if (group == name.group && k == name.phase) f.template operator()<Phase>();
    };
  };
  Method::Start::for_each(try_all_of(PhaseGroup::start));
  Method::Iteration::for_each(try_all_of(PhaseGroup::iteration));
  if constexpr (!std::is_void_v<typename Method::Finish>)
    if (name.group == PhaseGroup::finish) f.template operator()<typename Method::Finish>();
}

/// The same with the pass of that name if it leaves sums.
template <class V, class F>
constexpr void for_summing_pass(PassName name, const F& f) {
  Methods<V>::for_each([&]<class Method>(int m) {
    if (m != name.method) return;
    for_pass<Method>(name, [&]<class Pass>() {
      if constexpr (Pass::sums.count > 0) f.template operator()<Pass>();
    });
  });
}

}  // namespace methods
}  // namespace cnc
