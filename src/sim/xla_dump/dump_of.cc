#include "xla_dump/dump_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "hlo/printer.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

/// Shapes in dumps count the elements of long tuples.
void append_shape(std::string& out, ShapeRef shape, bool layout) {
  if (!shape->is_tuple()) {
    out += layout ? to_text(shape) : to_text_without_layout(shape);
    return;
  }
  out += '(';
  for (size_t i = 0; i < shape->elements.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) out += fmt::format("/*index={}*/", i);
    append_shape(out, shape->elements[i], layout);
  }
  out += ')';
}

std::string shape_text(ShapeRef shape, bool layout) {
  std::string out;
  append_shape(out, shape, layout);
  return out;
}

class DumpMaker {
 public:
  DumpMaker(const BufferAnalysis& analysis, const OpTable& table, Era era)
      : analysis_(analysis), module_(analysis.graph.module()), table_(table) {
    dump_.era = era;
  }

  BufferDump run() {
    for (size_t i = 0; i < analysis_.assignment.allocations.size(); ++i)
      dump_.allocations.push_back(allocation(static_cast<int32_t>(i)));
    dump_.total.bytes = analysis_.assignment.total();
    for (size_t i = 0; i < analysis_.values.size(); ++i)
      if (analysis_.assignment.allocation_of[i] >= 0)
        dump_.used_values.push_back(used_value(static_cast<ValueIndex>(i)));
    add_stats();
    add_live_range();
    dump_.sections = {{DumpPart::kAllocations, 0}, {DumpPart::kTotal, 1}, {DumpPart::kUsedValues, 1}};
    if (dump_.era == Era::k2026) dump_.sections.push_back({DumpPart::kStats, 1});
    dump_.sections.push_back({DumpPart::kLiveRange, dump_.era == Era::k2026 ? 1 : 2});
    return std::move(dump_);
  }

 private:
  const std::string& name_of(InstructionId id) const { return analysis_.names[id]; }
  const Instruction& definer(ValueIndex value) const { return module_[analysis_.definer(value)]; }
  std::optional<TupleIndex> tuple_index(Place place) const {
    if (!module_[analysis_.places.instruction(place)].shape->is_tuple()) return std::nullopt;
    return analysis_.places.index(place);
  }

  DumpValueName name(ValueIndex value) const {
    const HloValue& at = analysis_.values[value];
    return {at.number, name_of(analysis_.definer(value)), tuple_index(at.defined), at.is_phi,
            analysis_.spaces[static_cast<size_t>(value)]};
  }

  DumpAllocation allocation(int32_t number) const {
    DumpAllocation out = describe_allocation(analysis_, number, dump_.era);
    for (const AssignedValue& at : analysis_.assignment.allocations[static_cast<size_t>(number)].values)
      out.values.push_back({name(at.value), at.size, at.offset, shape_text(analysis_.shape(at.value), true)});
    return out;
  }

  DumpUsedValue used_value(ValueIndex value) const {
    DumpUsedValue out;
    out.value = name(value);
    for (const Place place : analysis_.values.positions(value))
      out.positions.push_back({name_of(analysis_.places.instruction(place)), tuple_index(place)});
    analysis_.values.for_each_use(analysis_.graph, analysis_.places, value, [&](const ValueUse& use) {
      out.uses.push_back({name_of(use.user), tuple_index(use.place), use.operand});
    });
    PrintOptions options;
    options.operand_shapes = dump_.era == Era::k2022;
    out.instruction = to_text(module_, definer(value), table_, options);
    return out;
  }

