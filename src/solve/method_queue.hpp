#pragma once

#include "solve/choose_method.hpp"
#include "solve/form.hpp"
#include "solve/workspace.hpp"

#include <functional>
#include <span>
#include <string>

namespace cnc::detail {

/// Lays out what a method with products with A^T needs; may throw.
using LayOutTranspose = std::function<void(const MethodFacts&)>;

/// The methods of a solve in their order, of which one is in use.
template <class V, class Exec>
class MethodQueue {
 public:
  using Space = typename Exec::memory_space;

  MethodQueue(const System<V, Exec>& system, Workspace<V, Space>& work, const SolveOptions& options,
              std::span<const Method> methods, const LayOutTranspose& lay_out_transpose)
      : system_(system),
        work_(work),
        options_(options),
        methods_(methods),
        lay_out_transpose_(lay_out_transpose) {}

  /// The one in use.
  Method method() const { return methods_[current_]; }
  std::string name() const { return name_of(current_); }
  /// Steps of its cycles, if it has a basis, which is allocated unless there is the right one.
  int restart() const { return restart_of(current_); }
  void allocate_basis() {
    if (!is_phased(method())) allocate_basis_of(current_);
  }

  std::size_t size() const { return methods_.size(); }
  bool is_one() const { return size() == 1; }
  /// Its name, "gmres(120)" with a basis.
  std::string name_of(std::size_t k) const {
    const std::string name = method_facts(methods_[k]).name;
    return is_phased(methods_[k]) ? name : name + "(" + std::to_string(restart_of(k)) + ")";
  }
  /// The next that can be gone on with, with what it needs laid out and allocated, and its form; their number if there
  /// is none. Says for which there is no memory.
  std::size_t next_offered(SolveForm& form, std::string& choice) {
    std::size_t next = current_ + 1;
    while (next < size() && !is_offered(next, form, choice)) ++next;
    return std::min(next, size());
  }
  void take(std::size_t k) { current_ = k; }

 private:
  /// Steps of a cycle: four times those of another gmres or fgmres before it.
  int restart_of(std::size_t k) const {
    int restart = options_.restart;
    for (std::size_t i = 0; i < k; ++i)
      if (!is_phased(methods_[i])) restart = std::min(4 * restart, largest_restart);
    return restart;
  }
  /// Steps of a cycle of the last such method before it; 0: none.
  int restart_before(std::size_t k) const {
    while (k > 0)
      if (!is_phased(methods_[--k])) return restart_of(k);
    return 0;
  }
  /// Of several ranks, whether it is offered on all.
  bool is_offered(std::size_t k, SolveForm& form, std::string& choice) {
    // Outside of what a rank may go without: it exchanges, so where it fails on one rank all end.
    if (system_.ranks && method_facts(methods_[k]).transposes) system_.ranks->lay_out_transpose();
    return !system_.anywhere(!is_offered_here(k, form, choice));
  }
  bool is_offered_here(std::size_t k, SolveForm& form, std::string& choice) {
    const Method method = methods_[k];
    try {
      if (k > 0 && fails_with(method, methods_[k - 1])) return false;
      if (method_facts(method).transposes) lay_out_transpose_(method_facts(method));
      form = choose_form(system_, method, options_.form);
      if (is_phased(method)) return true;
      const int before = restart_before(k);
      if (restart_of(k) == before || before >= system_.all_rows())
        return false;  // no longer than what has failed
      allocate_basis_of(k);
      return true;
    } catch (const UnsupportedOperation&) {
      return false;
    } catch (const OutOfMemory&) {
      const std::string reason = "; no memory for " + name_of(k);
      if (choice.find(reason) == std::string::npos) choice += reason;
      return false;
    }
  }
  void allocate_basis_of(std::size_t k) {
    const int restart = restart_of(k);
    const bool is_flexible = methods_[k] == Method::fgmres;
    if (work_.basis != nullptr && work_.basis->restart == restart &&
        (work_.basis->flexible || !is_flexible))
      return;
    const double vectors = is_flexible ? 2.0 * restart + 3 : restart + 4.0;
    require_memory("Solver::solve", system_.rows * vectors * sizeof(V), memory_of<Space>);
    work_.allocate_basis(system_.rows, restart, is_flexible);
  }

  const System<V, Exec>& system_;
  Workspace<V, Space>& work_;
  const SolveOptions& options_;
  std::span<const Method> methods_;
  const LayOutTranspose& lay_out_transpose_;
  std::size_t current_ = 0;
};

}  // namespace cnc::detail
