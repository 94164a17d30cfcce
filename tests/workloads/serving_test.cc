// Prefill and decode against each other, optimizers against arithmetic, eight bits against many.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "workloads/step_module.h"
#include "workloads/steps.h"

namespace hlosim {
namespace {

constexpr const char* kServedBase =
    "name: m\nlayers: 2\nd_model: 8\nd_ff: 12\nq_heads: 4\nkv_heads: 2\nvocab: 11\n";

StepOptions serving(StepKind kind) {
  StepOptions options = test::exact_options();
  options.kind = kind;
  options.gradients_only = false;
  return options;
}

size_t input_named(const test::RunningStep& step, const std::string& name) {
  for (size_t i = 0; i < step.inputs(); ++i)
    if (step.name(i) == name) return i;
  ADD_FAILURE() << "no input " << name;
  return 0;
}

/// Token by token through the cache, the logits of the last one are those of the whole prompt, and the cache
/// is the prompt's.
void expect_decode_as_prefill(const std::string& yaml, bool scan) {
  const ModelConfig model = test::model_or_fail(kServedBase + yaml);
  StepOptions prefill = serving(StepKind::kPrefill), decode = serving(StepKind::kDecode);
  prefill.scan_layers = decode.scan_layers = scan;
  test::RunningStep whole(model, prefill), one(model, decode);
  ASSERT_TRUE(whole.ready() && one.ready());
  const std::vector<test::Numbers> prompt = whole.random_inputs(4);
  const std::vector<test::Numbers> want = whole.run(prompt);
  const test::Numbers tokens = prompt[input_named(whole, "tokens")];
  std::vector<test::Numbers> inputs = one.random_inputs(4);
  const size_t at_tokens = input_named(one, "tokens"), at_position = input_named(one, "position");
  std::vector<size_t> caches;
  for (size_t i = 0; i < one.inputs(); ++i)
    if (one.name(i).find("_cache") != std::string::npos) caches.push_back(i);
  for (const size_t i : caches)
    std::fill(inputs[i].begin(), inputs[i].end(), 1e3);  // what wasn't written isn't seen
  std::vector<test::Numbers> got;
  for (int64_t t = 0; t < prefill.sequence; ++t) {
    for (int64_t b = 0; b < prefill.batch; ++b)
      inputs[at_tokens][static_cast<size_t>(b)] = tokens[static_cast<size_t>(b * prefill.sequence + t)];
    inputs[at_position] = {static_cast<double>(t)};
    got = one.run(inputs);
    ASSERT_EQ(got.size(), caches.size() + 1);
    for (size_t i = 0; i < caches.size(); ++i) inputs[caches[i]] = got[i + 1];
  }
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_LT(test::difference(want[i], got[i]), 1e-12) << i;
}

/// Stored as eight bits, the two halves of kv_up that decode absorbs have their scales.
TEST(Serving, AbsorbedWeightsHaveTheirScales) {
  const ModelConfig model = test::model_or_fail(
      "name: m\nlayers: 1\nd_model: 8\nd_ff: 12\nq_heads: 4\nkv_heads: 4\nvocab: 11\n"
      "attention: {latent: {kv_rank: 6, nope_dim: 3, rope_dim: 2, value_dim: 4}}\n");
  StepOptions options = serving(StepKind::kDecode);
  test::RunningStep plain(model, options);
  options.weight_type = ElementType::kS8;
  test::RunningStep stored(model, options);
  ASSERT_TRUE(plain.ready() && stored.ready());
  std::vector<test::Numbers> inputs = stored.random_inputs(6), wide = plain.random_inputs(6);
  for (size_t i = 0; i < plain.inputs(); ++i) {
    const size_t at = input_named(stored, plain.name(i));
    test::Numbers& values = inputs[at];
    if (plain.name(i) == "position") values = {5};
    const bool scaled = at + 1 < stored.inputs() && stored.name(at + 1) == plain.name(i) + "_scale";
    for (size_t k = 0; scaled && k < values.size(); ++k)
      values[k] = static_cast<double>(static_cast<int64_t>(k * 7 % 15) - 7);
    wide[i] = values;
    if (!scaled) continue;
    test::Numbers& scales = inputs[at + 1];
    for (size_t k = 0; k < scales.size(); ++k) scales[k] = k % 3 == 0 ? 0.125 : 0.0625;
    for (size_t k = 0; k < values.size(); ++k) wide[i][k] *= scales[k % scales.size()];
  }
  const std::vector<test::Numbers> want = plain.run(wide), got = stored.run(inputs);
  ASSERT_EQ(want.size(), got.size());
  EXPECT_LT(test::difference(want[0], got[0]), 1e-5);
}

/// A latent and a rotary part a token for all heads, whatever their number is.
TEST(Serving, LatentsAreCachedOnceForAllHeads) {
  const ModelConfig model =
      test::model_or_fail(std::string(kServedBase) +
                          "attention: {latent: {kv_rank: 6, nope_dim: 3, rope_dim: 2, value_dim: 4}}\n");
  const StepOptions options = serving(StepKind::kDecode);
  test::RunningStep decode(model, options);
  ASSERT_TRUE(decode.ready());
  int64_t cached = 0;
  for (size_t i = 0; i < decode.inputs(); ++i)
    if (decode.name(i).find("_cache") != std::string::npos) cached += decode.input(i)->element_count();
  EXPECT_EQ(cached, 2 * options.batch * options.sequence * (6 + 2));
}

TEST(Serving, DecodeComputesWhatPrefillDoes) {
  for (const bool scan : {true, false})
    for (const char* yaml : {"", "attention: {window: 3, pattern: LG, soft_cap: 2, sinks: true}\n",
                             "moe: {experts: 4, top_k: 2, d_ff: 6, first_dense_layers: 1}\n",
                             "position: learned\nattention: {latent: {q_rank: 5, kv_rank: 6, nope_dim: 3, "
                             "rope_dim: 2, value_dim: 4}}\n"})
      expect_decode_as_prefill(yaml, scan);
}

/// Requests of different lengths, token by token through a pool whose pages are in any order: the last
/// logits and what the pages hold are those of the whole prompts.
void expect_pages_as_prefill(const std::string& yaml) {
  const ModelConfig model = test::model_or_fail(kServedBase + yaml);
  StepOptions prefill = serving(StepKind::kPrefill), decode = serving(StepKind::kDecode);
  prefill.scan_layers = decode.scan_layers = false;
  decode.page_size = 2;
  test::RunningStep whole(model, prefill), one(model, decode);
  ASSERT_TRUE(whole.ready() && one.ready());
  const std::vector<test::Numbers> prompt = whole.random_inputs(4), want = whole.run(prompt);
  const test::Numbers tokens = prompt[input_named(whole, "tokens")];
  const test::Numbers pages{5, 0, 7, 2, 3, 6, 1, 4};  // four of each request
  std::vector<test::Numbers> inputs = one.random_inputs(4), got;
  inputs[input_named(one, "page_table")] = pages;
  std::vector<size_t> caches;
  for (size_t i = 0; i < one.inputs(); ++i)
    if (one.name(i).find("_cache") != std::string::npos) caches.push_back(i);
  for (const size_t i : caches) std::fill(inputs[i].begin(), inputs[i].end(), 1e3);
  const int64_t length = prefill.sequence, late = 3;  // steps that the second request begins later
  for (int64_t step = 0; step < length + late; ++step) {
    test::Numbers positions;
    for (int64_t b = 0; b < prefill.batch; ++b) {
      const int64_t at = std::clamp<int64_t>(step - b * late, 0, length - 1);
      positions.push_back(static_cast<double>(at));
      inputs[input_named(one, "tokens")][static_cast<size_t>(b)] =
          tokens[static_cast<size_t>(b * length + at)];
    }
    inputs[input_named(one, "position")] = positions;
    got = one.run(inputs);
    ASSERT_EQ(got.size(), caches.size() + 1);
    for (size_t i = 0; i < caches.size(); ++i) inputs[caches[i]] = got[i + 1];
  }
  ASSERT_EQ(want.size(), got.size());
  EXPECT_LT(test::difference(want[0], got[0]), 1e-12);
  for (size_t i = 1; i < want.size(); ++i) {
    ASSERT_EQ(want[i].size(), got[i].size());
    const size_t row = want[i].size() / static_cast<size_t>(prefill.batch * length);
    test::Numbers found;
    for (size_t token = 0; token < static_cast<size_t>(prefill.batch * length); ++token) {
      const size_t slot = static_cast<size_t>(pages[token / 2]) * 2 + token % 2;
      const auto first = got[i].begin() + static_cast<ptrdiff_t>(slot * row);
      found.insert(found.end(), first, first + static_cast<ptrdiff_t>(row));
    }
    EXPECT_LT(test::difference(want[i], found), 1e-12) << i;
  }
}

TEST(Serving, PagesHoldWhatPrefillWrites) {
  for (const char* yaml : {"", "attention: {window: 3, pattern: LG, soft_cap: 2, sinks: true}\n",
                           "moe: {experts: 4, top_k: 2, d_ff: 6, first_dense_layers: 1}\n",
                           "position: learned\nattention: {latent: {q_rank: 5, kv_rank: 6, nope_dim: 3, "
                           "rope_dim: 2, value_dim: 4}}\n"})
    expect_pages_as_prefill(yaml);
}

TEST(Serving, PagesNeedAWholeNumberOfThem) {
  const ModelConfig model = test::model_or_fail(kServedBase);
  StepOptions options = serving(StepKind::kDecode);
  const auto fault = [&](int64_t size, StepKind kind, bool loops) {
    options.page_size = size, options.kind = kind, options.scan_layers = loops;
    return step_fault(model, options);
  };
  EXPECT_EQ(fault(4, StepKind::kDecode, false), "");
  EXPECT_EQ(fault(3, StepKind::kDecode, false), "a cache of 8 tokens is not a whole number of pages of 3");
  EXPECT_EQ(fault(4, StepKind::kPrefill, false), "only decode has caches of pages");
  EXPECT_EQ(fault(4, StepKind::kDecode, true), "caches of pages need unrolled layers");
  options.mesh.axes = {{"data", 2}};
  EXPECT_EQ(fault(4, StepKind::kDecode, false),
            "all requests share one pool of pages: no axis of the mesh may shard the batch");
}

/// The most likely token is where the logits are largest.
TEST(Serving, GreedySamplingIsTheArgmax) {
  const ModelConfig model = test::model_or_fail(kServedBase);
  StepOptions options = serving(StepKind::kPrefill);
  test::RunningStep logits(model, options);
  options.sampling = Sampling::kGreedy;
  test::RunningStep greedy(model, options);
  ASSERT_TRUE(logits.ready() && greedy.ready());
  const std::vector<test::Numbers> inputs = logits.random_inputs(5);
  const test::Numbers all = logits.run(inputs)[0], tokens = greedy.run(inputs)[0];
  ASSERT_EQ(all.size(), tokens.size() * 11);
  for (size_t b = 0; b < tokens.size(); ++b) {
    const auto first = all.begin() + static_cast<ptrdiff_t>(11 * b);
    EXPECT_EQ(static_cast<ptrdiff_t>(tokens[b]), std::max_element(first, first + 11) - first);
  }
}

/// With top-k 1, or with top-p 0, the token drawn is the most likely one; without limits it is the argmax of
/// logits and noise, which differs from one state of the generator to the next; every draw is one of the k.
TEST(Serving, SamplingKeepsToItsLimits) {
  const ModelConfig model = test::model_or_fail(kServedBase);
  StepOptions options = serving(StepKind::kPrefill);
  options.batch = 8;
  test::RunningStep logits(model, options);
  options.sampling = Sampling::kRandom;
  test::RunningStep random(model, options);
  ASSERT_TRUE(logits.ready() && random.ready());
  std::vector<test::Numbers> inputs = logits.random_inputs(5), limits = random.random_inputs(5);
  const test::Numbers all = logits.run(inputs)[0];
  const auto rank = [&](size_t row, double token) {  // of a token in its row, from 0
    const auto first = all.begin() + static_cast<ptrdiff_t>(11 * row);
    const double own = *(first + static_cast<ptrdiff_t>(token));
    return std::count_if(first, first + 11, [&](double other) { return other > own; });
  };
  const auto draw = [&](double top_k, double top_p, double state) {
    limits[input_named(random, "temperature")] = test::Numbers(8, 0.7);
    limits[input_named(random, "top_k")] = test::Numbers(8, top_k);
    limits[input_named(random, "top_p")] = test::Numbers(8, top_p);
    limits[input_named(random, "rng_state")] = {state, 7};
    return random.run(limits)[0];
  };
  std::set<test::Numbers> different;
  for (double state = 0; state < 20; ++state) {
    const test::Numbers best = draw(1, 1, state), likely = draw(11, 0, state), three = draw(3, 1, state);
    different.insert(draw(11, 1, state));
    for (size_t row = 0; row < 8; ++row) {
      EXPECT_EQ(rank(row, best[row]), 0);
      EXPECT_EQ(rank(row, likely[row]), 0);
      EXPECT_LT(rank(row, three[row]), 3);
    }
  }
  EXPECT_GT(different.size(), 10u);
}

/// A token is drawn only if those that are more likely have less than top-p together.
TEST(Serving, TopPKeepsTheFewestTokens) {
  const ModelConfig model = test::model_or_fail(kServedBase);
  StepOptions options = serving(StepKind::kPrefill);
  options.batch = 4, options.sampling = Sampling::kRandom;
  test::RunningStep random(model, options);
  options.sampling = Sampling::kLogits;
  test::RunningStep logits(model, options);
  ASSERT_TRUE(random.ready() && logits.ready());
  std::vector<test::Numbers> inputs = random.random_inputs(9);
  const test::Numbers all = logits.run(logits.random_inputs(9))[0];
  inputs[input_named(random, "temperature")] = test::Numbers(4, 0.25);
  inputs[input_named(random, "top_k")] = test::Numbers(4, 11);
  for (const double top_p : {0.3, 0.6, 0.9}) {
    inputs[input_named(random, "top_p")] = test::Numbers(4, top_p);
    for (double state = 0; state < 30; ++state) {
      inputs[input_named(random, "rng_state")] = {state, 1};
      const test::Numbers tokens = random.run(inputs)[0];
      for (size_t row = 0; row < 4; ++row) {
        // What is more likely than the token drawn has less than top_p.
        double sum = 0, above = 0;
        for (size_t i = 0; i < 11; ++i) {
          const double share = std::exp(4 * all[11 * row + i]);
          sum += share;
          if (all[11 * row + i] > all[11 * row + static_cast<size_t>(tokens[row])]) above += share;
        }
        EXPECT_LT(above / sum, top_p + 1e-6);
      }
    }
  }
}

/// Stored weights and their scales compute what weights of their products do.
TEST(Serving, StoredWeightsAreThemselvesTimesScales) {
  for (const char* yaml : {"", "moe: {experts: 4, top_k: 2, d_ff: 6}\n"})
    for (const ElementType type : {ElementType::kS8, ElementType::kF8E4M3FN}) {
      const ModelConfig model = test::model_or_fail(std::string(kServedBase) + yaml);
      StepOptions options = serving(StepKind::kPrefill);
      test::RunningStep plain(model, options);
      options.weight_type = type;
      test::RunningStep stored(model, options);
      ASSERT_TRUE(plain.ready() && stored.ready());
      std::vector<test::Numbers> inputs = stored.random_inputs(6), wide = plain.random_inputs(6);
      for (size_t i = 0; i < plain.inputs(); ++i) {
        const size_t at = input_named(stored, plain.name(i));
        test::Numbers& values = inputs[at];
        const bool scaled = at + 1 < stored.inputs() && stored.name(at + 1) == plain.name(i) + "_scale";
        for (size_t k = 0; scaled && k < values.size(); ++k)
          values[k] = static_cast<double>(static_cast<int64_t>(k * 7 % 15) - 7);
        wide[i] = values;
        if (!scaled) continue;
        // Powers of two are exact in every type. Of experts [.., in, out] each has its own scales [.., out].
        test::Numbers& scales = inputs[at + 1];
        const bool is_of_experts = plain.name(i).find("moe.") != std::string::npos;
        const bool is_last = plain.name(i).find("wo") != std::string::npos;
        const auto out = static_cast<size_t>(is_last ? model.d_model : model.moe ? model.moe->d_ff : 1);
        const size_t in = values.size() / scales.size();
        for (size_t k = 0; k < scales.size(); ++k) scales[k] = is_of_experts && k % 5 == 0 ? 0.125 : 0.0625;
        for (size_t k = 0; k < values.size(); ++k)
          wide[i][k] *= is_of_experts ? scales[k / (in * out) * out + k % out] : 0.0625;
      }
      const std::vector<test::Numbers> want = plain.run(wide), got = stored.run(inputs);
      ASSERT_EQ(want.size(), got.size());
      EXPECT_LT(test::difference(want[0], got[0]), 1e-5);
    }
}

/// Weights whose blocks of inputs have scales of their own compute what weights times these do, latent ones
/// that decode absorbs included.
TEST(Serving, BlocksOfWeightsHaveTheirScales) {
  constexpr int64_t kBlock = 2;
  const std::string latent =
      "name: m\nlayers: 2\nd_model: 8\nd_ff: 12\nq_heads: 4\nkv_heads: 4\nvocab: 11\n"
      "attention: {latent: {kv_rank: 6, nope_dim: 4, rope_dim: 2, value_dim: 4}}\n";
  for (const auto& [yaml, kind] : {std::pair{std::string(kServedBase), StepKind::kPrefill},
                                   {std::string(kServedBase), StepKind::kDecode},
                                   {latent, StepKind::kDecode}}) {
    const ModelConfig model = test::model_or_fail(yaml);
    StepOptions options = serving(kind);
    options.scan_layers = false;
    test::RunningStep plain(model, options);
    options.weight_type = ElementType::kS8, options.weight_block = kBlock;
    test::RunningStep stored(model, options);
    ASSERT_TRUE(plain.ready() && stored.ready());
    std::vector<test::Numbers> inputs = stored.random_inputs(6), wide = plain.random_inputs(6);
    std::map<std::string, ParameterSpec> specs;
    for (const ParameterSpec& spec : layer_parameters(model, 0)) specs.emplace(spec.name, spec);
    size_t scaled = 0;
    for (size_t i = 0; i < plain.inputs(); ++i) {
      const size_t at = input_named(stored, plain.name(i));
      test::Numbers& values = inputs[at];
      if (plain.name(i) == "position") values = {5};
      wide[i] = values;
      size_t of_scales = 0;
      while (of_scales < stored.inputs() && stored.name(of_scales) != plain.name(i) + "_scale") ++of_scales;
      if (of_scales == stored.inputs()) continue;
      const ParameterSpec& spec = specs.at(plain.name(i).substr(std::string("layers.0.").size()));
      const size_t blocked = blocked_dimension(spec);
      const auto rows = static_cast<size_t>(spec.dims[blocked]);
      size_t inner = 1;
      for (size_t d = blocked + 1; d < spec.dims.size(); ++d) inner *= static_cast<size_t>(spec.dims[d]);
      test::Numbers& scales = inputs[of_scales];
      ASSERT_EQ(scales.size() * kBlock, values.size()) << plain.name(i);
      for (size_t k = 0; k < scales.size(); ++k) scales[k] = k % 3 == 0 ? 0.125 : 0.0625;
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<double>(static_cast<int64_t>(k * 7 % 15) - 7);
        const size_t outer = k / (rows * inner), row = k / inner % rows, column = k % inner;
        wide[i][k] = values[k] * scales[(outer * rows + row) / kBlock * inner + column];
      }
      ++scaled;
    }
    EXPECT_GT(scaled, 5u);
    const std::vector<test::Numbers> want = plain.run(wide), got = stored.run(inputs);
    ASSERT_EQ(want.size(), got.size());
    EXPECT_LT(test::difference(want[0], got[0]), 1e-5) << yaml;
  }
}

/// The first step of Adam with decay: the moments' corrections cancel, so that the change is the gradient's
/// sign.
TEST(Optimizer, FirstStepByHand) {
  const ModelConfig model = test::model_or_fail(kServedBase);
  for (const double clip : {0.0, 0.01}) {
    StepOptions options = test::exact_options();
    test::RunningStep gradients(model, options);
    options.gradients_only = false;
    options.optimizer.mu_type = options.optimizer.nu_type = ElementType::kF64;
    options.optimizer.clip_norm = clip;
    test::RunningStep step(model, options);
    std::vector<test::Numbers> inputs = step.random_inputs(4);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (step.name(i).rfind("mu.", 0) == 0 || step.name(i).rfind("nu.", 0) == 0 || step.name(i) == "step")
        std::fill(inputs[i].begin(), inputs[i].end(), 0.0);
    const std::vector<test::Numbers> slopes = gradients.run(gradients.random_inputs(4));
    const std::vector<test::Numbers> made = step.run(inputs);
    const size_t count = slopes.size() - 1;
    ASSERT_EQ(made.size(), 3 * count + 2);
    double norm = 0;
    for (size_t i = 1; i < slopes.size(); ++i)
      for (const double slope : slopes[i]) norm += slope * slope;
    const double factor = clip > 0 ? std::min(1.0, clip / std::sqrt(norm)) : 1;
    const OptimizerOptions& adam = options.optimizer;
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < made[i].size(); ++k) {
        const double g = slopes[i + 1][k] * factor, p = inputs[i][k];
        const double change = g / (std::abs(g) + adam.epsilon) + adam.weight_decay * p;
        EXPECT_NEAR(made[i][k], p - adam.learning_rate * change, 1e-10);
        EXPECT_NEAR(made[count + i][k], (1 - adam.beta1) * g, 1e-12);
        EXPECT_NEAR(made[2 * count + i][k], (1 - adam.beta2) * g * g, 1e-12);
      }
    EXPECT_EQ(made[3 * count][0], 1);
    EXPECT_NEAR(made[3 * count + 1][0], slopes[0][0], 1e-12);
  }
}

