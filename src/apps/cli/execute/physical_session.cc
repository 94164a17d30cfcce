#include "cli/execute/physical_session.h"

#include <fmt/format.h>

#include <ostream>

#include "base/quantity_text.h"
#include "console/device_input.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "physical/placement.h"
#include "physical/prepare.h"
#include "report/buffer_report.h"

namespace hlosim {

PhysicalSetting::PhysicalSetting() = default;
PhysicalSetting::~PhysicalSetting() = default;

int64_t PhysicalSetting::bytes() const { return physical_bytes(*analysis_); }

bool PhysicalSetting::prepare(const PhysicalChoices& choices, Module& module, uint64_t seed,
                              Streams streams) {
  PreparationOptions options;
  options.alignment = choices.alignment;
  if (choices.schedule == "text") options.schedule = ScheduleSource::kText;
  if (choices.schedule == "list") options.schedule = ScheduleSource::kList;
  if (choices.schedule == "dfs") options.schedule = ScheduleSource::kDepth;
  if (choices.schedule == "post") options.schedule = ScheduleSource::kPostOrder;
  if (choices.schedule == "random") options.random_order = seed;
  if (choices.layouts == "random") options.random_layouts = seed;
  if (!choices.device.empty()) {
    const std::optional<Device> device = read_device(choices.device, choices.choices, streams);
    if (!device) return false;
    options.native_tiling = tiling_policy(device->config);
    capacities_ = capacities_of(device->config);
  }
  Result<std::unique_ptr<BufferAnalysis>> placed = prepare_and_place(module, op_table(), options);
  if (!placed) {
    tell(placed.error(), streams);
    return false;
  }
  analysis_ = std::move(*placed);
  return true;
}

Result<PhysicalResult> PhysicalSetting::run(Module& module, DeviceState& device, std::vector<Array> inputs,
                                            const ProgramOptions& program) const {
  PhysicalOptions options;
  options.program = program;
  options.capacities = capacities_;
  return run_physically(module, op_table(), *analysis_, device, std::move(inputs), options);
}

std::string PhysicalSetting::summary(const PhysicalResult& result) const {
  std::string text;
  const Placement placement(*analysis_);
  for (const PlacedSpace& space : placement.spaces())
    text += fmt::format("{}{} bytes of S({})", text.empty() ? "" : ", ", grouped(space.size), space.space);
  return fmt::format("{}; {} steps, {} bytes written", text.empty() ? "no memory" : text,
                     grouped(result.steps), grouped(result.bytes_written));
}

}  // namespace hlosim
