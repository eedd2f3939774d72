#pragma once

#include <cnc/formats.hpp>
#include <cnc/options.hpp>
#include <cnc/spmv.hpp>

#include "convert/checks.hpp"
#include "convert/spaces.hpp"
#include "convert/value_table.hpp"
#include "solve/diagnosis.hpp"
#include "solve/prepare.hpp"
#include "solve/system.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cnc::detail {

/// A value that float would round.
struct IsRoundedByFloat {
  const double* values;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t k) const {
    return !(static_cast<double>(static_cast<float>(values[k])) == values[k]);
  }
};

/// to[k] := from[k], which fits.
struct StoreInFloat {
  const double* from;
  float* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const { to[k] = static_cast<float>(from[k]); }
};

/// In which layout the matrix of a system is, and its transpose for methods that have products with it: chooses one, builds it
/// and brings new values into it. What it builds is in the System; where layouts are copies they may store less than
/// they are made of: values in float, the different rows of few, a byte for each of few values, columns of 16 bits.
template <class V, class Exec>
class Layouts {
 public:
  using Space = typename Exec::memory_space;
  using Csr = CsrMatrix<V, Space>;

  /// options: as prepared.
  Layouts(System<V, Exec>& system, const SolveOptions& options, Diagnosis<V, Exec>& diagnosis)
      : system_(system), options_(options), diagnosis_(diagnosis) {}

  const std::string& format() const { return format_; }
  int block_size() const { return block_size_; }
  /// Of block_jacobi where no other is asked for: the layout's, or where one without blocks was chosen, that of the pattern. Ranks,
  /// which see their own block each, might not agree on that.
  int preconditioner_block_size() const {
    return is_chosen_ && block_size_ == 1 && !system_.ranks ? full_block_size_ : block_size_;
  }
  /// Reasons for what was chosen.
  const std::vector<std::string>& advice() const { return advice_; }
  void advise(std::string sentence) { advice_.push_back(std::move(sentence)); }

  void clear() {
    is_chosen_ = false;
    advice_.clear();
    system_.matrix = {};
    forget_narrow();
    forget_transpose();
  }

  /// No matrix, but an operator.
  void take_operator(const LinearOperator<V, Space>& A) {
    format_ = "matrix-free";
    system_.matrix_free = A;
  }
  /// A layout of the caller's, as it is.
  void take(Matrix<V, Space> A) {
    block_size_ = cnc::block_size(A);
    const char* name = std::visit([](const auto& a) { return a.format_name(); }, A);
    format_ = FormatSpec{name, block_size_}.text();
    system_.matrix = std::move(A);
  }

  /// A in the layout asked for, or in that which promises most.
  void build(const Csr& A) {
    forget_narrow();
    is_chosen_ = options_.format.name == "auto";
    std::optional<Structure> structure;
    if (is_chosen_) {
      structure = analyze(A);
      full_block_size_ = full_block_size(*structure);
      diagnosis_.know(structure->least_symmetric);
    }
    const bool fits = may_copy_values(options_.format) && takes_float(A);
    if (fits && build_of_what_repeats(A, structure)) return;
    const FormatSpec spec = decide(structure, fits);
    if constexpr (!std::is_same_v<V, float>) {
      if (options_.storage == StoragePrecision::f32) return build_in_float(A, spec);
      if (fits && may_copy_values(spec) && build_without_loss(A, spec)) return;
    }
    system_.matrix = build_format(A, spec);
    find_fewer_bytes(system_.matrix, A);
  }

  /// New values in the layout that there is; true: iterations are to be planned anew.
  bool refresh(const Csr& A) {
    // A CSR layout shares the caller's arrays: it moves on to the new ones instead of writing to the old.
    if (auto* csr = std::get_if<BcsrMatrix<V, Space>>(&system_.matrix);
        csr != nullptr && csr->block_size == 1) {
      csr->values = A.values;
      csr->dictionary = {};
      renew_table(*csr);
      system_.plan_products();
    } else {
      cnc::update_values(system_.matrix, A);
    }
    refresh_narrow(A);
    with_stored([&](auto& layout) { drop_unread_dictionary(layout); });
    system_.note_arrays();
    return std::exchange(system_.narrow_failed, false);
  }

  /// Whether float holds all values without loss.
  bool fits_float(const Csr& A) const {
    if constexpr (std::is_same_v<V, double>) {
      const auto entries = static_cast<index_t>(A.values.extent(0));
      return first_row(exec(), entries, IsRoundedByFloat{A.values.data()}) < 0;
    } else {
      return false;
    }
  }

