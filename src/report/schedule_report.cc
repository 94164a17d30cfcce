#include "report/schedule_report.h"

#include <algorithm>

#include "text/json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

int64_t cycles(Picoseconds time, const DeviceConfig& device) { return cycles_in(time, device.clock).count(); }

double percent(Picoseconds part, Picoseconds whole) {
  return whole.count() == 0 ? 0
                            : 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string kind_of(const ScheduledTransfer& transfer) {
  return transfer.kind == AsyncKind::kNone ? "synchronous" : std::string(to_text(transfer.kind));
}

void print_transfers(const TextBuilder& print, const LatencySchedule& schedule, const DeviceConfig& device,
                     size_t top) {
  std::vector<const ScheduledTransfer*> longest;
  for (const ScheduledTransfer& transfer : schedule.transfers) longest.push_back(&transfer);
  const auto weight = [](const ScheduledTransfer* t) {
    return std::max(t->exposed_before, t->exposed_after) * t->executions;
  };
  std::stable_sort(longest.begin(), longest.end(),
                   [&](const auto* a, const auto* b) { return weight(a) > weight(b); });
  if (longest.empty()) {
    print("  nothing runs concurrently with the TensorCore\n");
    return;
  }
  if (top > 0 && longest.size() > top) longest.resize(top);
  Table table({{"transfer", Align::kLeft, 36},
               {"kind", Align::kLeft},
               {"times"},
               {"takes"},
               {"exposed before"},
               {"after"},
               {"cycles before"},
               {"after"}});
  for (const ScheduledTransfer* transfer : longest)
    table.add({transfer->before, kind_of(*transfer), fmt::format("{}", transfer->executions),
               to_text(transfer->duration), to_text(transfer->exposed_before),
               to_text(transfer->exposed_after), fmt::format("{}", cycles(transfer->exposed_before, device)),
               fmt::format("{}", cycles(transfer->exposed_after, device))});
  print("{}", table.text("  "));
  if (longest.size() < schedule.transfers.size())
    print("  and {} more\n", schedule.transfers.size() - longest.size());
}

}  // namespace

std::string schedule_report_text(const LatencySchedule& schedule, const DeviceConfig& device, size_t top) {
  std::string text;
  const TextBuilder print{text};
  print("{} on {}\n", schedule.module.name, device.name);
  print("  time     {} -> {} ({:.1f}% less)\n", to_text(schedule.time_before), to_text(schedule.time_after),
        percent(schedule.time_before - schedule.time_after, schedule.time_before));
  print("  exposed  {} -> {}\n", to_text(schedule.exposed_before), to_text(schedule.exposed_after));
  for (const SchedulePeak& peak : schedule.peaks)
    print("  {:<8} {} -> {} at most{}\n", peak.space, to_text(peak.before), to_text(peak.after),
          peak.limit ? fmt::format(", {} there", to_text(*peak.limit)) : "");
  print("  order    {} of {} computations with asynchronous work run in a new one\n", schedule.rescheduled,
        schedule.computations);
  if (schedule.kept_input) print("  no order that was tried is faster: the module stays as it was\n");
  if (schedule.reruns > 0) print("  started again {} times with less memory\n", schedule.reruns);
  if (schedule.exceeded_limits > 0)
    print("  overlap limits exceeded {} times: dependencies leave no other way\n", schedule.exceeded_limits);
  print("\n");
  print_transfers(print, schedule, device, top);
  return text;
}

std::string schedule_report_json(const LatencySchedule& schedule, const DeviceConfig& device) {
  const auto time = [&](Json& json, const std::string& name, Picoseconds value) {
    json[name + "_ps"] = int64_t{value.count()};
    json[name + "_cycles"] = cycles(value, device);
  };
  Json json = {{"schema_version", 1}, {"module", schedule.module.name}, {"device", device.name}};
  time(json, "time_before", schedule.time_before);
  time(json, "time_after", schedule.time_after);
  time(json, "exposed_before", schedule.exposed_before);
  time(json, "exposed_after", schedule.exposed_after);
  json["kept_input"] = schedule.kept_input;
  json["computations"] = schedule.computations;
  json["rescheduled"] = schedule.rescheduled;
  json["reruns"] = schedule.reruns;
  json["exceeded_overlap_limits"] = schedule.exceeded_limits;
  json["memory"] = Json::array();
  for (const SchedulePeak& peak : schedule.peaks)
    json["memory"].push_back({{"space", peak.space},
                              {"peak_before", peak.before.count()},
                              {"peak_after", peak.after.count()},
                              {"limit", peak.limit ? Json(peak.limit->count()) : Json(nullptr)}});
  json["transfers"] = Json::array();
  for (const ScheduledTransfer& transfer : schedule.transfers) {
    Json one = {{"before", transfer.before},
                {"start", transfer.start},
                {"done", transfer.done},
                {"kind", kind_of(transfer)},
                {"executions", transfer.executions}};
    time(one, "duration", transfer.duration);
    time(one, "exposed_before", transfer.exposed_before);
    time(one, "exposed_after", transfer.exposed_after);
    json["transfers"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

}  // namespace hlosim
