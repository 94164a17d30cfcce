#include "model/provenances.h"

#include "base/check.h"

namespace hlosim {
namespace {

Provenance from(const Device& device, std::span<const std::string_view> paths) {
  return static_cast<Provenance>(device.weakest_source(paths));
}
Provenance from(const Device& device, std::initializer_list<std::string_view> paths) {
  return static_cast<Provenance>(device.weakest_source(paths));
}

}  // namespace

Provenances::Provenances(const Device& device) {
  of_unit_.fill(Provenance::kPublished);
  for (const UnitRow& row : unit_rows()) of_unit_[index_of(row.unit)] = from(device, row.numbers);
  of_unit_[index_of(Unit::kCustom)] = Provenance::kOverride;
  for (size_t i = 0; i < device.config.memory.size(); ++i) {
    const std::string path = "memory." + device.config.memory[i].name;
    const bool is_hbm = &device.config.memory[i] == &device.config.hbm();
    of_unit_[index_of(memory_unit(i))] =
        from(device, {path, std::string_view(is_hbm ? "dma.bandwidth" : "clock")});
  }
  constexpr std::string_view kClasses[] = {
      "vpu.ops.simple",      "vpu.ops.divide",        "vpu.ops.transcendental", "vpu.ops.expensive",
      "vpu.ops.cross_lane",  "vpu.ops.cross_sublane", "vpu.ops.transpose",      "vpu.ops.lane_stride",
      "vpu.ops.group_store", "vpu.ops.group_turn"};
  std::array paths = unit_row(Unit::kVpu).numbers;
  HLOSIM_CHECK(paths.back().empty());
  for (size_t i = 0; i < std::size(kClasses); ++i) {
    paths.back() = kClasses[i];
    vector_[i] = from(device, paths);
    const bool on_xlu = op_cost(device.config.vpu, static_cast<VectorOp>(i)).xlu > 0;
    cross_lane_[i] = from(device, {"clock", "xlu", on_xlu ? kClasses[i] : "vpu.ops.cross_lane"});
  }
  emulated_ = from(device, {"clock", "mxu"});
  overhead_ = from(device, {"overhead", "dma.read_latency", "dma.write_latency"});
}

Provenance Provenances::of(const InstructionCost& cost, const ComputeSummary& compute) const {
  if (compute.unmodelled) return Provenance::kDefault;
  if (cost.bound_by == Unit::kOverhead) return overhead_;
  if (cost.bound_by == Unit::kVpu) return vector_[static_cast<size_t>(compute.dominant)];
  if (cost.bound_by == Unit::kXlu) return cross_lane_[static_cast<size_t>(compute.dominant)];
  if (cost.bound_by == Unit::kMxu && compute.emulated) return emulated_;
  return index_of(cost.bound_by) < kUnitCount ? of_unit_[index_of(cost.bound_by)] : Provenance::kPublished;
}

}  // namespace hlosim
