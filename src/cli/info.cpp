#include "app.hpp"
#include "commands.hpp"
#include "info_output.hpp"
#include "multigrid.hpp"
#include "option_checks.hpp"
#include "output_file.hpp"
#include "session.hpp"
#include "spy.hpp"

#include <cnc/formats.hpp>
#include <cnc/options.hpp>

#include <iostream>
#include <memory>
#include <variant>

namespace cnc::cli {
namespace {

struct InfoOptions {
  std::string source;
  std::string spy;
  std::string json;
  std::string precondition;
  std::string coordinates;
  std::string partition = "segments";
  int threads = 0;
};

double predicted_bytes(const Structure& structure, const FormatSpec& spec, int value_bytes) {
  for (const FormatInfo<double>& format : formats<double>())
    if (spec.name == format.name) return format.predicted_bytes(structure, spec, value_bytes);
  return -1;
}

MatrixFacts gather(Context<>& ctx, const CsrMatrix<double>& A) {
  MatrixFacts facts;
  facts.structure = analyze(A);
  facts.spd = examine_spd(ctx, A, facts.structure);
  facts.histogram = row_histogram(A);
  facts.advice = choose_format(facts.structure, sizeof(double));
  for (const FormatSpec& spec : comparable_formats(facts.structure))
    facts.sizes.push_back({spec, predicted_bytes(facts.structure, spec, sizeof(double)),
                           predicted_bytes(facts.structure, spec, sizeof(float))});
  return facts;
}

/// The levels that multigrid would have, in the layout that solve would choose.
AmgHierarchy build_hierarchy(Context<>& ctx, const InfoOptions& options, const AmgOptions& amg,
                             const CsrMatrix<double>& A) {
  const auto object = multigrid<double, Context<>::execution_space>(
      amg, options.source, A, {.coordinates = options.coordinates});
  const PreconditionerSetup outcome = object->set_up(ctx, A, build_format(A, parse_format("auto")));
  if (!outcome.ok())
    throw InvalidArgument("--precondition amg: row " + std::to_string(outcome.row) +
                          " (counted from 0) " +
                          (outcome.fault != nullptr ? outcome.fault : "has no diagonal entry"));
  return object->hierarchy();
}

/// How a matrix would lie on several ranks.
int info_of_partition(const InfoOptions& options, const Ranks& ranks) {
  if (!options.spy.empty() || !options.precondition.empty())
    throw InvalidArgument("--spy and --precondition of info are not available on several ranks");
  const Session session(ranks.threads(options.threads));
  const CutMatrix cut = ranks.cut(options.source, options.partition);
  if (!ranks.is_first()) return exit_ok;
  if (options.json != "-") print_partition(std::cout, cut);
  if (!options.json.empty())
    write_output(options.json, [&](std::ostream& out) { write_partition_json(out, cut); });
  return exit_ok;
}

int info(const InfoOptions& options, const Ranks& ranks) {
  check_outputs({options.spy, options.json}, {options.source, options.coordinates});
  if (!options.coordinates.empty()) check_readable(options.coordinates);
  if (ranks.size() > 1) return info_of_partition(options, ranks);
  std::optional<AmgOptions> amg;
  if (!options.precondition.empty()) {
    const PreconditionerSpec spec = parse_preconditioner(options.precondition);
    if (const auto* given = std::get_if<AmgOptions>(&spec.object)) amg = *given;
    if (!amg) throw InvalidArgument("info: --precondition takes amg[:OPTION,...] only");
  }
  const Session session(options.threads);
  Context<> ctx("auto", options.threads);
  const LoadedMatrix matrix = load_matrix(options.source, [](index_t rows, offset_t) {
    return rows * (sizeof(double) + 2.0);  // a diagonal, and marks of rows and columns
  });
  if (amg && matrix.A.rows != matrix.A.cols)
    throw InvalidArgument("--precondition amg: the matrix is not square");
  MatrixFacts facts = gather(ctx, matrix.A);
  if (amg) facts.hierarchy = build_hierarchy(ctx, options, *amg, matrix.A);
  if (options.json != "-") print_facts(std::cout, matrix, facts);
  if (!options.spy.empty()) write_spy_png(options.spy, matrix.A);
  if (!options.json.empty())
    write_output(options.json, [&](std::ostream& out) { write_facts_json(out, matrix, facts); });
  return exit_ok;
}

}  // namespace

void add_info(CLI::App& app, const Ranks& ranks, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "Describe a matrix and advise on its format");
  command->add_option("SOURCE", options->source, "FILE or PROBLEM")->required()->check(not_empty);
  command->add_option("--spy", options->spy, "Write the sparsity pattern as a picture")
      ->check(not_empty)
      ->type_name("FILE.png");
  CLI::Option* const precondition =
      command
          ->add_option("--precondition", options->precondition,
                       "Also show the levels that amg[:OPTION,...] would build")
          ->check(not_empty)
          ->type_name("NAME");
  command
      ->add_option("--coordinates", options->coordinates,
                   "amg, elasticity: a vector file with the coordinates of each node one after the "
                   "other")
      ->check(not_empty)
      ->needs(precondition)
      ->type_name("FILE");
  command->add_option("--json", options->json, "Write the facts as JSON ('-': standard output)")
      ->check(not_empty)
      ->type_name("FILE");
  add_partition_option(*command, options->partition);
  command->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, largest_threads()))
      ->type_name("N");
  command->callback([options, &ranks, &action] {
    action = [options, &ranks] { return ranks.together([&] { return info(*options, ranks); }); };
  });
}

}  // namespace cnc::cli
