#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "buffers/space_use.h"
#include "layout/sizes.h"
#include "memory/memory_classes.h"
#include "report/html/html_data.h"
#include "text/json.h"

namespace hlosim {
namespace {

constexpr int64_t kAlignment = 64;  // that of `hlosim buffers`

std::string_view kind_of(const Allocation& allocation) {
  if (allocation.parameter >= 0) return "parameter";
  if (allocation.is_constant) return "constant";
  return allocation.is_output ? "output" : "temporary";
}

/// Allocations of a space lie end to end, in this order of their kinds.
int order_of(const Allocation& allocation) {
  return allocation.parameter >= 0 ? 0 : allocation.is_constant ? 1 : allocation.is_output ? 2 : 3;
}

bool is_shown(const Allocation& allocation) { return !allocation.is_thread_local && !allocation.is_table; }

class MemoryData {
 public:
  MemoryData(const BufferAnalysis& analysis, const OpTable& table, const DeviceConfig& device,
             const Estimate& estimate, const Report& report)
      : analysis_(analysis),
        module_(analysis.graph.module()),
        device_(device),
        occupancy_(estimate.occupancy),
        report_(report),
        row_of_(module_.instructions.size(), -1) {
    const std::vector<InstructionRecord>& records = estimate.simulation->instructions;
    for (size_t i = 0; i < records.size(); ++i) row_of_[records[i].id] = static_cast<int64_t>(i);
    const std::vector<MemoryClass> classes = memory_classes(module_, table, occupancy_);
    for (size_t i = 0; i < classes.size(); ++i) {
      const LiveBuffer& buffer = occupancy_.buffers[i];
      class_of_.try_emplace({buffer.instruction, buffer.index}, classes[i]);
    }
  }

  std::string json() {
    std::string out =
        fmt::format("{{\"alignment\":{},\"same_order\":{},\"steps\":", kAlignment, same_order());
    out += steps();
    out += ",\"spaces\":[";
    const std::vector<SpaceUse> uses = space_use(analysis_);
    for (const SpaceUse& use : uses) (out += out.back() == '[' ? "" : ",") += space(use);
    return out + "],\"buffers\":" + buffers() + "}";
  }

 private:
  bool same_order() const { return analysis_.schedule.steps == occupancy_.steps; }

  /// Name, instruction of the report and time of each step.
  std::string steps() const {
    std::vector<std::string_view> names;
    std::vector<int64_t> rows, times;
    int64_t now = 0;
    for (const InstructionId id : analysis_.schedule.steps) {
      names.push_back(module_[id].name);
      const int64_t row = row_of_[id];
      if (row >= 0) {
        const ReportInstruction& record = report_.instructions[static_cast<size_t>(row)];
        if (record->executions > 0) now = std::max<int64_t>(now, record->start.count());
      }
      rows.push_back(row);
      times.push_back(now);
    }
    ColumnWriter table(names.size());
    table.texts("name", names);
    table.whole_numbers("instruction", rows);
    table.whole_numbers("time_ps", times);
    return table.take();
  }

  /// What is needed at each step: as the report counts it where both have the same order.
  std::string space(const SpaceUse& use) {
    std::vector<int64_t> bytes = use.at_step;
    int64_t peak = use.peak, peak_step = use.peak_step;
    if (same_order())
      for (const SpaceOccupancy& known : occupancy_.spaces) {
        if (known.number != use.space) continue;
        bytes.clear();
        for (const Bytes at : known.at_step) bytes.push_back(at.count());
        peak = known.peak.count();
        peak_step = known.peak_step;
      }
    const MemorySpace* known = device_.memory_space(use.space);
    const std::optional<Bytes> capacity = known ? device_capacity(device_, *known) : std::nullopt;
    ColumnWriter table(bytes.size());
    table.whole_numbers("bytes", bytes);
    return fmt::format(
        "{{\"number\":{},\"name\":{},\"capacity_bytes\":{},\"peak_bytes\":{},\"peak_step\":{},"
        "\"allocated_bytes\":{},\"at_step\":{}}}",
        use.space, json_text(known ? known->name : fmt::format("S({})", use.space)),
        capacity ? std::to_string(capacity->count()) : "null", peak, peak_step, place_allocations(use.space),
        table.take());
  }

