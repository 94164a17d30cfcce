// `hlosim model … | hlosim report` gives a published run of a whole model the time that `accuracy` predicts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run.h"
#include "published/predict_run.h"
#include "study/measured_cases.h"
#include "support/folders.h"
#include "workloads/maxtext_settings.h"
#include "workloads/model_text.h"

namespace hlosim {
namespace {

using Words = std::vector<std::string>;

Words attention_options(const StepOptions& step) {
  const AttentionTiles& tiles = step.tiles;
  Words words = {step.attention == AttentionKernel::kPlain   ? "--attention=plain"
                 : step.attention == AttentionKernel::kFlash ? "--attention=flash"
                 : tiles.tokamax                             ? "--attention=tokamax"
                                                             : "--attention=splash"};
  for (const auto& [name, size] : {std::pair("block_q", tiles.q),
                                   {"block_kv", tiles.kv},
                                   {"block_kv_compute", tiles.kv_compute},
                                   {"block_q_dkv", tiles.q_dkv},
                                   {"block_kv_dkv", tiles.kv_dkv},
                                   {"block_kv_dkv_compute", tiles.kv_dkv_compute},
                                   {"block_q_dq", tiles.q_dq},
                                   {"block_kv_dq", tiles.kv_dq},
                                   {"dq_parts", tiles.dq_parts},
                                   {"q_layout", tiles.q_sequence_minor ? 2 : 0},
                                   {"k_layout", tiles.k_sequence_minor ? 2 : 0},
                                   {"v_layout", tiles.v_sequence_minor ? 2 : 0}})
    if (size > 0) words.push_back(fmt::format("--blocks={}={}", name, size));
  for (const TiledProduct& one : tiled_products())
    if (const GroupedTile& tile = step.expert_tiles.*one.tiles.*one.tile; tile.rows > 0)
      words.push_back(fmt::format("--expert-tiles={}_{}={}x{}x{}", one.matrix, one.pass, tile.rows,
                                  tile.depth, tile.columns));
  if (step.expert_tiles.in.forward.one_core) words.push_back("--expert-kernel=tokamax");
  if (!tiles.fused_backward) words.push_back("--split-backward");
  if (tiles.known_maximum) words.push_back("--logit-bound");
  if (!step.manual_attention) words.push_back("--automatic");
  return words;
}

std::string_view quantization_word(Quantization quantization) {
  return quantization == Quantization::kInt8 ? "int8" : quantization == Quantization::kFp8 ? "fp8" : "none";
}

/// The options of `hlosim model`; the model file is standard input.
Words model_line(const PublishedRun& run) {
  const StepOptions& step = run.options;
  Words words = {"model", "-"};
  if (!run.ici.axes.empty()) words.push_back("--mesh=" + to_text(run.ici));
  if (!run.dcn.axes.empty()) words.push_back("--dcn-mesh=" + to_text(run.dcn));
  const auto add = [&](std::string_view option, const auto& value) {
    words.push_back(fmt::format("--{}={}", option, value));
  };
  add("kind", step.kind == StepKind::kTrain    ? "train"
              : step.kind == StepKind::kDecode ? "decode"
                                               : "prefill");
  add("batch", step.batch), add("sequence", step.sequence);
  add("compute", to_text(step.compute_type)), add("params", to_text(step.param_type));
  add("moments", fmt::format("{},{}", to_text(step.optimizer.mu_type), to_text(step.optimizer.nu_type)));
  add("grads", to_text(step.grad_type)), add("clip-norm", step.optimizer.clip_norm);
  add("quantize", quantization_word(step.quantization));
  using Kind = OptimizerOptions::Kind;
  add("optimizer", step.optimizer.kind == Kind::kAdam      ? "adam"
                   : step.optimizer.kind == Kind::kAdamPax ? "adam_pax"
                                                           : "adamw");
  for (size_t i = 0; i < kSavedValues; ++i) {
    const auto value = static_cast<SavedValue>(i);
    const Keep keep = step.remat[value];
    add("keep", fmt::format("{}={}", to_text(value),
                            keep == Keep::kDevice ? "device"
                            : keep == Keep::kHost ? "host"
                                                  : "recompute"));
  }
  add("vocab-tiles", step.vocab_tiles), add("stack-axis", step.stack_axis);
  for (const auto& [option, is_set] : {std::pair("--unroll", !step.scan_layers),
                                       {"--one-hot-embedding", step.one_hot_embedding},
                                       {"--gather-stored", !step.cast_before_gather},
                                       {"--quantized-gather", step.quantized_gather},
                                       {"--experts-on-fsdp", step.experts_on_fsdp},
                                       {"--ring-of-experts", step.ring_of_experts}})
    if (is_set) words.emplace_back(option);
  add("ragged-buffer-factor", step.ragged_buffer_factor);
  for (std::string& word : attention_options(step)) words.push_back(std::move(word));
  return words;
}

Words report_line(const PublishedRun& run) {
  Words words = {"report", "-", "--format=json", "--device=" + run.device,
                 fmt::format("--devices={}", run.devices)};
  if (!run.topology.sides.empty())
    words.push_back(fmt::format("--topology={}", fmt::join(run.topology.sides, "x")));
  if (run.slices > 1) words.push_back(fmt::format("--slices={}", run.slices));
  for (const XlaFlag& flag : run.flags)
    words.push_back(fmt::format("--xla-flags=--{}={}", flag.name, flag.value));
  return words;
}

/// What the program writes; a failure with its errors where it ends with another code than 0.
std::string output_of(const Words& words, const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out, err;
  EXPECT_EQ(run(words, in, out, err), 0) << fmt::format("{}\n{}", fmt::join(words, " "), err.str());
  return out.str();
}

std::optional<int64_t> reported_time(const PublishedRun& published) {
  const std::string module = output_of(model_line(published), model_text(published.model));
  if (module.empty()) return std::nullopt;
  const std::string report = output_of(report_line(published), module);
  const nlohmann::json json = nlohmann::json::parse(report, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json["time"]["total_ps"].get<int64_t>();
}

/// All rows of a text, or each `step`-th.
void expect_same_times(const std::string& name, const std::string& text, size_t step) {
  DiagnosticList problems;
  const std::vector<MeasuredCase> cases =
      read_measured_cases(std::make_shared<const SourceFile>(name, text), problems);
  ASSERT_FALSE(problems.has_errors());
  ASSERT_FALSE(cases.empty());
  for (size_t i = 0; i < cases.size(); i += step) {
    const MeasuredCase& one = cases[i];
    if (!one.run) continue;
    SCOPED_TRACE(one.id);
    const std::optional<Device> device =
        load_device(one.run->device, {}, DeviceSearch::from_environment(), problems);
    ASSERT_TRUE(device);
    const RunPrediction predicted = predict_run(*one.run, *device);
    ASSERT_TRUE(predicted.seconds) << predicted.reason;
    const std::optional<int64_t> reported = reported_time(*one.run);
    ASSERT_TRUE(reported);
    EXPECT_NEAR(static_cast<double>(*reported) * 1e-12, *predicted.seconds, 1e-9 * *predicted.seconds);
  }
}

/// Two slices, offload, tiles of grouped products, and what else has an option of its own.
constexpr std::string_view kOwnRows = R"([
 {"id": "dense", "device": "v5p", "topology": "2x2x1", "slices": 2, "jax_devices": 8,
  "mesh": {"ici": {"fsdp": 2, "tensor": 2}, "dcn": {"data": 2}},
  "model": {"name": "small", "layers": 2, "d_model": 512, "d_ff": 1024, "q_heads": 8, "kv_heads": 4,
            "vocab": 1024, "gated_mlp": true, "mlp_activation": ["silu", "linear"]},
  "global_batch": 16, "seq": 1024, "step": "train", "dtype": "bf16", "param_dtype": "float32",
  "optimizer": {"name": "adam", "state": "mu bfloat16, nu float32", "grad_dtype": "bfloat16",
                "gradient_clipping_norm": 0},
  "remat_policy": {"policy": "custom", "saved_on_device": ["context"], "offloaded_to_host": ["decoder_layer_input"]},
  "attention_kernel": "splash", "scan_layers": true, "embedding_lookup": "one-hot",
  "xla_flags": ["--xla_enable_async_all_gather=true", "--xla_tpu_scoped_vmem_limit_kib=32768"],
  "other_flags": {"sa_block_q": 256, "num_vocab_tiling": 2, "use_max_logit_estimate": 30},
  "measured": {"step_seconds": 1}},
 {"id": "experts", "device": "v6e", "topology": "2x2", "jax_devices": 4,
  "mesh": {"ici": {"fsdp": 2, "expert": 2}},
  "model": {"name": "sparse", "layers": 2, "d_model": 512, "d_ff": 512, "q_heads": 4, "kv_heads": 4, "vocab": 1024,
            "moe": {"experts": 8, "top_k": 2, "d_ff_expert": 512, "dispatch": "dropless"}},
  "global_batch": 8, "seq": 1024, "step": "train", "dtype": "bf16", "param_dtype": "float32",
  "attention_kernel": "splash, tokamax", "scan_layers": false,
  "other_flags": {"tokamax_ragged_dot_tile": [256, 512, 512], "sa_use_fused_bwd_kernel": false},
  "measured": {"step_seconds": 1}}
])";

TEST(PublishedRows, TheDefaultRoadGivesTheTimesOfAccuracy) {
  expect_same_times("own.json", std::string(kOwnRows), 1);
}

/// Each tenth of the shared ones: HLOSIM_ALL_ROWS=1 takes all, which are minutes.
TEST(PublishedRows, SharedOnesToo) {
  const size_t step = std::getenv("HLOSIM_ALL_ROWS") ? 1 : 10;
  for (const char* name : {"published/shown.json", "published/shown-2.json"}) {
    const std::string text = test::shared_text(name);
    if (text.empty()) GTEST_SKIP() << test::no_shared(name);
    expect_same_times(name, text, step);
  }
}

}  // namespace
}  // namespace hlosim
