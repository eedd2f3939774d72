// How fast are the vector operations, in and out of the caches, beside other libraries?

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "peers/peers.hpp"

#include <cnc/blas1.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cnc::perf {
namespace {

/// In the first-level caches, in the second-level ones, beyond the last-level one of most machines.
std::vector<index_t> lengths = {1'000, 100'000, 20'000'000};

/// One operation: what it costs, and how each side does it on x, y, z. Only z is written, in a way
/// that stays clear of overflow and of denormals however often it is repeated.
template <class V>
struct Operation {
  std::string name;
  double passes;
  double flops_per_row;
  std::function<double(Context<>&, const Vector<V>& x, const Vector<V>& y, const Vector<V>& z)>
      ours;
  /// Empty when the peer does not offer it.
  std::function<std::function<double(int, const V*, const V*, V*)>(const VectorPeer<V>&)> theirs;
};

template <class V>
using PeerCall = std::function<double(int, const V*, const V*, V*)>;

template <class V>
std::vector<Operation<V>> operations() {
  using X = const Vector<V>&;
  using Peer = const VectorPeer<V>&;
  const V alpha = V(0.0078125);
  return {
      {"axpy", 3, 2, [=](Context<>& c, X x, X, X z) { return axpy(c, alpha, x, z), 0.0; },
       [=](Peer p) -> PeerCall<V> {
         if (!p.axpy) return {};
         return
             [=, f = p.axpy](int n, const V* x, const V*, V* z) { return f(n, alpha, x, z), 0.0; };
       }},
      {"axpby", 3, 3, [=](Context<>& c, X x, X, X z) { return axpby(c, alpha, x, V(0.5), z), 0.0; },
       [=](Peer p) -> PeerCall<V> {
         if (!p.axpby) return {};
         return [=, f = p.axpby](int n, const V* x, const V*, V* z) {
           return f(n, alpha, x, V(0.5), z), 0.0;
         };
       }},
      {"scal", 2, 1, [](Context<>& c, X, X, X z) { return scal(c, V(-1), z), 0.0; },
       [](Peer p) -> PeerCall<V> {
         if (!p.scal) return {};
         return [f = p.scal](int n, const V*, const V*, V* z) { return f(n, V(-1), z), 0.0; };
       }},
      {"multiply", 3, 1, [](Context<>& c, X x, X y, X z) { return multiply(c, x, y, z), 0.0; },
       [](Peer p) -> PeerCall<V> {
         if (!p.multiply) return {};
         return
             [f = p.multiply](int n, const V* x, const V* y, V* z) { return f(n, x, y, z), 0.0; };
       }},
      {"dot", 2, 2, [](Context<>& c, X x, X y, X) { return dot(c, x, y); },
       [](Peer p) -> PeerCall<V> {
         if (!p.dot) return {};
         return [f = p.dot](int n, const V* x, const V* y, V*) { return f(n, x, y); };
       }},
      {"nrm2", 1, 2, [](Context<>& c, X x, X, X) { return nrm2(c, x); },
       [](Peer p) -> PeerCall<V> {
         if (!p.nrm2) return {};
         return [f = p.nrm2](int n, const V* x, const V*, V*) { return f(n, x); };
       }},
  };
}

template <class V>
struct Vectors {
  Vector<V> x, y, z;
  explicit Vectors(index_t n)
      : x(random_vector<V>(n, 3)), y(random_vector<V>(n, 4)), z(random_vector<V>(n, 5)) {}
};

/// What a call leaves behind: the written vector and the number returned.
struct Outcome {
  Vector<double> z;
  double number = 0;
};

template <class V>
Outcome outcome_of(index_t n, const std::function<double(const Vectors<V>&)>& call) {
  const Vectors<V> v(n);
  Outcome outcome{Vector<double>("z", v.z.extent(0)), call(v)};
  for (std::size_t i = 0; i < v.z.extent(0); ++i) outcome.z(i) = static_cast<double>(v.z(i));
  return outcome;
}

/// A dot product of n random signs is about sqrt(n), its rounding at most eps sum |x y| <= eps n.
/// Peers sum floats in float.
template <class V>
double check_outcome(const Outcome& expected, const Outcome& found, const std::string& who) {
  const double n = static_cast<double>(expected.z.extent(0));
  const double eps = double(std::numeric_limits<V>::epsilon());
  const double error = check_close(expected.z, found.z, 4 * eps, who);
  const double number_error = std::abs(found.number - expected.number) / std::max(n, 1.0);
  if (!(number_error <= std::sqrt(n) * eps))
    throw Error("wrong result of " + who + ": " + std::to_string(found.number) + " instead of " +
                std::to_string(expected.number));
  return std::max(error, number_error);
}

template <class V>
void measure(const Operation<V>& operation, index_t n, const std::string& precision,
             const BenchOptions& options, Record& record) {
  const std::string subject = operation.name + " n=" + std::to_string(n);
  tell(subject + " " + precision);
  Context<> reference("reference");
  const Outcome expected = outcome_of<V>(
      n, [&](const Vectors<V>& v) { return operation.ours(reference, v.x, v.y, v.z); });
  const Vectors<V> v(n);
  const Cost cost = cost::vectors(n, operation.passes, operation.flops_per_row, sizeof(V));
  std::vector<Contestant> contestants;
  const auto contexts = contexts_to_time(options);
  const auto add = [&](Entry entry, const std::function<double(const Vectors<V>&)>& call) {
    entry.cost = cost;
    entry.error = check_outcome<V>(expected, outcome_of<V>(n, call), entry.contestant);
    contestants.push_back(
        {std::move(entry), repeat([call, v] { (void)call(v); }, options.measure)});
  };
  for (const auto& ctx : contexts) {
    const Backend& backend = ctx->backend();
    const VectorOps<V>& ops = ctx->template vectors<V>();
    const bool offered = operation.name == "dot"    ? ops.dot != nullptr
                         : operation.name == "nrm2" ? ops.nrm2 != nullptr
                                                    : ops.axpy != nullptr;
    if (!offered) continue;
    Entry entry;
    entry.contestant = backend.name;
    entry.peer = backend.baseline;
    entry.automatic = is_automatic(backend);
    entry.backend = backend.name;
    add(std::move(entry), [&operation, ctx = ctx.get()](const Vectors<V>& w) {
      const double number = operation.ours(*ctx, w.x, w.y, w.z);
      ctx->fence();
      return number;
    });
  }
  for (const VectorPeer<V>& peer : vector_peers<V>(options.threads)) {
    const PeerCall<V> call = operation.theirs(peer);
    if (!call) continue;
    Entry entry;
    entry.contestant = peer.name;
    entry.peer = true;
    add(std::move(entry),
        [call, n](const Vectors<V>& w) { return call(n, w.x.data(), w.y.data(), w.z.data()); });
  }
  Group group{subject, precision, double(n), 0, bandwidth_at(cost.bytes, options), false, {}};
  group.out_of_cache = cost.bytes > static_cast<double>(last_level_cache_bytes());
  measure_group(std::move(contestants), options.measure, group);
  record.groups.push_back(std::move(group));
}

template <class V>
void measure_all(const std::string& precision, const BenchOptions& options, Record& record) {
  for (const index_t n : lengths)
    for (const Operation<V>& operation : operations<V>())
      measure(operation, n, precision, options, record);
}

void run(const BenchOptions& options, Record& record) {
  if (options.quick) lengths = {1'000, 10'000};
  if (options.wants("f64")) measure_all<double>("f64", options, record);
  if (options.wants("f32")) measure_all<float>("f32", options, record);
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  return cnc::perf::run_bench(
      argc, argv,
      {"blas1", "time of vector operations in and out of the caches, beside other libraries", false,
       [](CLI::App& app) {
         app.add_option("--lengths", cnc::perf::lengths, "Vector lengths")
             ->delimiter(',')
             ->allow_extra_args(false)
             ->check(CLI::Range(1, 1'000'000'000));
       },
       cnc::perf::run});
}
