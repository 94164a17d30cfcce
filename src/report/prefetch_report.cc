#include "report/prefetch_report.h"

#include <algorithm>

#include "text/json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string size(int64_t bytes) { return to_text(Bytes(bytes)); }

/// How far above the bound, as a part of the bound; negative: there is no bound.
double gap(const PrefetchResult& result) {
  if (result.bound.count() <= 0) return -1;
  return static_cast<double>(result.tuned.time.count()) / static_cast<double>(result.bound.count()) - 1;
}

void add_times(Table& table, std::string name, const PrefetchTimes& times) {
  table.add({std::move(name), to_text(times.time), to_text(times.exposed), size(times.hbm_bytes)});
}

void print_occupancy(std::string& out, const PrefetchResult& result) {
  if (result.peak <= 0) return;
  const TextBuilder print{out};
  print("\nOn chip over time, {} at most of {}:\n", size(result.peak), size(result.capacity));
  // Runs of steps with equal bytes are one line.
  Table table({{"steps"}, {"from", Align::kLeft, 32}, {"bytes"}, {"", Align::kLeft}});
  constexpr double kWidth = 40;
  constexpr size_t kMostLines = 60;
  size_t lines = 0;
  for (size_t first = 0; first < result.on_chip.size() && lines < kMostLines; ++lines) {
    size_t last = first;
    while (last + 1 < result.on_chip.size() && result.on_chip[last + 1] == result.on_chip[first]) ++last;
    const double part = static_cast<double>(result.on_chip[first]) /
                        static_cast<double>(std::max<int64_t>(result.capacity, 1));
    const std::string bar(static_cast<size_t>(std::clamp(part, 0.0, 1.0) * kWidth + 0.5), '#');
    table.add({first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
               result.steps[first], size(result.on_chip[first]), bar});
    first = last + 1;
  }
  out += table.text("  ");
  if (lines == kMostLines) print("  … and so on\n");
}

void print_places(std::string& out, const PrefetchResult& result, size_t top) {
  if (result.rows.empty()) return;
  const TextBuilder print{out};
  const size_t shown = top == 0 ? result.rows.size() : std::min(top, result.rows.size());
  print("\nOn the chip ({} of {} places):\n", shown, result.rows.size());
  Table table({{"value", Align::kLeft, 28},
               {"offset"},
               {"size"},
               {"from", Align::kLeft, 28},
               {"to", Align::kLeft, 28},
               {"why", Align::kLeft}});
  for (size_t i = 0; i < shown; ++i) {
    const PrefetchRow& row = result.rows[i];
    table.add({row.value, fmt::format("{}", row.offset), size(row.size), row.from, row.to, row.reason});
  }
  out += table.text("  ");
}

Json json_of(const PrefetchTimes& times) {
  return {{"time_ps", times.time.count()},
          {"exposed_copies_ps", times.exposed.count()},
          {"time_with_cross_program_prefetch_done_ps", times.time_prefetched.count()},
          {"hbm_bytes", times.hbm_bytes}};
}

}  // namespace

std::string prefetch_report_text(const PrefetchResult& result, const DeviceConfig& device, size_t top) {
  std::string out;
  const TextBuilder print{out};
  print("{} on {}: {}\n\n", result.module.name, device.name, result.chosen);
  Table times({{"", Align::kLeft}, {"time"}, {"waiting for copies"}, {"HBM traffic"}});
  add_times(times, result.lowered ? "lowered" : "as given", result.input);
  add_times(times, "without prefetch", result.stripped);
  add_times(times, "tuned", result.tuned);
  out += times.text("  ");
  if (result.tuned.time_prefetched != result.tuned.time)
    print("  {} where the run before makes the first copy\n", to_text(result.tuned.time_prefetched));
  if (const double above = gap(result); above >= 0)
    print("\nNo plan takes less than {}: the gap is {:.2f} %{}\n", to_text(result.bound), above * 100,
          result.proven ? "; the plan is the best one of the tuner's own simulation" : "");
  print("{} sites of {} values", result.sites, result.values);
  if (result.evaluations > 0) print(", {} evaluations", result.evaluations);
  if (result.removed_copies > 0) print("; {} copies removed from the input first", result.removed_copies);
  print("\n");
  print_places(out, result, top);
  print_occupancy(out, result);
  if (result.candidates.size() > 2) {
    print("\nSimulated:\n");
    Table table({{"plan", Align::kLeft}, {"time"}, {"the tuner's"}, {"HBM traffic"}});
    for (const PrefetchCandidate& one : result.candidates)
      table.add({one.name, to_text(one.times.time),
                 one.objective > 0 ? to_text(Picoseconds(static_cast<int64_t>(one.objective))) : "",
                 size(one.times.hbm_bytes)});
    out += table.text("  ");
  }
  if (!result.assumptions.empty()) {
    print("\nAssumptions:\n");
    for (const std::string& text : result.assumptions) print("  {}\n", text);
  }
  return out;
}

std::string prefetch_report_json(const PrefetchResult& result, const DeviceConfig& device) {
  Json json = {{"module", result.module.name},
               {"device", device.name},
               {"chosen", result.chosen},
               {"input", json_of(result.input)},
               {"stripped", json_of(result.stripped)},
               {"tuned", json_of(result.tuned)},
               {"bound_ps", result.bound.count()}};
  if (const double above = gap(result); above >= 0) json["gap"] = above;
  json["proven"] = result.proven;
  json["sites"] = result.sites;
  json["values"] = result.values;
  json["evaluations"] = result.evaluations;
  json["cut_by_clock"] = result.cut;
  json["removed_copies"] = result.removed_copies;
  json["capacity_bytes"] = result.capacity;
  json["peak_bytes"] = result.peak;
  json["packed_bytes"] = result.packed;
  Json rows = Json::array(), steps = Json::array(), candidates = Json::array();
  for (const PrefetchRow& row : result.rows)
    rows.push_back({{"value", row.value},
                    {"computation", row.computation},
                    {"offset", row.offset},
                    {"size", row.size},
                    {"first_step", row.first},
                    {"last_step", row.last},
                    {"from", row.from},
                    {"to", row.to},
                    {"reason", row.reason}});
  for (size_t i = 0; i < result.on_chip.size(); ++i)
    steps.push_back({{"step", result.steps[i]}, {"bytes", result.on_chip[i]}});
  for (const PrefetchCandidate& one : result.candidates) {
    Json candidate = {{"name", one.name}};
    candidate.update(json_of(one.times));
    if (one.objective > 0) candidate["objective_ps"] = one.objective;
    candidates.push_back(std::move(candidate));
  }
  json["places"] = std::move(rows);
  json["on_chip"] = std::move(steps);
  json["candidates"] = std::move(candidates);
  json["assumptions"] = result.assumptions;
  return json.dump(2) + "\n";
}

}  // namespace hlosim
