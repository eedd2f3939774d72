#include <cnc/options.hpp>

#include "block_size_text.hpp"
#include "solve/form_name.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace cnc {
namespace {

[[noreturn]] void refuse(const char* what, std::string_view text, const std::string& known) {
  throw InvalidArgument(std::string(what) + " '" + std::string(text) +
                        "': unknown (known: " + known + ")");
}

constexpr SolveForm forms[] = {SolveForm::automatic,   SolveForm::plain_operations,
                               SolveForm::fused_steps, SolveForm::run,
                               SolveForm::streamed,    SolveForm::graph,
                               SolveForm::resident,    SolveForm::one_meeting};

constexpr Arithmetic arithmetics[] = {Arithmetic::fast, Arithmetic::separate, Arithmetic::fused,
                                      Arithmetic::compensated_separate,
                                      Arithmetic::compensated_fused};

}  // namespace

const char* to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return "converged";
    case SolveStatus::max_iterations: return "max_iterations";
    case SolveStatus::time_limit: return "time_limit";
    case SolveStatus::stopped: return "stopped";
    case SolveStatus::stagnated: return "stagnated";
    case SolveStatus::diverged: return "diverged";
    case SolveStatus::breakdown: return "breakdown";
    case SolveStatus::not_positive_definite: return "not_positive_definite";
    case SolveStatus::not_finite: return "not_finite";
    case SolveStatus::unsuitable: return "unsuitable";
    case SolveStatus::inconsistent: return "inconsistent";
  }
  return "unknown";
}

const char* to_string(ResidualNorm norm) { return norm == ResidualNorm::two ? "two" : "infinity"; }

const char* to_string(SolveForm form) {
  switch (form) {
    case SolveForm::automatic: return "automatic";
    case SolveForm::plain_operations: return "plain operations";
    case SolveForm::fused_steps: return "fused steps";
    case SolveForm::run: return "run";
    case SolveForm::streamed: return "streamed";
    case SolveForm::graph: return "graph";
    case SolveForm::resident: return "resident";
    case SolveForm::one_meeting: return "one meeting";
  }
  return "unknown";
}

const char* to_string(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::fast: return "fast";
    case Arithmetic::separate: return "separate";
    case Arithmetic::fused: return "fused";
    case Arithmetic::compensated_separate: return "compensated-separate";
    case Arithmetic::compensated_fused: return "compensated-fused";
  }
  return "unknown";
}

const char* method_name(Method method) {
  return method == Method::automatic ? "auto" : method_facts(method).name;
}

std::string known_methods() {
  std::string names = method_name(Method::automatic);
  for (int k = 0; k < all_method_count; ++k) names += std::string(", ") + method_name(Method(k));
  return names;
}

Method parse_method(std::string_view text) {
  std::string name(text == "chronopoulos-gear" ? "pcg-single-reduction" : text);
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "automatic") return Method::automatic;
  for (int k = -1; k < all_method_count; ++k)
    if (name == method_name(Method(k))) return Method(k);
  refuse("method", text, known_methods());
}

SolveForm parse_solve_form(std::string_view text) {
  std::string known;
  for (const SolveForm form : forms) {
    const std::string name = detail::form_name(form);
    if (text == name || text == to_string(form)) return form;
    known += (known.empty() ? "" : ", ") + name;
  }
  refuse("form", text, known);
}

Arithmetic parse_arithmetic(std::string_view text) {
  std::string known;
  for (const Arithmetic arithmetic : arithmetics) {
    if (text == to_string(arithmetic)) return arithmetic;
    known += (known.empty() ? "" : ", ") + std::string(to_string(arithmetic));
  }
  refuse("arithmetic", text, known);
}