  /// Whether the layout that iterations use is its own transpose.
  bool is_symmetric() const {
    return with_stored([](const auto& layout) {
      return std::visit(
          [](const auto& a) {
            if constexpr (requires { a.symmetric; })
              return a.symmetric;
            else
              return false;
          },
          layout);
    });
  }
  /// Whether it holds symmetric values only, because `auto` found them so.
  bool is_chosen_for_symmetry() const { return is_chosen_ && is_symmetric(); }

  /// Rows that a reordering must keep together: a block of the layout, else of the preconditioner.
  int ordering_block_size(const Csr& A) const {
    FormatSpec spec = options_.format;
    int of_preconditioner = options_.preconditioner_block_size;
    if (spec.name == "auto") {
      const Structure structure = analyze(A);
      spec = choose(structure, takes_float(A)).format;
      if (of_preconditioner == 0) of_preconditioner = full_block_size(structure);
    }
    if (spec.block_size > 1) return spec.block_size;
    return options_.preconditioner == PreconditionerKind::block_jacobi
               ? std::max(1, of_preconditioner)
               : 1;
  }

  /// Compares what is needed besides `layout_bytes` and with them to what is free.
  void require_room(index_t rows, offset_t nonzeros, double layout_bytes) const {
    const double given = system_.given ? system_.given->bytes(rows, nonzeros) : 0;
    const double copy = options_.copy_matrix ? double(nonzeros) * (sizeof(index_t) + sizeof(V)) +
                                                   double(rows) * sizeof(index_t)
                                             : 0;
    const double layouts = has_transpose() ? 2 * layout_bytes : layout_bytes;
    require_memory("Solver::prepare",
                   least_prepare_bytes<V>(rows, nonzeros, options_) + given + copy + layouts,
                   memory_of<Space>);
  }

  // --- the transpose ----------------------------------------------------------------------------------------

  /// In the layout of the matrix.
  void build_transpose(const Csr& A) {
    if (is_symmetric()) {
      system_.transpose = system_.matrix;
      system_.narrow_transpose = system_.narrow;
      return;
    }
    transposition_.set_up(exec(), A);
    const FormatSpec spec = parse_format(format_);
    if (system_.narrow) {
      system_.narrow_transpose = build_format(convert_values<float>(transposition_.matrix), spec);
      system_.transpose = transposition_.matrix;
    } else {
      system_.transpose = build_format(transposition_.matrix, spec);
    }
  }
  /// The same for other values in the same pattern.
  void refresh_transpose(const Csr& A) {
    if (is_symmetric()) return build_transpose(A);
    transposition_.refill(exec(), A);
    if (system_.narrow_transpose)
      cnc::update_values(*system_.narrow_transpose, transposition_.matrix);
    cnc::update_values(*system_.transpose, transposition_.matrix);
  }
  void forget_transpose() {
    system_.transpose.reset();
    system_.narrow_transpose.reset();
    transposition_ = {};
  }
  /// In CSR, where the layout is not its own.
  const Csr& transpose() const { return transposition_.matrix; }

  // --- in the type of the vectors again ---------------------------------------------------------------------

  /// A layout in float without loss, for an object that looks at it.
  struct Widened {
    Matrix<V, Space> matrix;
    std::optional<Matrix<V, Space>> transpose;
  };
  /// source: what the layout was made of.
  Widened widened(const Csr& source) const {
    const FormatSpec spec = parse_format(format_);
    Widened wide{build_format(source, spec), {}};
    find_fewer_bytes(wide.matrix, source);
    if (system_.narrow_transpose)
      wide.transpose = is_symmetric() ? wide.matrix : build_format(transposition_.matrix, spec);
    return wide;
  }
  double widened_bytes() const {
    if (format_ == "csr") return 0;  // which is there
    const int layouts = system_.narrow_transpose && !is_symmetric() ? 2 : 1;
    return double(stored(*system_.narrow)) * (sizeof(V) + sizeof(index_t)) * layouts;
  }
  /// The values are the same, and what is known of them.
  void take(Widened wide) {
    forget_narrow();
    system_.narrow_transpose.reset();
    system_.matrix = std::move(wide.matrix);
    system_.transpose = std::move(wide.transpose);
  }

 private:
  const Context<Exec>& context() const { return *system_.ctx; }
  const Exec& exec() const { return context().execution_space_instance(); }

  /// The largest analysed size whose blocks are nearly full in the pattern; 1 where there is none.
  static int full_block_size(const Structure& structure) {
    constexpr double full = 0.9;
    int size = 1;
    for (const BlockOccupancy& occupancy : structure.occupancy)
      if (occupancy.density >= full) size = std::max(size, occupancy.block_size);
    return size;
  }

  /// Of a method that the caller has named.
  bool has_transpose() const {
    return options_.method != Method::automatic && method_facts(options_.method).transposes;
  }

