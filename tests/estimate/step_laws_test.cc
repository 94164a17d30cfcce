// Laws of whole steps of model files: more sequences, more devices, more memory.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "estimate/estimate.h"
#include "model/device_overrides.h"
#include "support/folders.h"
#include "support/simulations.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

/// A model file of examples/models with its first two layers, and the axes of its devices.
struct Program {
  const char* model;
  const char* device;
  const char* mesh;
};

std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << program.model << " on " << program.device << ", " << program.mesh;
}

Module step_of(const Program& program, int64_t sequences_of_device) {
  const auto file = test::source_folder() / "examples/models" / (std::string(program.model) + ".yaml");
  Result<ModelConfig> model =
      read_model_config(std::make_shared<const SourceFile>(file.string(), test::file_text(file)));
  EXPECT_TRUE(model) << render(model.error());
  model->layers = 2;
  StepOptions options;
  options.mesh = *parse_mesh(program.mesh);
  options.batch = sequences_of_device * options.mesh.devices();
  options.sequence = 512;
  Result<Module> module = make_step(*model, options);
  EXPECT_TRUE(module) << render(module.error());
  return std::move(*module);
}

Totals totals_of(const Module& module, const Device& device, int64_t devices) {
  EstimateOptions options;
  options.simulate.keep_timeline = false;
  options.mesh.emplace().partitions = devices;
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, options);
  EXPECT_TRUE(estimate) << render(estimate.error());
  return estimate->simulation->totals;
}

Totals totals_of(const Program& program, int64_t sequences_of_device) {
  return totals_of(step_of(program, sequences_of_device), test::device_or_fail(program.device),
                   parse_mesh(program.mesh)->devices());
}

double seconds(Picoseconds time) { return static_cast<double>(time.count()) * 1e-12; }

/// Work is in proportion to the batch, and what is fixed is not. What collectives are waited for grows by no
/// more than they take longer themselves; 2 % of a step, as its order is found greedily.
TEST(StepLaws, TimeGrowsWithTheBatchWithoutAJump) {
  constexpr double kOrder = 0.02;
  for (const Program& program :
       {Program{"llama3-8b", "v6e", "fsdp=4,tensor=2"}, Program{"llama3-8b", "v5p", "fsdp=8"},
        Program{"gemma2-9b", "v7x", "fsdp=8"}, Program{"qwen3-30b-a3b", "v7x", "fsdp=8"},
        Program{"tiny-moe", "v5e", "fsdp=4,expert=2"}}) {
    SCOPED_TRACE(testing::PrintToString(program));
    Totals before = totals_of(program, 1);
    for (const int64_t batch : {2, 4, 8}) {
      const Totals now = totals_of(program, batch);
      EXPECT_GE(now.makespan, before.makespan) << batch;
      EXPECT_LE(seconds(now.makespan), 2 * seconds(before.makespan)) << batch;
      const auto on_links = [](const Totals& totals) { return seconds(totals.busy[index_of(Unit::kIci)]); };
      EXPECT_LE(seconds(now.all_exposed_collectives()), seconds(before.all_exposed_collectives()) +
                                                            std::max(on_links(now) - on_links(before), 0.0) +
                                                            kOrder * seconds(now.makespan))
          << batch;
      before = now;
    }
  }
}

/// Each device has the same parameters and sequences, and the more of them add up their gradients. 1 % of a
/// step: an order is found greedily, and one for slower collectives has hidden more of them by 0.8 %.
TEST(StepLaws, MoreDevicesAtEqualWorkAreNoFaster) {
  constexpr double kOrder = 0.01;
  for (const auto& [model, device] : {std::pair{"llama3-8b", "v6e"}, {"tiny", "v5p"}, {"tiny-moe", "v7x"}}) {
    double before = 0;
    for (const int devices : {2, 4, 8, 16, 32}) {
      const std::string mesh = fmt::format("data={}", devices);
      const double time = seconds(totals_of(Program{model, device, mesh.c_str()}, 1).makespan);
      EXPECT_GE(time, (1 - kOrder) * before) << model << " on " << devices << " of " << device;
      before = time;
    }
  }
}

/// 0.5 % of a step: an order is found greedily, and one for less memory has been faster by 0.3 %.
TEST(StepLaws, OverlapDoesNotFallWithMoreMemory) {
  constexpr double kOrder = 0.005;
  for (const Program& program :
       {Program{"llama3-8b", "v5p", "fsdp=4,tensor=2"}, Program{"qwen3-30b-a3b", "v7x", "fsdp=8"}}) {
    const Module module = step_of(program, 2);
    const Device device = test::device_or_fail(program.device);
    for (const char* space : {"hbm", "vmem"}) {
      SCOPED_TRACE(fmt::format("{} {}", testing::PrintToString(program), space));
      double before = 1e9;
      for (const double factor : {0.1, 0.25, 0.5, 1.0, 2.0, 4.0}) {
        const MemorySpace& whole = *device.config.memory_space(std::string_view(space));
        const auto part = [&](Bytes bytes) {
          return fmt::format("{} B", static_cast<int64_t>(static_cast<double>(bytes.count()) * factor));
        };
        std::vector<DeviceOverride> changes{
            {fmt::format("memory.{}.capacity", space), part(*whole.capacity)}};
        if (whole.usable) changes.push_back({fmt::format("memory.{}.usable", space), part(*whole.usable)});
        DiagnosticList problems;
        const std::optional<Device> changed = with_overrides(device, changes, problems);
        if (!changed) continue;  // less than kernels need
        const Totals totals = totals_of(module, *changed, parse_mesh(program.mesh)->devices());
        const double exposed = seconds(totals.all_exposed_collectives());
        EXPECT_LE(exposed, before + kOrder * seconds(totals.makespan)) << factor;
        before = std::min(before, exposed);
      }
    }
  }
}

/// A layer takes as long in a module of 60,000 instructions as in one of 15,000.
TEST(StepLaws, UnrolledLayersTakeEquallyLong) {
  const auto file = test::source_folder() / "examples/models/tiny.yaml";
  ModelConfig model =
      *read_model_config(std::make_shared<const SourceFile>(file.string(), test::file_text(file)));
  StepOptions options;
  options.mesh = *parse_mesh("fsdp=2");
  options.batch = 4, options.sequence = 256;
  options.scan_layers = false;
  const Device device = test::device_or_fail("v5e");
  std::vector<double> times;
  for (const int64_t layers : {16, 32, 64}) {
    model.layers = layers;
    const Result<Module> module = make_step(model, options);
    ASSERT_TRUE(module) << render(module.error());
    times.push_back(seconds(totals_of(*module, device, 2).makespan));
  }
  EXPECT_NEAR((times[2] - times[1]) / (times[1] - times[0]), 2, 0.04);
}

}  // namespace
}  // namespace hlosim