namespace {

struct RelaxationName {
  std::string_view name;
  RelaxationKind kind;
  bool has_factor;  ///< else it is one
};
constexpr RelaxationName relaxation_names[] = {{"gauss-seidel", RelaxationKind::sor, false},
                                               {"sor", RelaxationKind::sor, true},
                                               {"ssor", RelaxationKind::ssor, true},
                                               {"jacobi", RelaxationKind::jacobi, true}};

/// "sor-colours:1.5", taken apart; empty if it is no relaxation.
std::optional<RelaxationOptions> read_relaxation(std::string_view text) {
  constexpr std::string_view colours = "-colours";
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::string_view name = text.substr(0, colon);
  RelaxationOptions options;
  if (name.ends_with(colours)) {
    options.order = SweepOrder::colours;
    name.remove_suffix(colours.size());
  }
  const auto known = std::find_if(std::begin(relaxation_names), std::end(relaxation_names),
                                  [&](const RelaxationName& one) { return one.name == name; });
  if (known == std::end(relaxation_names)) return {};
  options.kind = known->kind;
  if (options.kind == RelaxationKind::jacobi && options.order == SweepOrder::colours) return {};
  if (colon == text.size()) return options;
  const char *const begin = text.data() + colon + 1, *const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, options.omega);
  const double most = options.kind == RelaxationKind::jacobi ? 1e6 : 2;
  if (!known->has_factor || error != std::errc() || rest != end || !(options.omega > 0) ||
      !(options.omega < most))
    throw InvalidArgument("preconditioner '" + std::string(text) +
                          (known->has_factor
                               ? "': the relaxation factor must be a number above 0" +
                                     std::string(most == 2 ? " and below 2" : "")
                               : "': its relaxation factor is 1; sor:W takes another"));
  return options;
}

/// The number that a text is, all of it; empty if it is none.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return value;
}

/// NAME or NAME:VALUE, in a range.
template <class T>
struct NamedNumber {
  std::string_view name;
  T least, most;  ///< both are allowed

  /// Whether the text begins with the name; sets the value if there is one.
  /// Errors   InvalidArgument (no number of the range).
  bool read(std::string_view text, T& value) const {
    if (text == name) return true;
    if (!text.starts_with(name) || text[name.size()] != ':') return false;
    const auto found = number<T>(text.substr(name.size() + 1));
    if (!found || !(*found >= least && *found <= most)) {
      std::ostringstream what;
      what << "preconditioner '" << text << "': " << name << " takes a number from " << least
           << " to " << most;
      throw InvalidArgument(what.str());
    }
    value = *found;
    return true;
  }
};

/// body(word) for each word between commas.
template <class Body>
void for_each_word(std::string_view words, const Body& body) {
  for (bool more = true; more;) {
    const std::size_t comma = words.find(',');
    body(words.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) words.remove_prefix(comma + 1);
  }
}

/// One of the words behind "ilu0:". Those of ilut and ict begin with a number, unless it is left out.
bool read_incomplete_word(std::string_view word, bool first, IncompleteOptions& options) {
  const std::string_view block = "block=", sweeps = "sweeps=";
  if (word == "colours") {
    options.by_colours = true;
    return true;
  }
  if (word.starts_with(block)) {
    const auto rows = number<index_t>(word.substr(block.size()));
    options.block_rows = rows.value_or(0);
    return options.block_rows >= 1;
  }
  if (word.starts_with(sweeps)) {
    const auto steps = number<int>(word.substr(sweeps.size()));
    options.sweeps = steps.value_or(0);
    return options.sweeps >= 1 && options.sweeps <= 100;
  }
  const auto drop = number<double>(word);
  options.drop = drop.value_or(-1);
  return first && has_threshold(options.kind) && options.drop >= 0 && options.drop <= 0.999;
}

/// ic0, ict, ilu0 or ilut, behind them DROP of ict and ilut, and other words.
std::optional<IncompleteOptions> read_incomplete(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  IncompleteOptions options;
  if (name == "ic0")
    options.kind = IncompleteKind::ic0;
  else if (name == "ict")
    options.kind = IncompleteKind::ict;
  else if (name == "ilut")
    options.kind = IncompleteKind::ilut;
  else if (name != "ilu0")
    return {};
  if (colon == text.size()) return options;
  bool first = true;
  for_each_word(text.substr(colon + 1), [&](std::string_view word) {
    if (!read_incomplete_word(word, first, options))
      throw InvalidArgument("preconditioner '" + std::string(text) + "': '" + std::string(word) +
                            "' is none of " +
                            (has_threshold(options.kind) ? "a number from 0 to 0.999, " : "") +
                            "block=ROWS, colours, sweeps=1..100");
    first = false;
  });
  if (options.by_colours && options.block_rows > 0)
    throw InvalidArgument("preconditioner '" + std::string(text) +
                          "': blocks have rows in their own order, not by colours");
  return options;
}

