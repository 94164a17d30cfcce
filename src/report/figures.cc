#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/saturating.h"
#include "model/version.h"
#include "report/source_place.h"
#include "report/structure.h"

namespace hlosim {
namespace {

enum Common : size_t {
  kTime,
  kExposedCopies,
  kExposedCollectives,
  kExposedOthers,
  kHbmBytes,
  kSentBytes,
  kPaddingBytes,
  kFlops,
  kVectorOperations,
  kTranscendentals,
  kCommonCount
};
constexpr std::string_view kCommonNames[] = {
    "time",          "exposed_copies", "exposed_collectives", "exposed_others", "hbm_bytes", "sent_bytes",
    "padding_bytes", "flops",          "vector_operations",   "transcendentals"};
static_assert(std::size(kCommonNames) == kCommonCount);

constexpr MetricUnit unit_of(size_t common) {
  return common <= kExposedOthers  ? MetricUnit::kPicoseconds
         : common <= kPaddingBytes ? MetricUnit::kBytes
                                   : MetricUnit::kCount;
}

class Maker {
 public:
  Maker(const Report& report, const Module& module, const OpTable& table, const Estimate& estimate)
      : report_(report),
        given_(estimate.is_lowered ? module : *estimate.module),
        ran_(*estimate.module),
        estimate_(estimate),
        structure_(structure_of(ran_, table)),
        places_(ran_),
        row_of_(ran_.instructions.size(), -1) {
    figures_.structure =
        fmt::format("{:016x}", estimate.is_lowered ? structure_of(module, table).module : structure_.module);
  }

  Metrics make() {
    about();
    for (const InstructionRecord& record : estimate_.simulation->instructions) add_record(record);
    add_transfers();
    add_padding();
    add_peaks();
    return std::move(figures_);
  }

 private:
  void about() {
    figures_.module_name = report_.module_name;
    figures_.module_file = report_.module_file;
    figures_.module_fingerprint = report_.module_fingerprint;
    figures_.device_name = report_.device_name;
    figures_.device_file = report_.device_file;
    figures_.device_fingerprint = report_.device_fingerprint;
    figures_.model_version = kModelVersion;
    figures_.metrics = common_metrics();
    const Totals& totals = report_.totals();
    figures_.totals = {totals.makespan.count(),
                       totals.exposed_copies.count(),
                       totals.all_exposed_collectives().count(),
                       totals.exposed_others.count(),
                       report_.hbm_traffic().total().count(),
                       totals.sent.count(),
                       report_.padding_total.extra.count(),
                       totals.flops.count(),
                       totals.vector_operations,
                       totals.transcendentals};
    for (const ReportSpace& space : report_.spaces) {
      if (!space.is_used) continue;
      std::string name = "peak." + space.name;
      if (figures_.index_of(name) >= 0) name += fmt::format(".S({})", space.number);
      figures_.metrics.push_back({std::move(name), MetricUnit::kBytes});
      figures_.totals.push_back(space.peak.count());
    }
    if (given_.source && has_lines(*given_.source)) {
      has_lines_ = true;
      find_line_ends();
      if (given_.source->text().find("HloModule") != std::string_view::npos) figures_.line = line_of_module();
    }
  }

  void find_line_ends() {
    const std::string_view text = given_.source->text();
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      line_ends_.push_back(static_cast<uint32_t>(at));
  }
  int64_t line_of(uint32_t offset) const {
    return 1 + (std::lower_bound(line_ends_.begin(), line_ends_.end(), offset) - line_ends_.begin());
  }
  // Of several modules in one text: the last header above the entry computation.
  int64_t line_of_module() const {
    const uint32_t entry = given_.entry_computation().offset;
    const size_t header = given_.source->text().substr(0, entry).rfind("HloModule");
    return header == std::string_view::npos ? 1 : line_of(static_cast<uint32_t>(header));
  }

  /// In the user's text: what lowering makes points to what it was made from. 0: to nothing.
  int64_t line_of(const Instruction& instruction) const {
    return instruction.offset == 0 || !has_lines_ ? 0 : line_of(instruction.offset);
  }

  InstructionMetrics& row(InstructionId id) {
    int32_t& index = row_of_[id];
    if (index >= 0) return figures_.instructions[static_cast<size_t>(index)];
    index = static_cast<int32_t>(figures_.instructions.size());
    const Instruction& instruction = ran_[id];
    InstructionMetrics row;
    row.name = std::string(instruction.name);
    row.opcode = std::string(to_text(instruction.opcode));
    row.computation = std::string(ran_[instruction.parent].name);
    row.shape = to_text(instruction.shape);
    row.op_name = std::string(op_name_of(instruction));
    const SourcePlace place = places_.of(instruction);
    row.source_file = std::string(place.file);
    row.source_line = place.line;
    row.line = line_of(instruction);
    row.own = structure_.own[id];
    row.deep = structure_.deep[id];
    row.amounts.assign(figures_.metrics.size(), 0);
    figures_.instructions.push_back(std::move(row));
    return figures_.instructions.back();
  }

  static int64_t all(int64_t one, int64_t executions) { return saturating_multiply(one, executions); }