  /// Calls f with the matrix as it is stored for iterations.
  template <class F>
  decltype(auto) with_stored(const F& f) const {
    return system_.narrow ? f(*system_.narrow) : f(system_.matrix);
  }

  void forget_narrow() {
    system_.narrow.reset();
    system_.narrow_is_exact = system_.narrow_failed = false;
  }
  /// Whether the backend has products of the float matrix with the vectors.
  bool multiplies_narrow() const {
    return std::visit(
        [&](const auto& a) { return context().template matrices<V>(a.operand()).spmv != nullptr; },
        *system_.narrow);
  }

  /// CSR is the caller's on hosts. On devices a copy of the values is worth it: in float an entry takes 6 bytes for 10 where columns
  /// are short, 8 for 12 where they are not.
  static bool may_copy_values(const FormatSpec& spec) {
    return spec.name != "csr" || !is_host_space<Space>;
  }
  /// Whether values are stored in float without loss, in a layout that is a copy, which no object looks at.
  bool takes_float(const Csr& A) const {
    using Function = FunctionPreconditioner<V, Exec>;
    const bool has_object =
        system_.given && dynamic_cast<const Function*>(system_.given.get()) == nullptr;
    return options_.storage == StoragePrecision::lossless && !has_object && fits_float(A);
  }

  FormatAdvice choose(const Structure& structure, bool in_float) const {
    const bool narrow = in_float || options_.storage == StoragePrecision::f32;
    const int value_bytes = narrow ? int(sizeof(float)) : int(sizeof(V));
    const bool csr_is_wide = in_float && !may_copy_values({"csr", 1});
    FormatAdvice best =
        choose_format(structure, value_bytes, memory_of<Space>, csr_is_wide ? int(sizeof(V)) : 0);
    for (const FormatInfo<V, Space>& known : formats<V, Space>())
      if (known.name == best.format.name && best.format.name != "csr")
        require_room(structure.rows, structure.nonzeros,  // with columns of 32 bits
                     known.predicted_bytes(structure, best.format, value_bytes, MemorySpace::host));
    return best;
  }
  /// The layout asked for; for `auto`, with a structure, the one that is chosen.
  FormatSpec decide(const std::optional<Structure>& structure, bool in_float) {
    FormatSpec spec = options_.format;
    if (structure) {
      FormatAdvice best = choose(*structure, in_float);
      spec = best.format;
      advice_ = std::move(best.reasons);
    }
    format_ = spec.text();
    block_size_ = spec.block_size;
    return spec;
  }

  /// In the type of the vectors, where products then read less than of float: on devices, if rows repeat or those of large CSR hold few values. False,
  /// and nothing is laid out: neither is so.
  bool build_of_what_repeats(const Csr& A, const std::optional<Structure>& structure) {
    if (!context().backend().value_tables) return false;
    try {
      Matrix<V, Space> layout = build_format(A, decide(structure, false));
      find_dictionary(layout, A);
      if (!reads_arrays(layout)) find_table(layout, A);
      if (!has_dictionary(layout) && !has_table(layout)) return false;
      find_short(layout, A);
      system_.matrix = std::move(layout);
      return true;
    } catch (const OutOfMemory&) {  // float may have room
      return false;
    }
  }
  template <class M>
  static bool has_dictionary(const Matrix<M, Space>& layout) {
    return std::visit([](const auto& a) { return !a.dictionary.empty(); }, layout);
  }
  template <class M>
  static bool has_table(const Matrix<M, Space>& layout) {
    return std::visit(
        [](const auto& a) {
          if constexpr (requires { a.value_table; })
            return !a.value_table.empty();
          else
            return false;
        },
        layout);
  }
  /// Under double vectors.
  void build_in_float(const Csr& A, const FormatSpec& spec) {
    system_.matrix = A;  // the true residual needs every bit of the matrix given
    system_.narrow = build_format(convert_values<float>(A), spec);
    find_fewer_bytes(*system_.narrow, A);
  }
  /// The same with values that fit. False, and nothing is laid out: no room, the backend has no such products, or a device reads a
  /// dictionary.
  bool build_without_loss(const Csr& A, const FormatSpec& spec) {
    try {
      require_room(A.rows, A.nonzeros, double(A.nonzeros) * sizeof(float));
      build_in_float(A, spec);
      system_.narrow_is_exact =
          multiplies_narrow() && (is_host_space<Space> || !has_dictionary(*system_.narrow));
    } catch (const OutOfMemory&) {
    }
    if (!system_.narrow_is_exact) forget_narrow();
    return system_.narrow_is_exact;
  }
  void refresh_narrow(const Csr& A) {
    if (!system_.narrow) return;
    if constexpr (!std::is_same_v<V, float>) {
      auto* csr = std::get_if<BcsrMatrix<float, Space>>(&*system_.narrow);
      if (system_.narrow_is_exact && csr != nullptr && csr->block_size == 1) {  // rows in any order
        on_each(exec(), static_cast<offset_t>(A.values.extent(0)),
                StoreInFloat{A.values.data(), csr->values.data()});
        return renew_table(*csr);
      }
    }
    cnc::update_values(*system_.narrow, A);
  }

