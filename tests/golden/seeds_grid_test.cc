// Modules for several devices, on all of them, against computations of our own in double precision over the
// arrays of all devices together: ours, and documents that hlosim was born from where they lie beside the
// sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>

#include "array/arguments.h"
#include "evaluate/devices/joint.h"
#include "exec/program.h"
#include "golden/seed_values.h"
#include "ops/op_table.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

using test::doubles;
using test::text_of;
using Doubles = std::vector<double>;

// Outputs as doubles, by device and leaf. `argument(device, leaf, shape, pool, made)` makes the inputs;
// `made` are those of the devices so far.
using Made = std::vector<std::vector<Array>>;
using Argument =
    std::function<Array(int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made& made)>;
std::vector<std::vector<Doubles>> run_on_grid(const std::string& text, const DeviceGrid& grid,
                                              const Argument& argument) {
  Module module = test::module_or_fail(text);
  MemoryPool pool;
  DiagnosticList problems;
  ProgramOptions options;
  if (grid.devices() > 1) options.grid = grid;
  const auto program = Program::make(module, op_table(), pool, options, problems);
  HLOSIM_CHECK(program, "{}", render(problems.items().at(0)));
  LockstepRun run(grid, lone_rank());
  std::vector<DeviceState> devices;
  std::vector<std::vector<Array>> inputs;
  for (int64_t id = 0; id < grid.devices(); ++id) {
    DeviceState& device = devices.emplace_back(pool);
    device.id = id;
    device.replica_id = id / grid.partitions;
    device.partition_id = id % grid.partitions;
    std::vector<Array> arguments;
    for (const ShapeRef leaf : program->parameters())
      arguments.push_back(argument(id, arguments.size(), leaf, pool, inputs));
    inputs.push_back(std::move(arguments));
  }
  const auto outputs = program->run_jointly(run, devices, std::move(inputs));
  HLOSIM_CHECK(outputs, "{}", render(outputs.error()));
  std::vector<std::vector<Doubles>> values;
  for (const auto& leaves : *outputs) {
    values.emplace_back();
    for (const Array& leaf : leaves) values.back().push_back(doubles(leaf));
  }
  return values;
}