  void add_record(const InstructionRecord& record) {
    InstructionMetrics& one = row(record.id);
    one.executions += record.executions;
    one.bound_by = report_.unit_name(record.bound_by);
    const InstructionCost& cost = estimate_.simulation->cost(record);
    one.amounts[kTime] += record.self_time.count();
    one.amounts[kHbmBytes] += all(cost.traffic[report_.hbm].total().count(), record.executions);
    one.amounts[kFlops] += all(cost.flops.count(), record.executions);
    one.amounts[kVectorOperations] += all(cost.vector_operations, record.executions);
    one.amounts[kTranscendentals] += all(cost.transcendentals, record.executions);
  }

  void add_transfers() {
    for (const TransferRecord& transfer : estimate_.simulation->transfers) {
      if (!transfer.start_instruction.valid()) continue;
      InstructionMetrics& start = row(transfer.start_instruction);
      if (transfer.collective)
        start.amounts[kSentBytes] += all(transfer.collective->sent.count(), transfer.executions);
      // What of it the core waits for is its done's, whoever else waited: that is what moved, if it is more.
      const InstructionId done = transfer.done_instruction;
      InstructionMetrics& waits = done.valid() ? row(done) : start;
      waits.amounts[transfer.kind == TransferKind::kCopy         ? kExposedCopies
                    : transfer.kind == TransferKind::kCollective ? kExposedCollectives
                                                                 : kExposedOthers] +=
          all(transfer.exposed.count(), transfer.executions);
    }
  }

  void add_padding() {
    std::unordered_map<ShapeRef, int64_t> known;
    for (const LiveBuffer& buffer : estimate_.occupancy.buffers) {
      const ShapeRef shape = subshape(ran_[buffer.instruction].shape, buffer.index);
      if (!shape || !shape->is_array() || shape->is_unbounded()) continue;
      const auto [found, is_new] = known.try_emplace(shape);
      if (is_new) found->second = padding_of(shape).extra.count();
      if (found->second > 0) row(buffer.instruction).amounts[kPaddingBytes] += found->second;
    }
  }

  void add_peaks() {
    size_t metric = kCommonCount;
    for (const ReportSpace& space : report_.spaces) {
      if (!space.is_used) continue;
      for (const LiveBuffer& buffer : estimate_.occupancy.buffers)
        if (buffer.space == space.number && buffer.counts_at(space.peak_step))
          row(buffer.instruction).amounts[metric] += buffer.size.count();
      ++metric;
    }
  }

  const Report& report_;
  const Module& given_;
  const Module& ran_;
  const Estimate& estimate_;
  Structure structure_;  // of what ran
  SourcePlaces places_;
  IdMap<InstructionId, int32_t> row_of_;
  std::vector<uint32_t> line_ends_;
  bool has_lines_ = false;  // the user's text
  Metrics figures_;
};

}  // namespace

std::string_view to_text(MetricUnit unit) {
  return unit == MetricUnit::kPicoseconds ? "ps" : unit == MetricUnit::kBytes ? "bytes" : "count";
}

std::vector<Metric> common_metrics() {
  std::vector<Metric> metrics;
  for (size_t i = 0; i < kCommonCount; ++i) metrics.push_back({std::string(kCommonNames[i]), unit_of(i)});
  return metrics;
}

std::optional<MetricUnit> metric_unit(std::string_view name) {
  for (size_t i = 0; i < kCommonCount; ++i)
    if (kCommonNames[i] == name) return unit_of(i);
  return std::nullopt;
}

int Metrics::index_of(std::string_view metric) const {
  for (size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].name == metric) return static_cast<int>(i);
  return -1;
}

int64_t Metrics::rest(size_t metric) const {
  auto rest = static_cast<uint64_t>(totals[metric]);  // wraps where sums reached the end of their type
  for (const InstructionMetrics& instruction : instructions)
    rest -= static_cast<uint64_t>(instruction.amounts[metric]);
  return static_cast<int64_t>(rest);
}

Metrics make_figures(const Report& report, const Module& module, const OpTable& table,
                     const Estimate& estimate) {
  return Maker(report, module, table, estimate).make();
}

std::string amount_text(MetricUnit unit, int64_t amount) {
  if (amount < 0)
    return "-" + amount_text(unit, amount == std::numeric_limits<int64_t>::min()
                                       ? std::numeric_limits<int64_t>::max()
                                       : -amount);
  switch (unit) {
    case MetricUnit::kPicoseconds:
      return to_text(Picoseconds(amount));
    case MetricUnit::kBytes:
      return to_text(Bytes(amount));
    case MetricUnit::kCount:
      break;
  }
  return grouped(amount);
}

std::string change_text(MetricUnit unit, int64_t change) {
  return (change > 0 ? "+" : "") + amount_text(unit, change);
}

std::string percent_text(int64_t before, int64_t after) {
  if (before == 0) return {};
  const double percent = 100 * (static_cast<double>(after) - static_cast<double>(before)) /
                         std::abs(static_cast<double>(before));
  if (percent == 0) return "0 %";
  return std::abs(percent) >= 0.05 ? fmt::format("{:+.1f} %", percent) : fmt::format("{:+.1g} %", percent);
}

}  // namespace hlosim
