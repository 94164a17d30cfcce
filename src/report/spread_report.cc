#include "report/spread_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "estimate/axis_use.h"
#include "report/source_place.h"
#include "text/table.h"

namespace hlosim {
namespace {

/// Of several in one wrapper, each once: "all-gather + reduce-scatter".
std::string kinds_of(const TransferRecord& transfer) {
  std::string kinds(to_text(transfer.collective->kind));
  std::set<CollectiveKind> seen = {transfer.collective->kind};
  for (const CollectiveCost& one : transfer.wrapped)
    if (seen.insert(one.kind).second) kinds += fmt::format(" + {}", to_text(one.kind));
  return kinds;
}

/// Those that partitioning made one collective share its time by their bytes.
struct Combined {
  int64_t bytes = 0, count = 0;
  Picoseconds share(Picoseconds time, int64_t mine) const {
    if (count <= 1) return time;
    const double part =
        bytes > 0 ? static_cast<double>(mine) / static_cast<double>(bytes) : 1.0 / static_cast<double>(count);
    return Picoseconds(std::llround(static_cast<double>(time.count()) * part));
  }
};

class SpreadReporter {
 public:
  SpreadReporter(const Module& given, const OpTable& table, const Estimate& estimate)
      : given_(given),
        table_(table),
        estimate_(estimate),
        notes_(*estimate.spread),
        names_(notes_.mesh, estimate.simulation->grid) {}

  SpreadReport make() {
    report_.mesh = to_text(notes_.mesh);
    report_.was_partitioned = notes_.was_partitioned;
    for (const TransferRecord& transfer : estimate_.simulation->transfers)
      if (transfer.kind == TransferKind::kCollective && transfer.collective) add_use(transfer);
    add_reshardings();
    add_replicated();
    return std::move(report_);
  }

 private:
  const std::string& axes_of(InstructionId id) {
    const auto [found, is_new] = axes_.try_emplace(id);
    if (is_new) {
      const Module& ran = *estimate_.module;
      std::set<std::string> seen;
      for (const CollectiveGroups& groups : groups_of(ran, table_, ran[id], estimate_.simulation->grid))
        if (const std::string axes = names_.of(groups); seen.insert(axes).second)
          found->second += (found->second.empty() ? "" : " + ") + axes;
    }
    return found->second;
  }

  void add_use(const TransferRecord& transfer) {
    const std::string& axes = axes_of(transfer.start_instruction);
    const std::string kind = kinds_of(transfer);
    auto use = std::find_if(report_.uses.begin(), report_.uses.end(),
                            [&](const AxisUse& one) { return one.axes == axes && one.kind == kind; });
    if (use == report_.uses.end()) {
      // Kinds along the same axes stand together.
      use = std::find_if(report_.uses.rbegin(), report_.uses.rend(), [&](const AxisUse& one) {
              return one.axes == axes;
            }).base();
      if (use == report_.uses.begin()) use = report_.uses.end();
      use = report_.uses.insert(use, AxisUse{axes, kind});
    }
    const int64_t times = transfer.executions;
    use->executions += times;
    use->sent += (transfer.collective->sent + transfer.collective->scalar_sent) * times;
    use->takes += transfer.duration * times;
    use->hidden += transfer.hidden * times;
    use->exposed += transfer.exposed * times;
  }

  /// By the channels of what runs.
  void add_reshardings() {
    std::unordered_map<int64_t, const TransferRecord*> by_channel;
    for (const TransferRecord& transfer : estimate_.simulation->transfers)
      if (transfer.kind == TransferKind::kCollective && transfer.start_instruction.valid())
        by_channel.try_emplace(channel_of((*estimate_.module)[transfer.start_instruction]), &transfer);
    std::unordered_map<std::string_view, InstructionId> by_given_name;
    for (const Computation& computation : given_.computations)
      for (const InstructionId id : computation.instructions) by_given_name.try_emplace(given_[id].name, id);
    const SourcePlaces places(given_);
    std::unordered_map<int64_t, Combined> combined;
    for (const AskedCollective& asked : notes_.asked) {
      combined[asked.channel].bytes += asked.bytes;
      ++combined[asked.channel].count;
    }
    for (const AskedCollective& asked : notes_.asked) {
      ReportResharding row;
      row.collective = asked.collective;
      row.kind = asked.kind;
      row.asked_by = asked.asked_by;
      if (const auto asker = by_given_name.find(asked.asked_by); asker != by_given_name.end()) {
        const SourcePlace place = places.of(given_[asker->second]);
        if (!place.file.empty()) row.source = fmt::format("{}:{}", place.file, place.line);
      }
      row.what = asked.what, row.from = asked.from, row.to = asked.to;
      row.bytes = Bytes(asked.bytes);
      const auto found = by_channel.find(asked.channel);
      if (asked.channel > 0 && found != by_channel.end()) {
        const TransferRecord* const transfer = found->second;
        row.collective = (*estimate_.module)[transfer->start_instruction].name;
        row.axes = axes_of(transfer->start_instruction);
        row.executions = transfer->executions;
        const Combined& all = combined.at(asked.channel);
        row.takes = all.share(transfer->duration * transfer->executions, asked.bytes);
        row.exposed = all.share(transfer->exposed * transfer->executions, asked.bytes);
      }
      report_.reshardings.push_back(std::move(row));
    }
    std::stable_sort(report_.reshardings.begin(), report_.reshardings.end(),
                     [](const ReportResharding& a, const ReportResharding& b) { return a.takes > b.takes; });
  }