/// Coarser numbers, the same direction.
TEST(Quantization, GradientsPointTheSameWay) {
  for (const char* yaml : {"", "moe: {experts: 4, top_k: 2, d_ff: 6, random_routing: true}\n"})
    for (const Quantization quantization : {Quantization::kInt8, Quantization::kFp8}) {
      const ModelConfig model = test::model_or_fail(std::string(kServedBase) + yaml);
      StepOptions options = test::exact_options();
      test::RunningStep plain(model, options);
      options.quantization = quantization;
      if (model.moe && quantization == Quantization::kInt8) {
        EXPECT_FALSE(make_step(model, options));
        continue;
      }
      test::RunningStep coarse(model, options);
      ASSERT_TRUE(plain.ready() && coarse.ready());
      const std::vector<test::Numbers> a = plain.run(plain.random_inputs(4)),
                                       b = coarse.run(plain.random_inputs(4));
      double product = 0, size_a = 0, size_b = 0;
      for (size_t i = 1; i < a.size(); ++i)
        for (size_t k = 0; k < a[i].size(); ++k)
          product += a[i][k] * b[i][k], size_a += a[i][k] * a[i][k], size_b += b[i][k] * b[i][k];
      EXPECT_NEAR(a[0][0], b[0][0], 0.05 * a[0][0]);
      EXPECT_GT(product / std::sqrt(size_a * size_b), quantization == Quantization::kInt8 ? 0.99 : 0.9);
      EXPECT_LT(product / std::sqrt(size_a * size_b), 1 - 1e-9) << "nothing is rounded";
    }
}

}  // namespace
}  // namespace hlosim
