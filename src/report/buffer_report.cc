#include "report/buffer_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/quantity_text.h"
#include "base/text.h"
#include "layout/sizes.h"
#include "report/report.h"

namespace hlosim {
namespace {

class ReportMaker {
 public:
  ReportMaker(const BufferAnalysis& analysis, const BufferReportOptions& options)
      : analysis_(analysis), options_(options), placed_(analysis.values.size()) {
    for (const Allocation& allocation : analysis.assignment.allocations)
      for (const AssignedValue& value : allocation.values) placed_[static_cast<size_t>(value.value)] = &value;
  }

  BufferReport run() {
    BufferReport report;
    report.module = analysis_.graph.module().name;
    report.scheduled_by = scheduled_by();
    report.steps = analysis_.schedule.end();
    report.alignment = options_.alignment;
    report.total = analysis_.assignment.total();
    report.allocations = static_cast<int64_t>(analysis_.assignment.allocations.size());
    report.least = analysis_.least_bytes;
    for (SpaceUse& use : space_use(analysis_)) report.spaces.push_back(space(std::move(use), report));
    report.at = options_.at;
    if (options_.at)
      for (const ValueIndex value : live_at(analysis_, *options_.at)) report.live.push_back(line(value));
    return report;
  }

 private:
  std::string scheduled_by() const {
    switch (analysis_.scheduled_by) {
      case ScheduleSource::kList:
        return "list";
      case ScheduleSource::kDepth:
        return "dfs";
      case ScheduleSource::kPostOrder:
        return "post";
      default:
        return analysis_.graph.module().is_scheduled() ? "the module" : "text";
    }
  }

  BufferLine line(ValueIndex value) const {
    const Instruction& definer = analysis_.graph.module()[analysis_.definer(value)];
    const ShapeRef shape = analysis_.shape(value);
    const LiveRange& range = analysis_.ranges[static_cast<size_t>(value)];
    BufferLine out;
    out.name = std::string(definer.name);
    if (definer.shape->is_tuple())
      out.name += index_text(analysis_.places.index(analysis_.values[value].defined));
    out.operation = to_text(definer.opcode);
    out.op_name = op_name_of(definer);
    out.shape = to_text(shape);
    out.allocation = analysis_.assignment.allocation_of[static_cast<size_t>(value)];
    if (const AssignedValue* at = placed_[static_cast<size_t>(value)])
      out.offset = at->offset, out.size = at->size;
    out.dense = dense_bytes(shape).count();
    out.padded = array_size(shape).count();
    out.start = range.start;
    out.end = range.end;
    if (definer.parent == analysis_.graph.module().entry) out.parameter = definer.parameter_number;
    return out;
  }

  SpaceLine space(SpaceUse use, BufferReport& report) const {
    SpaceLine out;
    out.name = fmt::format("S({})", use.space);
    if (options_.device)
      if (const MemorySpace* known = options_.device->memory_space(use.space)) out.name = known->name;
    if (const auto found = options_.capacities.find(use.space); found != options_.capacities.end())
      out.capacity = found->second;
    for (const Allocation& allocation : analysis_.assignment.allocations) {
      if (allocation.space != use.space || allocation.is_thread_local) continue;
      int64_t& kind = allocation.parameter >= 0 ? out.parameters
                      : allocation.is_constant  ? out.constants
                      : allocation.is_output    ? out.outputs
                                                : out.temporary;
      kind += allocation.size;
      if (allocation.parameter >= 0 && allocation.is_output) out.aliased += allocation.size;
    }
    std::vector<BufferLine> there;
    for (const ValueIndex value : live_at(analysis_, use.peak_step))
      if (analysis_.spaces[static_cast<size_t>(value)] == use.space) there.push_back(line(value));
    if (out.capacity && use.allocated > *out.capacity) report.overflows.push_back(overflow(out, use, there));
    if (there.size() > options_.top) there.resize(options_.top);
    out.largest = std::move(there);
    out.use = std::move(use);
    return out;
  }

  std::string overflow(const SpaceLine& space, const SpaceUse& use,
                       const std::vector<BufferLine>& there) const {
    const InstructionId at = analysis_.schedule.steps[static_cast<size_t>(use.peak_step)];
    std::string text = fmt::format("{}: used {} of {}, exceeded by {}; most is needed at step {} ({}), by",
                                   space.name, to_text(Bytes(use.allocated)), to_text(Bytes(*space.capacity)),
                                   to_text(Bytes(use.allocated - *space.capacity)), use.peak_step,
                                   analysis_.graph.module()[at].name);
    int64_t rest = 0;
    for (size_t i = 0; i < there.size(); ++i) {
      if (i < 5)
        text += fmt::format("{} {} ({})", i > 0 ? "," : "", there[i].name, to_text(Bytes(there[i].size)));
      else
        rest += there[i].size;
    }
    if (rest > 0) text += fmt::format(" and {} smaller ones ({})", there.size() - 5, to_text(Bytes(rest)));
    return text;
  }

  const BufferAnalysis& analysis_;
  const BufferReportOptions& options_;
  std::vector<const AssignedValue*> placed_;
};

}  // namespace

Result<std::pair<int64_t, int64_t>> parse_capacity(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return failure(fmt::format("--capacity: '{}' {}", shown(text), why), "as in S1=64MiB");
  };
  const size_t equals = text.find('=');
  if (!text.starts_with('S') || equals == std::string_view::npos) return wrong("is not SPACE=SIZE");
  int64_t space = 0;
  const char* end = text.data() + equals;
  if (const auto [stop, error] = std::from_chars(text.data() + 1, end, space);
      error != std::errc() || stop != end || space < 0 || space > 255)
    return wrong("names no memory space from S0 to S255");
  const Result<Bytes> size = TextForm<Bytes>::read(text.substr(equals + 1));
  if (!size) return wrong(size.error().message);
  return std::pair(space, size->count());
}

Capacities capacities_of(const DeviceConfig& device) {
  Capacities capacities;
  for (const MemorySpace& space : device.memory)
    if (const std::optional<Bytes> bytes = device_capacity(device, space))
      for (const int64_t number : space.numbers) capacities[number] = bytes->count();
  return capacities;
}

BufferReport buffer_report(const BufferAnalysis& analysis, const BufferReportOptions& options) {
  return ReportMaker(analysis, options).run();
}

}  // namespace hlosim