  /// By where it stands in the text, which what became of it points to as well.
  void add_replicated() {
    std::unordered_map<uint32_t, Picoseconds> times;
    for (const InstructionRecord& record : estimate_.simulation->instructions)
      times[(*estimate_.module)[record.id].offset] += record.self_time;
    for (const ReplicatedWork& one : notes_.replicated) {
      auto row = std::ranges::find(report_.replicated, one.reason, &ReplicatedReport::reason);
      if (row == report_.replicated.end()) row = report_.replicated.insert(row, {one.name, one.reason});
      ++row->instructions;
      if (const auto time = times.find(one.offset); one.offset > 0 && time != times.end()) {
        row->time += time->second;
        times.erase(time);  // several may come from one place
      }
    }
    for (ReplicatedReport& row : report_.replicated)
      if (row.instructions > 1) row.what += fmt::format(" and {} more", row.instructions - 1);
    std::ranges::stable_sort(report_.replicated, std::ranges::greater{}, &ReplicatedReport::time);
  }

  /// Of the collective that an instruction is, or the first one that it wraps; 0: none.
  int64_t channel_of(const Instruction& instruction) const {
    if (const Attr* const channel = instruction.find(AttrKey::kChannelId)) return channel->integer();
    int64_t found = 0;
    for_each_called(instruction, [&](ComputationId id) {
      for (const InstructionId inner : (*estimate_.module)[id].instructions)
        if (found == 0) found = channel_of((*estimate_.module)[inner]);
    });
    return found;
  }

  const Module& given_;
  const OpTable& table_;
  const Estimate& estimate_;
  const PartitionNotes& notes_;
  AxisNames names_;
  std::map<InstructionId, std::string> axes_;
  SpreadReport report_;
};

constexpr size_t kSpreadNameWidth = 34;

std::string spread_share(Picoseconds part, Picoseconds whole) {
  if (whole.count() <= 0) return "-";
  return fmt::format("{:.1f} %",
                     100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::string uses_text(const SpreadReport& spread, Picoseconds makespan) {
  if (spread.uses.empty()) return "  none: no device sends anything to another\n";
  Table table({{"axes", Align::kLeft, 24},
               {"kind", Align::kLeft},
               {"runs"},
               {"sent"},
               {"takes"},
               {"hidden"},
               {"exposed"},
               {"share"}});
  for (const AxisUse& use : spread.uses)
    table.add({use.axes.empty() ? "-" : use.axes, use.kind, grouped(use.executions), to_text(use.sent),
               to_text(use.takes), to_text(use.hidden), to_text(use.exposed),
               spread_share(use.exposed, makespan)});
  return table.text("  ");
}

std::string reshardings_text(const SpreadReport& spread, size_t top) {
  if (spread.reshardings.empty()) return "  none: every array has the sharding that its users need\n";
  const size_t shown = top == 0 ? spread.reshardings.size() : std::min(top, spread.reshardings.size());
  Table table({{"collective", Align::kLeft, kSpreadNameWidth},
               {"axes", Align::kLeft, 16},
               {"runs"},
               {"each"},
               {"takes"},
               {"exposed"},
               {"asked by", Align::kLeft, kSpreadNameWidth}});
  std::string details;
  for (size_t i = 0; i < shown; ++i) {
    const ReportResharding& row = spread.reshardings[i];
    const bool runs = row.executions > 0;
    table.add({row.collective, row.axes.empty() ? "-" : row.axes, runs ? grouped(row.executions) : "merged",
               to_text(row.bytes), runs ? to_text(row.takes) : "-", runs ? to_text(row.exposed) : "-",
               row.source.empty() ? row.asked_by : fmt::format("{} ({})", row.asked_by, row.source)});
    details +=
        fmt::format("  {}: {} from {} to {}\n", shortened(row.collective, kSpreadNameWidth),
                    shortened(row.what, kSpreadNameWidth), shortened(row.from, 60), shortened(row.to, 60));
  }
  std::string text = table.text("  ") + details;
  if (spread.reshardings.size() > shown)
    text += fmt::format("  and {} more (--top=0 shows all)\n", spread.reshardings.size() - shown);
  return text;
}

}  // namespace

SpreadReport make_spread_report(const Module& given, const OpTable& table, const Estimate& estimate) {
  return SpreadReporter(given, table, estimate).make();
}

std::string spread_text(const SpreadReport& spread, Picoseconds makespan, size_t top) {
  std::string text = fmt::format("\nCollectives by mesh axis{}{} (all runs; a device's share)\n",
                                 spread.mesh.empty() ? "" : " of ", spread.mesh);
  text += uses_text(spread, makespan);
  if (spread.was_partitioned) return text;
  for (const ReplicatedReport& one : spread.replicated)
    text += fmt::format("  replicated: {}: {} ({} of the time)\n", one.what, one.reason,
                        spread_share(one.time, makespan));
  text += "\nReshardings\n";
  return text + reshardings_text(spread, top);
}

}  // namespace hlosim