  /// The end of the last one.
  int64_t place_allocations(int64_t space) {
    std::vector<const Allocation*> there;
    for (const Allocation& allocation : analysis_.assignment.allocations)
      if (allocation.space == space && is_shown(allocation)) there.push_back(&allocation);
    std::stable_sort(there.begin(), there.end(),
                     [](const Allocation* a, const Allocation* b) { return order_of(*a) < order_of(*b); });
    int64_t end = 0;
    for (const Allocation* allocation : there) {
      begin_of_[allocation] = end;
      end += round_up(allocation->size, kAlignment);
    }
    return end;
  }

  /// "activations"; null: a value that the simulation's occupancy doesn't have.
  std::string_view class_at(InstructionId definer, std::span<const int64_t> index) const {
    const auto found = class_of_.find({definer, {index.begin(), index.end()}});
    return found == class_of_.end() ? std::string_view() : to_text(found->second);
  }

  std::string buffers() {
    std::vector<int64_t> spaces, offsets, sizes, firsts, lasts, rows;
    std::vector<std::string> names, shapes;
    std::vector<std::string_view> kinds, classes;
    std::vector<int64_t> dense;
    std::map<ShapeRef, std::string> known_shapes;
    for (const Allocation& allocation : analysis_.assignment.allocations) {
      const auto begin = begin_of_.find(&allocation);
      if (begin == begin_of_.end()) continue;
      for (const AssignedValue& value : allocation.values) {
        const LiveRange& range = analysis_.ranges[static_cast<size_t>(value.value)];
        if (!range.known()) continue;
        const InstructionId definer = analysis_.definer(value.value);
        const ShapeRef shape = analysis_.shape(value.value);
        std::string name(module_[definer].name);
        if (module_[definer].shape->is_tuple())
          name += index_text(analysis_.places.index(analysis_.values[value.value].defined));
        std::string& shape_text = known_shapes[shape];
        if (shape_text.empty()) shape_text = to_text(shape);
        names.push_back(std::move(name));
        shapes.push_back(shape_text);
        kinds.push_back(kind_of(allocation));
        classes.push_back(class_at(definer, analysis_.places.index(analysis_.values[value.value].defined)));
        dense.push_back(std::min(dense_bytes(shape).count(), value.size));
        spaces.push_back(allocation.space);
        offsets.push_back(begin->second + value.offset);
        sizes.push_back(value.size);
        firsts.push_back(range.start);
        lasts.push_back(std::min(range.end, analysis_.schedule.end() - 1));
        rows.push_back(row_of_[definer]);
      }
    }
    ColumnWriter table(names.size());
    table.texts("name", std::vector<std::string_view>(names.begin(), names.end()));
    table.texts("shape", std::vector<std::string_view>(shapes.begin(), shapes.end()));
    table.texts("kind", kinds);
    table.texts("class", classes);
    table.whole_numbers("dense_bytes", dense);
    table.whole_numbers("space", spaces);
    table.whole_numbers("offset", offsets);
    table.whole_numbers("bytes", sizes);
    table.whole_numbers("first_step", firsts);
    table.whole_numbers("last_step", lasts);
    table.whole_numbers("instruction", rows);
    return table.take();
  }

  const BufferAnalysis& analysis_;
  const Module& module_;
  const DeviceConfig& device_;
  const Occupancy& occupancy_;
  const Report& report_;
  IdMap<InstructionId, int64_t> row_of_;
  std::map<const Allocation*, int64_t> begin_of_;
  std::map<std::pair<InstructionId, std::vector<int64_t>>, MemoryClass> class_of_;  // by definer and index
};

}  // namespace

std::string memory_data(const OpTable& table, const Device& device, const Estimate& estimate,
                        const Report& report) {
  BufferOptions options;
  options.alignment = kAlignment;
  options.padded = true;
  options.schedule = ScheduleSource::kText;
  const Result<std::unique_ptr<BufferAnalysis>> analysis = analyse_buffers(*estimate.module, table, options);
  if (!analysis) return "{\"unknown\":" + json_text(analysis.error().message) + "}";
  return MemoryData(**analysis, table, device.config, estimate, report).json();
}

}  // namespace hlosim