  /// Of CSR whose values are others now.
  template <class M>
  static void renew_table(BcsrMatrix<M, Space>& csr) {
    csr.value_table = set_up::renewed_value_table<SetUpExec<Space>>(csr.values, csr.value_table);
  }

  /// What says the same as a layout in fewer bytes.
  template <class M>
  void find_fewer_bytes(Matrix<M, Space>& layout, const Csr& A) const {
    find_dictionary(layout, A);
    if (reads_arrays(layout)) return;
    find_table(layout, A);
    find_short(layout, A);
  }
  /// Whether products read the arrays as they are: those that have a plan do, which is not made where no others are.
  template <class M>
  bool reads_arrays(const Matrix<M, Space>& layout) const {
    const Backend& backend = context().backend();
    if (!backend.value_tables && !backend.short_columns) return true;
    return plan_spmv<V>(context(), layout) != nullptr;
  }

  /// Products of a layout that is a copy may read the different rows in place of all, where few rows differ.
  template <class M>
  void find_dictionary(Matrix<M, Space>& layout, const Csr& A) const {
    if (!may_have_dictionary(layout)) return;
    find_row_dictionary(layout, A);
    drop_unread_dictionary(layout);
  }
  template <class M>
  bool may_have_dictionary(const Matrix<M, Space>& layout) const {
    const ReadsDictionaries read = context().backend().dictionaries;
    if (read == ReadsDictionaries::no || options_.storage == StoragePrecision::as_vectors)
      return false;
    return read != ReadsDictionaries::as_runs ||
           std::visit(
               [](const auto& a) {
                 if constexpr (requires { a.row_offsets; })
                   return a.block_size > 1;  // CSR is the caller's
                 else
                   return requires { a.symmetric; };
               },
               layout);
  }
  /// One that an update has left without what this backend reads of it.
  template <class M>
  void drop_unread_dictionary(Matrix<M, Space>& layout) const {
    if (!may_have_dictionary(layout) ||
        context().backend().dictionaries != ReadsDictionaries::as_runs)
      return;
    std::visit(
        [](auto& a) {
          if (a.dictionary.runs.extent(0) == 0) a.dictionary = {};
        },
        layout);
  }

  /// A byte for each value, where products read it and no dictionary. Not of slices: their products read every value about as fast.
  template <class M>
  void find_table(Matrix<M, Space>& layout, const Csr& A) const {
    const Backend& backend = context().backend();
    const auto may_have = [](const auto& a) {
      if constexpr (requires { a.row_offsets; })
        return a.block_size == 1 && a.dictionary.empty();
      else
        return false;
    };
    if (backend.value_tables && double(stored(layout)) >= double(backend.least_table_values) &&
        std::visit(may_have, layout))
      find_if_room(find_value_table<M, Space>, sizeof(std::uint8_t), layout, A);
  }
  /// Columns of 16 bits, where products read them and no dictionary.
  template <class M>
  void find_short(Matrix<M, Space>& layout, const Csr& A) const {
    const auto may_have = [](const auto& a) {
      if constexpr (requires { a.short_columns; })
        return a.dictionary.empty();
      else
        return false;
    };
    if (context().backend().short_columns && std::visit(may_have, layout))
      find_if_room(find_short_columns<M, Space>, sizeof(ShortColumn), layout, A);
  }
  /// Unless as_vectors is asked for, and if there is room beside all that prepare takes for so many bytes for each stored value.
  template <class M>
  void find_if_room(bool (*find)(Matrix<M, Space>&), std::size_t bytes, Matrix<M, Space>& layout,
                    const Csr& A) const {
    if (options_.storage == StoragePrecision::as_vectors) return;
    try {
      require_room(A.rows, A.nonzeros, double(bytes) * double(stored(layout)));
      find(layout);
    } catch (const OutOfMemory&) {  // products do without
    }
  }

  System<V, Exec>& system_;
  const SolveOptions& options_;
  Diagnosis<V, Exec>& diagnosis_;
  Transposition<V, Exec> transposition_;
  std::string format_;
  int block_size_ = 1;
  int full_block_size_ = 1;  ///< of the matrix, where the layout was chosen
  bool is_chosen_ = false;   ///< `auto` chose the layout
  std::vector<std::string> advice_;
};

}  // namespace cnc::detail