// a [m,k] · b [k,n], either transposed where asked.
Doubles product(const Doubles& a, const Doubles& b, int64_t m, int64_t k, int64_t n, bool transpose_a = false,
                bool transpose_b = false) {
  Doubles result(static_cast<size_t>(m * n), 0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        result[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(transpose_a ? p * m + i : i * k + p)] *
            b[static_cast<size_t>(transpose_b ? j * k + p : p * n + j)];
  return result;
}

// A linear model on four replicas: the weights go down the gradient over the examples of all.
TEST(ModulesOnGrids, FourReplicasOfAStep) {
  constexpr int64_t kRows = 16, kIn = 32, kOut = 8;
  Doubles weights;
  Doubles examples[4], wanted[4];
  const auto outputs = run_on_grid(
      test::own_module("replicas_step"), {4, 1},
      [&](int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made&) {
        Array array = random_array(shape, leaf == 0 ? 9 : static_cast<uint64_t>(device), leaf, pool);
        (leaf == 0 ? weights : leaf == 1 ? examples[device] : wanted[device]) = doubles(array);
        return array;
      });
  Doubles updated = weights;
  double loss = 0;
  for (size_t device = 0; device < 4; ++device) {
    Doubles error = product(examples[device], weights, kRows, kIn, kOut);
    for (size_t i = 0; i < error.size(); ++i) error[i] -= wanted[device][i];
    for (const double one : error) loss += one * one;
    const Doubles gradient = product(examples[device], error, kIn, kRows, kOut, true);
    for (size_t i = 0; i < gradient.size(); ++i) updated[i] -= gradient[i] / 128;
  }
  ASSERT_EQ(outputs.size(), 4u);
  for (const auto& leaves : outputs) {
    EXPECT_EQ(leaves, outputs[0]);
    for (size_t i = 0; i < updated.size(); ++i) ASSERT_NEAR(leaves[0][i], updated[i], 1e-5) << i;
    EXPECT_NEAR(leaves[1][0], loss, 1e-5 * loss);
  }
}

// The same with a quarter of the examples and of the weights on each partition, and factors of their own.
TEST(ModulesOnGrids, FourPartitionsOfAStep) {
  constexpr int64_t kRows = 8, kIn = 16, kOut = 8, kOwn = 4;
  constexpr double kScales[] = {1, 0.5, 0.25, 2};
  Doubles weights;
  Doubles examples[4];
  const auto outputs =
      run_on_grid(test::own_module("partitions_step"), {1, 4},
                  [&](int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made&) {
                    Array array = random_array(shape, static_cast<uint64_t>(device), leaf, pool);
                    const Doubles values = doubles(array);
                    if (leaf == 0) weights.insert(weights.end(), values.begin(), values.end());
                    if (leaf == 1) examples[device] = values;
                    return array;
                  });
  Doubles updated = weights;
  double loss = 0;
  for (size_t device = 0; device < 4; ++device) {
    Doubles given = product(examples[device], weights, kRows, kIn, kOut);
    for (double& one : given) {
      loss += one * one;
      one *= kScales[device];
    }
    const Doubles gradient = product(examples[device], given, kIn, kRows, kOut, true);
    for (size_t i = 0; i < gradient.size(); ++i) updated[i] -= gradient[i] / 16;
  }
  ASSERT_EQ(outputs.size(), 4u);
  for (size_t device = 0; device < 4; ++device) {
    for (size_t i = 0; i < kOwn * kOut; ++i)
      ASSERT_NEAR(outputs[device][0][i], updated[device * kOwn * kOut + i], 1e-5) << device << " " << i;
    EXPECT_NEAR(outputs[device][1][0], loss, 1e-5 * loss);
  }
}

// Blocks that went all around a ring: each partition has the sum over all.
TEST(ModulesOnGrids, FourPartitionsOfALoop) {
  constexpr int64_t kRows = 64, kColumns = 128, kOwn = 16;
  Doubles weights, sums(static_cast<size_t>(kRows * kColumns), 0);
  const auto outputs =
      run_on_grid(test::own_module("pipeline_loop"), {1, 4},
                  [&](int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made&) {
                    Array array = random_array(shape, static_cast<uint64_t>(device), leaf, pool);
                    const Doubles values = doubles(array);
                    if (leaf == 1) weights.insert(weights.end(), values.begin(), values.end());
                    if (leaf == 0)
                      for (size_t i = 0; i < values.size(); ++i) sums[i] += std::tanh(values[i]);
                    return array;
                  });
  const Doubles whole = product(sums, weights, kRows, kColumns, kColumns);
  ASSERT_EQ(outputs.size(), 4u);
  for (size_t device = 0; device < 4; ++device) {
    for (size_t i = 0; i < kOwn * kColumns; ++i) {
      const double own = 4 * whole[device * kOwn * kColumns + i];  // each of four adds the same
      const double expected = device % 2 == 1 ? own * own : own;
      ASSERT_NEAR(outputs[device][0][i], expected, 1e-3 * (1 + std::abs(expected))) << device << " " << i;
    }
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_NEAR(outputs[device][1][i], std::exp(sums[i]), 1e-4 * std::exp(sums[i]));
  }
}

class SeedsOnGrids : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::seeds_folder())) GTEST_SKIP() << "no " << test::seeds_folder();
  }
};

// Two layers and their gradients over a batch that four partitions share.
TEST_F(SeedsOnGrids, FourPartitionsOfATrainingStep) {
  constexpr int64_t kBatch = 256, kIn = 32, kHidden = 16;
  Doubles parameters[5];  // of all partitions together
  const auto outputs = run_on_grid(
      text_of(test::seeds_folder() / "004_8d2741cff48cd2ab.txt"), {1, 4},
      [&](int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made&) {
        const bool is_split = leaf >= 3;
        Array array = random_array(shape, is_split ? static_cast<uint64_t>(device) : 9, leaf, pool);
        const Doubles values = doubles(array);
        if (is_split || device == 0)
          parameters[leaf].insert(parameters[leaf].end(), values.begin(), values.end());
        return array;
      });
  const auto& [step, first, second, input, target] = parameters;
  const Doubles wide = product(input, first, kBatch, kIn, kIn);
  Doubles hidden;
  for (int64_t row = 0; row < kBatch; ++row)
    hidden.insert(hidden.end(), wide.begin() + row * kIn, wide.begin() + row * kIn + kHidden);
  Doubles error = product(hidden, second, kBatch, kHidden, kHidden);
  for (size_t i = 0; i < error.size(); ++i) error[i] = (error[i] - target[i]) * 0.00048828125;
  const Doubles back = product(error, second, kBatch, kHidden, kHidden, false, true);
  Doubles back_wide(static_cast<size_t>(kBatch * kIn), 0);
  for (int64_t row = 0; row < kBatch; ++row)
    std::copy_n(back.begin() + row * kHidden, kHidden, back_wide.begin() + row * kIn);
  const Doubles gradient = product(input, back_wide, kIn, kBatch, kIn, true);
  const Doubles second_gradient = product(hidden, error, kHidden, kBatch, kHidden, true);
  ASSERT_EQ(outputs.size(), 4u);
  for (const auto& leaves : outputs) {
    EXPECT_EQ(leaves, outputs[0]);
    EXPECT_EQ(leaves[0][0], step[0] + 1);
    for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(leaves[1][i], first[i] - 0.01 * gradient[i], 2e-6);
    for (size_t i = 0; i < second.size(); ++i)
      EXPECT_NEAR(leaves[2][i], second[i] - 0.01 * second_gradient[i], 2e-6);
  }
}