  void add_stats() {
    struct Sums {
      int64_t parameter = 0, constant = 0, output = 0, temporary = 0, total = 0;
    } sums;
    for (const Allocation& allocation : analysis_.assignment.allocations) {
      sums.total += allocation.size;
      if (allocation.parameter >= 0) sums.parameter += allocation.size;
      if (allocation.is_constant) sums.constant += allocation.size;
      if (allocation.is_output) sums.output += allocation.size;
      if (allocation.is_temporary()) sums.temporary += allocation.size;
    }
    const auto line = [&](std::string_view what, int64_t bytes) {
      dump_.stats.push_back(fmt::format("{:>34} {:>10}", fmt::format("{}:", what), xla_size_text(bytes)));
    };
    line("parameter allocation", sums.parameter);
    line("constant allocation", sums.constant);
    line("maybe_live_out allocation", sums.output);
    line("preallocated temp allocation", sums.temporary);
    const auto share = [&](int64_t bytes, int64_t of) {
      if (of > 0)
        dump_.stats.back() +=
            fmt::format(" ({:.2f}%)", 100.0 * static_cast<double>(bytes) / static_cast<double>(of));
    };
    if (analysis_.assignment.heap_fragmentation) {
      line("preallocated temp fragmentation", *analysis_.assignment.heap_fragmentation);
      share(*analysis_.assignment.heap_fragmentation, sums.temporary);
    }
    line("total allocation", sums.total);
    if (const int64_t waste = sums.total - analysis_.least_bytes; waste >= 0) {
      line("total fragmentation", waste);
      share(waste, sums.total);
    }
  }

  void add_live_range() {
    DumpLiveRange& live = dump_.live_range;
    live.end = analysis_.schedule.end();
    for (const InstructionId id : analysis_.schedule.steps) live.sequence.push_back(name_of(id));
    live.peak_step = analysis_.peak;
    for (size_t i = 0; i < analysis_.values.size(); ++i) {
      const auto value = static_cast<ValueIndex>(i);
      const LiveRange& range = analysis_.ranges[i];
      if (!range.known()) continue;
      const TupleIndex index = analysis_.places.index(analysis_.values[value].defined);
      live.ranges.push_back({name_of(analysis_.definer(value)), index, range.start, range.end});
      if (range.start > analysis_.peak || range.end < analysis_.peak) continue;
      DumpPeakEntry entry;
      entry.name = name_of(analysis_.definer(value));
      const bool of_2022 = dump_.era == Era::k2022;
      entry.bytes = dense_bytes(of_2022 ? definer(value).shape : analysis_.shape(value)).count();
      if (!of_2022) entry.index = index;
      live.peak.push_back(std::move(entry));
    }
    if (dump_.era == Era::k2022) return;
    std::stable_sort(live.peak.begin(), live.peak.end(), [](const DumpPeakEntry& a, const DumpPeakEntry& b) {
      return std::tuple(-a.bytes, a.name, *a.index) < std::tuple(-b.bytes, b.name, *b.index);
    });
    int64_t sum = 0;
    for (DumpPeakEntry& entry : live.peak) entry.cumulative = sum += entry.bytes;
  }

  const BufferAnalysis& analysis_;
  const Module& module_;
  const OpTable& table_;
  BufferDump dump_;
};

}  // namespace

DumpAllocation describe_allocation(const BufferAnalysis& analysis, int32_t number, Era era) {
  const Module& module = analysis.graph.module();
  const Allocation& from = analysis.assignment.allocations[static_cast<size_t>(number)];
  DumpAllocation out;
  out.number = number;
  out.size = from.size;
  out.color = from.space;
  if (era == Era::k2026) out.page = 0;
  if (from.parameter >= 0) {
    const InstructionId parameter =
        module.entry_computation().parameters[static_cast<size_t>(from.parameter)];
    const ShapeRef shape = subshape(module[parameter].shape, from.parameter_index);
    out.parameter = {from.parameter, shape_text(shape, false), from.parameter_index};
  }
  const InstructionId root = module.entry_computation().root;
  const ValueIndex result = analysis.values.at(analysis.places.first(root));
  if (result != kNoValue && analysis.assignment.allocation_of[static_cast<size_t>(result)] == number)
    out.output_shape = shape_text(module[root].shape, false);
  out.is_constant = from.is_constant;
  out.is_thread_local = from.is_thread_local;
  out.is_output = from.is_output;
  out.is_temporary = from.is_temporary();
  return out;
}

BufferDump dump_of(const BufferAnalysis& analysis, const OpTable& table, Era era) {
  return DumpMaker(analysis, table, era).run();
}

}  // namespace hlosim
