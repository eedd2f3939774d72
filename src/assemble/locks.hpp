#pragma once

#include <cnc/contract/types.hpp>

#include <algorithm>
#include <vector>

namespace cnc::detail {

/// Which variables of a finished system are unknowns, and the values of the others.
template <class T>
struct Unknowns {
  std::vector<index_t>
      column;  ///< [variables]: of a free one; -1 - its place in `locked` of a locked one
  std::vector<index_t> locked;  ///< ascending
  std::vector<T> values;        ///< [locked][right_hand_sides]
  index_t free = 0;

  bool any_locked() const { return !locked.empty(); }
  bool is_locked(index_t variable) const { return column[static_cast<std::size_t>(variable)] < 0; }
};

/// Variables that are locked now, compared to those of the unknowns that a system was made with.
template <class T>
class Locks {
 public:
  Locks(index_t variables, int right_hand_sides)
      : right_hand_sides_(static_cast<std::size_t>(right_hand_sides)),
        slot_(static_cast<std::size_t>(variables), -1) {
    unknowns_ = now();
  }

  /// value(k) for each right-hand side.
  template <class Value>
  void lock(index_t variable, const Value& value) {
    index_t& slot = slot_[static_cast<std::size_t>(variable)];
    if (slot < 0) {
      slot = new_slot();
      count(variable, true);
    }
    for (std::size_t k = 0; k < right_hand_sides_; ++k)
      values_[static_cast<std::size_t>(slot) * right_hand_sides_ + k] = value(k);
  }
  void unlock(index_t variable) {
    index_t& slot = slot_[static_cast<std::size_t>(variable)];
    if (slot < 0) return;
    unused_.push_back(slot);
    slot = -1;
    count(variable, false);
  }
  bool is_locked(index_t variable) const { return slot_[static_cast<std::size_t>(variable)] >= 0; }

  /// Whether other variables are locked than in unknowns().
  bool changed() const { return changed_ != 0; }
  const Unknowns<T>& unknowns() const { return unknowns_; }

  /// The unknowns with what is locked now.
  Unknowns<T> now() const {
    Unknowns<T> result;
    const auto n = slot_.size();
    result.column.resize(n);
    for (std::size_t v = 0; v < n; ++v) {
      if (slot_[v] < 0) {
        result.column[v] = result.free++;
      } else {
        result.column[v] = -1 - static_cast<index_t>(result.locked.size());
        result.locked.push_back(static_cast<index_t>(v));
      }
    }
    take_values(result);
    return result;
  }
  void use(Unknowns<T> unknowns) {
    unknowns_ = std::move(unknowns);
    changed_ = 0;
  }
  /// The values that locked variables have now.
  void use_values() { take_values(unknowns_); }

 private:
  index_t new_slot() {
    if (unused_.empty()) {
      values_.resize(values_.size() + right_hand_sides_);
      return static_cast<index_t>(values_.size() / right_hand_sides_) - 1;
    }
    const index_t slot = unused_.back();
    unused_.pop_back();
    return slot;
  }
  void count(index_t variable, bool locked) {
    changed_ += unknowns_.is_locked(variable) == locked ? -1 : 1;
  }
  void take_values(Unknowns<T>& unknowns) const {
    unknowns.values.resize(unknowns.locked.size() * right_hand_sides_);
    auto to = unknowns.values.begin();
    for (const index_t variable : unknowns.locked) {
      const auto slot = static_cast<std::size_t>(slot_[static_cast<std::size_t>(variable)]);
      to = std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(slot * right_hand_sides_),
                       right_hand_sides_, to);
    }
  }

  std::size_t right_hand_sides_;
  std::vector<index_t> slot_;    ///< [variables]: where its values are, or -1
  std::vector<T> values_;        ///< [slots][right_hand_sides]
  std::vector<index_t> unused_;  ///< slots
  Unknowns<T> unknowns_;
  offset_t changed_ = 0;  ///< variables that are locked in one of the two
};

}  // namespace cnc::detail
