#include "model/pallas/kernel_body_cost.h"

#include <gtest/gtest.h>

#include <random>

#include "model/core.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// A grid of one parallel dimension whose steps are runs of random lengths, blocks and work.
mosaic::KernelBody random_body(std::mt19937& random) {
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  mosaic::KernelBody body;
  body.steps = 0;
  body.works.resize(2);
  body.works[1].scalar = static_cast<double>(number(1, 100'000));
  for (int64_t i = number(1, 5); i > 0; --i) {
    mosaic::StepRun run;
    run.work = static_cast<uint32_t>(number(0, 1));
    run.in = static_cast<double>(number(0, 3) * 100'000),
    run.out = static_cast<double>(number(0, 3) * 50'000);
    run.count = number(1, 9);
    body.steps += run.count;
    body.runs.push_back(run);
  }
  body.grid = {body.steps}, body.semantics = {"parallel"};
  return body;
}

// Each step is worked on once and each block moved once, whatever number of cores shares the grid.
TEST(KernelBodyCost, CoresShareStepsAndBlocks) {
  std::mt19937 random(7);
  for (const char* name : {"v5e", "v5p"}) {
    const DeviceConfig device = test::device_or_fail(name).config;
    for (int i = 0; i < 200; ++i) {
      const mosaic::KernelBody body = random_body(random);
      const KernelBodyCost cost = kernel_body_cost(body, device);
      EXPECT_EQ(cost.cores, body.steps % device.cores == 0 ? device.cores : 1);
      const Kernel& kernel = cost.planned.kernel;
      const auto cores = static_cast<double>(cost.cores);
      double steps = 0, in = kernel.first.in[0], out = kernel.last.out[0];
      for (const StepClass& step : kernel.steps) {
        EXPECT_GE(step.count, 0);
        steps += step.count, in += step.count * step.traffic.in[0], out += step.count * step.traffic.out[0];
      }
      EXPECT_NEAR(steps, static_cast<double>(body.steps) / cores, 1e-9);
      EXPECT_NEAR(in, static_cast<double>(cost.read.count()) / cores, 1e-3);
      EXPECT_NEAR(out, static_cast<double>(cost.written.count()) / cores, 1e-3);
    }
  }
}

// First block, last block and the recorded steps are all of the time.
TEST(KernelBodyCost, TermsAddUpToTheTime) {
  std::mt19937 random(8);
  for (const char* name : {"v5e", "v5p"}) {
    const DeviceConfig device = test::device_or_fail(name).config;
    const Core core(device);
    for (int i = 0; i < 200; ++i) {
      const KernelBodyCost cost = kernel_body_cost(random_body(random), device);
      KernelTerms terms;
      const KernelTime time = time_of(cost.planned.kernel, core, terms);
      double sum = time.first_in + time.last_out + cost.planned.kernel.waits;
      for (const KernelTerms::Step& step : terms.steps) sum += step.count * step.together;
      EXPECT_NEAR(sum, static_cast<double>(cost.time.count()), 1.5);
    }
  }
}

// Cores that share a bus can't be faster than it.
TEST(KernelBodyCost, ManyBlocksTakeAsLongAsTheirBytes) {
  const DeviceConfig device =
      test::device_or_fail("v5p", {DeviceOverride{"memory.hbm.bandwidth", "100 GB/s"}}).config;
  mosaic::KernelBody body;
  body.steps = 1000, body.grid = {1000}, body.semantics = {"parallel"};
  body.works.resize(1);
  body.runs = {{.work = 0, .in = 1e6, .out = 0, .count = 1000}};
  const KernelBodyCost cost = kernel_body_cost(body, device);
  const Core core(device);
  const double alone = core.hbm_bus(2).time(1e9, 0);
  EXPECT_NEAR(static_cast<double>(cost.time.count()), alone, 0.01 * alone);
}

}  // namespace
}  // namespace hlosim
