#include "partition/partition_report.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>

#include "base/units.h"
#include "text/escape.h"

namespace hlosim {
namespace {

std::string place_of(const Module& module, uint32_t offset) {
  if (!module.source || offset == 0) return {};
  const LineColumn at = module.source->locate(offset);
  return fmt::format("{}:{}:{}", module.source->name(), at.line, at.column);
}

/// "file:line:column: " before a text, where there is a place.
std::string prefix_of(const Module& module, uint32_t offset) {
  const std::string place = place_of(module, offset);
  return place.empty() ? place : place + ": ";
}

/// Further properties of a collective that was added.
std::string circumstances(const Resharding& one) {
  std::string text = one.in_loop ? " each turn" : "";
  if (one.windowed) text += ", overlapped with a part of the matmul";
  if (one.hoisted && one.held > 0)
    text += fmt::format(", once before the loop, which holds {}", to_text(Bytes(one.held)));
  else if (one.hoisted)
    text += ", once before the loop";
  else if (one.held > 0)
    text +=
        fmt::format(", although it is the same each time: {} to hold are too much", to_text(Bytes(one.held)));
  if (one.together > 1)
    text += fmt::format(", together with {} other{}", one.together - 1, one.together > 2 ? "s" : "");
  return text;
}

struct Totals {
  int64_t bytes = 0, collectives = 0;  // that a device sends; instructions
};

Totals totals_of(const Partitioned& made) {
  Totals totals;
  std::set<InstructionId> collectives;
  for (const Resharding& one : made.reshardings) {
    totals.bytes += one.bytes;
    collectives.insert(one.collective);
  }
  totals.collectives = static_cast<int64_t>(collectives.size());
  return totals;
}

}  // namespace

std::string partition_text(const Module& module, const Partitioned& made) {
  std::string text;
  for (const Resharding& one : made.reshardings)
    text += one_line(fmt::format("{}{}: {} of {} from {} to {}, sends {}{}", prefix_of(module, one.offset),
                                 one.asked_by, to_text(one.kind), one.what, one.from, one.to,
                                 to_text(Bytes(one.bytes)), circumstances(one))) +
            "\n";
  for (const ReplicatedInstruction& one : made.replicated)
    text += one_line(fmt::format("{}{}: every device does all of it, gathering {}: {}",
                                 prefix_of(module, one.offset), one.name, to_text(Bytes(one.bytes)),
                                 one.reason)) +
            "\n";
  const Totals totals = totals_of(made);
  return text + fmt::format("{} devices, {} collective{}, each device sends {}\n", made.devices,
                            totals.collectives, totals.collectives == 1 ? "" : "s",
                            to_text(Bytes(totals.bytes)));
}

Json partition_json(const Module& module, const Partitioned& made) {
  const Totals totals = totals_of(made);
  Json row = {
      {"module", module.name},      {"devices", made.devices},      {"collectives", totals.collectives},
      {"sent_bytes", totals.bytes}, {"reshardings", Json::array()}, {"replicated", Json::array()}};
  for (const Resharding& one : made.reshardings)
    row["reshardings"].push_back({{"instruction", one.asked_by},
                                  {"place", place_of(module, one.offset)},
                                  {"collective", made.module[one.collective].name},
                                  {"kind", to_text(one.kind)},
                                  {"of", one.what},
                                  {"from", one.from},
                                  {"to", one.to},
                                  {"sent_bytes", one.bytes},
                                  {"in_loop", one.in_loop},
                                  {"windowed", one.windowed},
                                  {"hoisted", one.hoisted},
                                  {"held_bytes", one.held},
                                  {"combined", one.together}});
  for (const ReplicatedInstruction& one : made.replicated)
    row["replicated"].push_back({{"instruction", one.name},
                                 {"place", place_of(module, one.offset)},
                                 {"gathered_bytes", one.bytes},
                                 {"reason", one.reason}});
  return row;
}

}  // namespace hlosim