/// One of the words behind "amg:".
bool read_amg_word(std::string_view word, AmgOptions& options) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = equals < word.size() ? word.substr(equals + 1) : "";
  const auto integer = [&](int least, int most, auto& to) {
    const auto found = number<int>(value);
    if (found && *found >= least && *found <= most) to = *found;
    return found && *found >= least && *found <= most;
  };
  if (word == "plain" || word == "double") {
    (word == "plain" ? options.smoothed : options.in_float) = false;
    return true;
  }
  if (word == "cycle=v" || word == "cycle=w" || word == "cycle=k") {
    options.cycle = value == "v" ? AmgCycle::v : value == "w" ? AmgCycle::w : AmgCycle::k;
    return true;
  }
  if (name == "smoother") {
    for (const AmgSmoother smoother :
         {AmgSmoother::chebyshev, AmgSmoother::jacobi, AmgSmoother::l1_jacobi,
          AmgSmoother::gauss_seidel, AmgSmoother::ilu0})
      if (value == to_string(smoother)) {
        options.smoother = smoother;
        return true;
      }
    return false;
  }
  if (name == "degree") return integer(1, 16, options.smoother_degree);
  if (name == "block") return integer(1, max_block_size, options.block_size);
  if (name == "coarsest") return integer(1, 4000, options.coarsest_rows);
  if (name == "levels") return integer(1, 100, options.max_levels);
  if (name != "strength") return false;
  const auto found = number<double>(value);
  if (!found || !(*found >= 0) || !(*found < 1)) return false;
  options.strength = *found;
  return true;
}

std::optional<AmgOptions> read_amg(std::string_view text) {
  const std::string_view name = "amg";
  if (!text.starts_with(name) || (text.size() > name.size() && text[name.size()] != ':')) return {};
  AmgOptions options;
  if (text == name) return options;
  for_each_word(text.substr(name.size() + 1), [&](std::string_view word) {
    if (!read_amg_word(word, options))
      throw InvalidArgument("preconditioner '" + std::string(text) + "': '" + std::string(word) +
                            "' is none of smoother=chebyshev|jacobi|l1-jacobi|gauss-seidel|"
                            "ilu0, degree=1..16, strength=0..1, block=1..16, "
                            "coarsest=1..4000, levels=1..100, cycle=v, w or k, plain, double");
  });
  return options;
}

}  // namespace

PreconditionerSpec parse_preconditioner(std::string_view text) {
  const std::string_view block = "block-jacobi";
  if (text == "none") return {PreconditionerKind::none};
  if (text == "jacobi") return {PreconditionerKind::jacobi};
  if (text == block) return {PreconditionerKind::block_jacobi};
  const auto object = [](const auto& options) {
    return PreconditionerSpec{PreconditionerKind::none, 0, options};
  };
  if (const auto options = read_relaxation(text)) return object(*options);
  if (const auto options = read_incomplete(text)) return object(*options);
  if (const auto options = read_amg(text)) return object(*options);
  AutomaticOptions automatic;
  if (NamedNumber<int>{"auto", 1, 1000000}.read(text, automatic.solves)) return object(automatic);
  PolynomialOptions polynomial;
  if (NamedNumber<int>{"chebyshev", 1, 100}.read(text, polynomial.degree))
    return object(polynomial);
  if (text.substr(0, block.size()) != block)
    refuse("preconditioner", text,
           "auto[:SOLVES], none, jacobi[:W], block-jacobi[:B], gauss-seidel[-colours], "
           "sor[-colours][:W], "
           "ssor[-colours][:W], ic0, ict[:DROP], ilu0, ilut[:DROP] (each with block=ROWS, "
           "colours, sweeps=K), chebyshev[:DEGREE], "
           "amg[:OPTION,...]");
  const auto size =
      text[block.size()] == ':' ? number<int>(text.substr(block.size() + 1)) : std::nullopt;
  if (!size || *size < 1 || *size > largest_dense_block)
    throw InvalidArgument("preconditioner '" + std::string(text) +
                          "': the block size must be 1 to " + std::to_string(largest_dense_block));
  if (*size > max_block_size) return object(BlockJacobiOptions{*size});
  return {PreconditionerKind::block_jacobi, *size};
}

}  // namespace cnc
