#include "harness/record.hpp"

#include "harness/table.hpp"

#include <cmath>
#include <cstdio>
#include <ostream>

namespace cnc::perf {
namespace {

using Json = nlohmann::ordered_json;

Json entry_json(const Group& group, const Entry& entry) {
  Json json;
  json["contestant"] = entry.contestant;
  json["peer"] = entry.peer;
  if (!entry.peer) json["automatic"] = entry.automatic;
  if (!entry.backend.empty()) json["backend"] = entry.backend;
  if (!entry.format.empty()) json["format"] = entry.format;
  if (!entry.form.empty()) json["form"] = entry.form;
  const double seconds = entry.samples.median();
  json["seconds"] = {{"median", seconds},
                     {"fastest", entry.samples.fastest()},
                     {"spread", entry.samples.spread()},
                     {"turns", entry.samples.seconds.size()}};
  if (entry.cost.bytes > 0) {
    json["bytes"] = entry.cost.bytes;
    json["gigabytes_per_second"] = entry.cost.bytes / seconds * 1e-9;
  }
  if (entry.cost.flops > 0) json["gigaflops"] = entry.cost.flops / seconds * 1e-9;
  if (group.bandwidth > 0) json["bandwidth_fraction"] = bandwidth_fraction(group, entry);
  if (std::isfinite(entry.error)) json["error"] = entry.error;
  if (const Entry* peer = best_peer(group); peer != nullptr && !entry.peer)
    json["speedup_over_best_peer"] = speedup(entry.samples, peer->samples);
  return json;
}

Json group_json(const Group& group) {
  Json json;
  json["subject"] = group.subject;
  json["precision"] = group.precision;
  if (group.rows > 0) json["rows"] = group.rows;
  if (group.nonzeros > 0) json["nonzeros"] = group.nonzeros;
  if (group.bandwidth > 0) {
    json["read_bandwidth_at_size"] = group.bandwidth;
    json["out_of_cache"] = group.out_of_cache;
  }
  for (const Entry& entry : group.entries) json["entries"].push_back(entry_json(group, entry));
  return json;
}

Json summary_json(const std::vector<Summary>& summaries) {
  Json json = Json::array();
  for (const Summary& summary : summaries)
    json.push_back({{"name", summary.name},
                    {"geometric_mean", summary.geometric_mean},
                    {"lowest", summary.lowest},
                    {"highest", summary.highest},
                    {"count", summary.count}});
  return json;
}

std::string text_of(const Json& object, const char* key) {
  if (!object.contains(key)) return "unknown";
  const Json& value = object.at(key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string time_of(const Entry* entry) {
  return entry == nullptr ? "-" : seconds_text(entry->samples.median());
}

std::string name_of(const Entry* entry) { return entry == nullptr ? "-" : entry->contestant; }

std::string ratio_of(const Entry* ours, const Entry* peer) {
  return ours == nullptr || peer == nullptr ? "-" : times(speedup(ours->samples, peer->samples));
}

std::string fraction_text(const Group& group, const Entry* entry) {
  if (entry == nullptr || group.bandwidth <= 0) return "-";
  return percent(bandwidth_fraction(group, *entry)) + (group.out_of_cache ? "" : " (cache)");
}

}  // namespace

Json Record::json() const {
  Json json;
  json["bench"] = bench;
  json["question"] = question;
  json["machine"] = machine;
  json["build"] = build;
  json["settings"] = settings;
  json["memory_bandwidth"] = {
      {"read", memory.read}, {"triad", memory.triad}, {"working_set", memory.working_set}};
  json["groups"] = Json::array();
  for (const Group& group : groups) json["groups"].push_back(group_json(group));
  json["speedups"] = summary_json(speedups(groups));
  json["bandwidth_fractions"] = summary_json(bandwidth_fractions(groups));
  if (!extra.empty()) json["extra"] = extra;
  json["notes"] = notes;
  return json;
}

void Record::print_heading(std::ostream& out) const {
  out << "## " << bench << ": " << question << "\n\n";
  out << "- machine: " << text_of(machine, "cpu") << ", " << text_of(machine, "threads")
      << " threads of " << text_of(machine, "logical_cpus") << " logical CPUs, last-level cache "
      << fixed(machine.value("last_level_cache_bytes", 0.0) / 1048576, 0) << " MiB, load "
      << fixed(machine.value("load_average_at_start", -1.0), 1) << " at the start\n";
  out << "- build: cnc " << text_of(build, "version") << ", commit " << text_of(build, "commit")
      << ", " << text_of(build, "compiler") << ", `" << text_of(build, "flags") << "`; peers with `"
      << text_of(build, "peer_flags") << "`\n";
  out << "- peers:";
  for (const Json& peer : build.at("peers")) out << ' ' << peer.get<std::string>() << ';';
  out << " baseline backends of the library\n";
  if (memory.read > 0)
    out << "- memory bandwidth: read " << fixed(memory.read * 1e-9, 1) << " GB/s, triad "
        << fixed(memory.triad * 1e-9, 1) << " GB/s over "
        << fixed(static_cast<double>(memory.working_set) / 1048576, 0) << " MiB\n";
  out << "- settings: " << settings.dump() << "\n\n";
}

void Record::print_groups(std::ostream& out) const {
  Table table({"subject", "precision", "automatic choice", "time", "our best", "time", "best peer",
               "time", "automatic / peer", "best / peer", "of bandwidth"});
  for (const Group& group : groups) {
    const Entry* automatic = automatic_entry(group);
    const Entry* best = best_own(group);
    const Entry* peer = best_peer(group);
    table.add({group.subject, group.precision, name_of(automatic), time_of(automatic),
               name_of(best), time_of(best), name_of(peer), time_of(peer),
               ratio_of(automatic, peer), ratio_of(best, peer), fraction_text(group, automatic)});
  }
  table.print(out);
}

void Record::print_contestants(std::ostream& out) const {
  Table table({"subject", "precision", "contestant", "median", "fastest", "spread", "GB/s",
               "GFLOP/s", "of bandwidth", "error"});
  for (const Group& group : groups)
    for (const Entry& entry : group.entries) {
      const double seconds = entry.samples.median();
      char error[32] = "-";
      if (std::isfinite(entry.error)) std::snprintf(error, sizeof error, "%.1e", entry.error);
      table.add({group.subject, group.precision, entry.contestant, seconds_text(seconds),
                 seconds_text(entry.samples.fastest()), percent(entry.samples.spread()),
                 entry.cost.bytes > 0 ? fixed(entry.cost.bytes / seconds * 1e-9, 2) : "-",
                 entry.cost.flops > 0 ? fixed(entry.cost.flops / seconds * 1e-9, 2) : "-",
                 fraction_text(group, &entry), error});
    }
  table.print(out);
}

void Record::print_summary(std::ostream& out) const {
  Table ratios({"speed over peers", "geometric mean", "lowest", "highest", "subjects"});
  for (const Summary& summary : speedups(groups))
    ratios.add({summary.name, times(summary.geometric_mean), times(summary.lowest),
                times(summary.highest), std::to_string(summary.count)});
  if (!ratios.empty()) ratios.print(out);

  Table fractions(
      {"bytes over measured read bandwidth", "geometric mean", "lowest", "highest", "subjects"});
  for (const Summary& summary : bandwidth_fractions(groups))
    fractions.add({summary.name, percent(summary.geometric_mean), percent(summary.lowest),
                   percent(summary.highest), std::to_string(summary.count)});
  if (!fractions.empty()) fractions.print(out);

  for (const std::string& note : notes) out << "- " << note << '\n';
  if (!notes.empty()) out << '\n';
}

}  // namespace cnc::perf
