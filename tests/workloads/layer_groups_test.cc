// Which layers are a loop, however a pattern of windows and experts is spelled.
#include <gtest/gtest.h>

#include "workloads/parameters.h"

namespace hlosim {
namespace {

ModelConfig windows(int64_t layers, const std::string& pattern) {
  ModelConfig model;
  model.layers = layers;
  model.attention.pattern = pattern;
  model.attention.window = 4;
  return model;
}

ModelConfig experts(int64_t layers, int64_t first_dense, int64_t every, const std::string& pattern = "") {
  ModelConfig model = windows(layers, pattern);
  model.moe = MoeConfig();
  model.moe->first_dense_layers = first_dense, model.moe->every = every;
  return model;
}

std::string groups(const ModelConfig& model) {
  std::string text;
  for (const LayerGroup& group : layer_groups(model))
    text += fmt::format("{}{}:{}x{}", text.empty() ? "" : " ", group.first, group.period, group.repeats);
  return text;
}

std::string repeated(const std::string& pattern, int64_t times) {
  std::string text;
  for (int64_t i = 0; i < times; ++i) text += pattern;
  return text;
}

TEST(LayerGroups, AreOfThePeriodThatAPatternHas) {
  EXPECT_EQ(groups(windows(32, "")), "0:1x32");
  EXPECT_EQ(groups(windows(48, "LLLLLG")), "0:6x8");
  EXPECT_EQ(groups(windows(48, repeated("LLLLLG", 8))), "0:6x8");
  EXPECT_EQ(groups(windows(62, repeated("LLLLLG", 11))), "0:6x10 60:1x2");
  EXPECT_EQ(groups(windows(36, repeated("LG", 18))), "0:2x18");
  EXPECT_EQ(groups(windows(40, repeated("G", 40))), "0:1x40");
  EXPECT_EQ(groups(windows(2, "LG")), "0:2x1");
  EXPECT_EQ(groups(experts(61, 3, 1)), "0:1x3 3:1x58");
  EXPECT_EQ(groups(experts(48, 0, 2, "LLLG")), "0:4x12");
  EXPECT_EQ(groups(experts(48, 0, 2, repeated("LLLG", 12))), "0:4x12");
}

TEST(LayerGroups, WithoutAPeriodAreRunsOfLayersThatAreAlike) {
  EXPECT_EQ(groups(windows(32, "G" + repeated("L", 14) + "G" + repeated("L", 15) + "G")),
            "0:1x1 1:1x14 15:1x1 16:1x15 31:1x1");
  EXPECT_EQ(groups(windows(10, "LLLGLLGLLG")), "0:1x1 1:3x3");  // a run that a period begins in
}

/// Whatever the pattern: each layer once, in order, and all turns of a group alike. Nothing smaller does: all
/// ways to cut a few layers are tried.
class Cuts {
 public:
  explicit Cuts(const ModelConfig& model) : model_(model) {}

  bool alike(int64_t a, int64_t b) const {
    return model_.is_global(a) == model_.is_global(b) && model_.is_sparse(a) == model_.is_sparse(b);
  }
  bool sound(const LayerGroup& group) const {
    for (int64_t i = group.first; i + group.period < group.first + group.period * group.repeats; ++i)
      if (!alike(i, i + group.period)) return false;
    return true;
  }
  int64_t least(int64_t first) const {
    if (first == model_.layers) return 0;
    int64_t best = 1 << 20;
    for (int64_t period = 1; first + period <= model_.layers; ++period)
      for (int64_t repeats = 1; first + period * repeats <= model_.layers; ++repeats)
        if (sound({first, period, repeats}))
          best = std::min(best, period + 1 + least(first + period * repeats));
    return best;
  }

 private:
  const ModelConfig& model_;
};

TEST(LayerGroups, AreTheFewestLayersToWrite) {
  for (int64_t layers = 1; layers <= 8; ++layers)
    for (int64_t bits = 0; bits < 1 << layers; ++bits)
      for (const auto& [dense, every] : {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {0, 2}, {1, 3}}) {
        std::string pattern;
        for (int64_t i = 0; i < layers; ++i) pattern += (bits >> i) % 2 ? 'G' : 'L';
        const ModelConfig model = experts(layers, dense, every, pattern);
        const Cuts cuts(model);
        int64_t next = 0, cost = 0;
        for (const LayerGroup& group : layer_groups(model)) {
          ASSERT_EQ(group.first, next) << pattern;
          ASSERT_TRUE(cuts.sound(group)) << pattern << ": " << groups(model);
          next += group.period * group.repeats, cost += group.period + 1;
        }
        ASSERT_EQ(next, layers) << pattern;
        ASSERT_EQ(cost, cuts.least(0)) << pattern << ": " << groups(model);
      }
}

}  // namespace
}  // namespace hlosim