// Each replica's gradient alone, in f64, and their sum by hand.
TEST_F(SeedsOnGrids, EightReplicasOfAnUpdate) {
  const std::string text = text_of(test::seeds_folder() / "002_31f0e50696cb742c.txt");
  const std::string all = "replica_groups={{0,1,2,3,4,5,6,7}}";
  ASSERT_NE(text.find(all), std::string::npos);
  const std::string alone =
      std::regex_replace(std::regex_replace(text, std::regex(R"(\bf32\b)"), "f64"),
                         std::regex(R"(replica_groups=\{\{0,1,2,3,4,5,6,7\}\})"), "replica_groups={{0}}");
  // The last inputs are the replica's own examples; all share the weights.
  Module module = test::module_or_fail(text);
  const size_t parameters = module.entry_computation().parameters.size();
  const auto argument = [&](int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made&) {
    const bool is_own = leaf + 2 >= parameters;
    const Array single = random_array(module.shapes().with_element_type(shape, ElementType::kF32),
                                      is_own ? static_cast<uint64_t>(device) : 9, leaf, pool);
    if (shape->element_type == ElementType::kF32) return Array{shape, single.data, {}};
    Array array = make_array(pool, shape);
    std::copy_n(single.as<float>(), single.count(), array.as<double>());
    return array;
  };
  const auto outputs = run_on_grid(text, {8, 1}, argument);
  std::vector<std::vector<Doubles>> own;
  for (int64_t device = 0; device < 8; ++device)
    own.push_back(run_on_grid(alone, {1, 1},
                              [&](int64_t, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made& made) {
                                return argument(device, leaf, shape, pool, made);
                              })[0]);
  // One replica gives w - 0.001 g, eight give w - 0.001 (g0 + … + g7). Output i updates parameter i.
  MemoryPool pool;
  for (size_t leaf = 0; leaf < own[0].size(); ++leaf) {
    for (const auto& leaves : outputs) ASSERT_EQ(leaves[leaf], outputs[0][leaf]);
    const ShapeRef shape = module[module.entry_computation().parameters[leaf]].shape;
    const Doubles weights = doubles(argument(0, leaf, shape, pool, {}));
    ASSERT_EQ(weights.size(), own[0][leaf].size());
    for (size_t i = 0; i < weights.size(); ++i) {
      double expected = weights[i];
      for (const auto& one : own) expected += one[leaf][i] - weights[i];
      ASSERT_NEAR(outputs[0][leaf][i], expected, 1e-5) << "output " << leaf << " at " << i;
    }
  }
}

// Some elements of what four replicas with inputs of their own sum up.
TEST_F(SeedsOnGrids, FourReplicasOfAFeedForwardLayer) {
  constexpr int64_t kModel = 4096, kHidden = 3584;
  Doubles inputs[4], weights[5];
  const auto outputs =
      run_on_grid(text_of(test::seeds_folder() / "003_54e5854892ee064a.txt"), {4, 1},
                  [&](int64_t device, size_t leaf, ShapeRef shape, MemoryPool& pool, const Made& made) {
                    const bool is_own = leaf == 3;
                    if (!is_own && device > 0) return made[0][leaf];
                    const Array array = random_array(shape, static_cast<uint64_t>(device), leaf, pool);
                    (is_own ? inputs[device] : weights[leaf]) = doubles(array);
                    return array;
                  });
  for (const int64_t row : {0, 1023}) {
    Doubles sums(3, 0);
    const int64_t columns[] = {0, 2000, 4095};
    for (const Doubles& input : inputs) {
      Doubles hidden;
      for (int64_t h = 0; h < kHidden; ++h) {
        double gate = 0, up = 0;
        for (int64_t i = 0; i < kModel; ++i) {
          gate +=
              input[static_cast<size_t>(row * kModel + i)] * weights[2][static_cast<size_t>(h * kModel + i)];
          up +=
              input[static_cast<size_t>(row * kModel + i)] * weights[4][static_cast<size_t>(h * kModel + i)];
        }
        hidden.push_back(gate * up / (1 + std::exp(-gate * up)));
      }
      for (size_t c = 0; c < 3; ++c)
        for (int64_t h = 0; h < kHidden; ++h)
          sums[c] +=
              hidden[static_cast<size_t>(h)] * weights[1][static_cast<size_t>(columns[c] * kHidden + h)];
    }
    for (const auto& leaves : outputs)
      for (size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(leaves[0][static_cast<size_t>(row * kModel + columns[c])], sums[c],
                    1e-4 * std::abs(sums[c]) + 0.1);
  }
}

}  // namespace
}  // namespace hlosim
