#include "published/published_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "text/read_json.h"

namespace hlosim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string kModel =
    R"("model": {"name": "m", "layers": 2, "d_model": 256, "d_ff": 512, "q_heads": 4, "vocab": 512})";

const std::string kExperts =
    R"("model": {"name": "m", "layers": 2, "d_model": 256, "d_ff": 512, "q_heads": 4, "vocab": 512, )"
    R"("moe": {"experts": 8, "top_k": 2, "d_ff_expert": 64, "dispatch": "dropless"}})";

std::string entry_with(const std::string& more, const std::string& model = kModel) {
  return R"({"id": "a", "device": "v5e", "jax_devices": 8, "seq": 256, "per_device_batch": 2,)"
         R"("mesh": {"ici": {"fsdp": 4}, "dcn": {"data": 2}}, "slices": 2,)"
         R"("measured": {"step_seconds": 1.5})" +
         (more.empty() ? "" : ", " + more) + ", " + model + "}";
}

struct Read {
  PublishedRun run;
  std::string errors;
};

Read read(const std::string& text) {
  const auto source = std::make_shared<const SourceFile>("runs.json", text);
  DiagnosticList problems;
  const std::optional<Value> value = parse_json(source, problems);
  Read out;
  if (value) out.run = read_published_run(*value, problems);
  for (const Diagnostic& problem : problems.items()) {
    const LineColumn place = problem.source ? problem.source->locate(problem.offset) : LineColumn{};
    out.errors += std::to_string(place.column) + ": " + problem.message + "\n";
  }
  return out;
}

/// `text` with one part in another's place.
std::string with(std::string text, const std::string& part, const std::string& other) {
  return text.replace(text.find(part), part.size(), other);
}

TEST(PublishedRun, TokamaxLossGoesThroughPartsOf1024Tokens) {
  const std::string entry =
      entry_with(R"("other_flags": {"cross_entropy": "tokamax chunked_xla linear softmax cross entropy"})");
  EXPECT_EQ(read(entry).run.options.vocab_tiles, 1) << "512 tokens";
  const PublishedRun run = read(with(entry, R"("per_device_batch": 2)", R"("per_device_batch": 12)")).run;
  EXPECT_EQ(run.options.vocab_tiles, 2) << "3072 tokens: 3 parts would cut the sequence of 256 unevenly";
  EXPECT_THAT(
      run.assumptions,
      Contains("other_flags.cross_entropy: 2 parts of 1536 tokens with the whole vocabulary represent blocks "
               "of 1024 tokens x 2048 columns"));
  const PublishedRun other = read(entry_with(R"("other_flags": {"cross_entropy": "chunked"})")).run;
  EXPECT_EQ(other.options.vocab_tiles, 1);
  EXPECT_THAT(other.assumptions, Contains("other_flags.cross_entropy=chunked is not modelled"));
}

TEST(PublishedRun, MaxTextTurnsNeighborsOfLlama31) {
  const auto turns_neighbors = [](const std::string& name, const std::string& software) {
    const std::string model = with(kModel, R"("name": "m")", R"("name": ")" + name + "\"");
    return read(entry_with(R"("software": {")" + software + R"(": "1"})", model)).run.model.rope_interleaved;
  };
  EXPECT_TRUE(turns_neighbors("llama3.1-8b", "maxtext"));
  EXPECT_FALSE(turns_neighbors("llama3-8b", "maxtext"));
  EXPECT_FALSE(turns_neighbors("llama3.1-8b", "torch_xla"));
}

TEST(PublishedRun, ReadsSizesMeshAndSettings) {
  const Read one =
      read(entry_with(R"("dtype": "fp8", "quantization": "fp8_full", "remat_policy": {"policy": "custom", )"
                      R"("saved_on_device": ["context"], "offloaded_to_host": ["decoder_layer_input"]}, )"
                      R"("attention_kernel": "splash", "other_flags": {"sa_block_q": 1024, "tile_x": 3}, )"
                      R"("xla_flags": ["--a=1", "--a=2", "TPU_MEGACORE=X"])"));
  ASSERT_EQ(one.errors, "");
  EXPECT_EQ(one.run.options.batch, 16);
  EXPECT_EQ(one.run.slice_devices(), 4);
  EXPECT_EQ(one.run.options.quantization, Quantization::kFp8);
  EXPECT_EQ(one.run.options.remat[SavedValue::kContext], Keep::kDevice);
  EXPECT_EQ(one.run.options.remat[SavedValue::kDecoderLayerInput], Keep::kHost);
  EXPECT_EQ(one.run.options.tiles.q, 1024);
  ASSERT_EQ(one.run.flags.size(), 1U);
  EXPECT_EQ(one.run.flags[0].value, "2");
  EXPECT_EQ(one.run.step_seconds, 1.5);
  EXPECT_THAT(one.run.assumptions, Contains("other_flags.tile_x=3 is not modelled"));
  EXPECT_THAT(one.run.assumptions, Contains("xla_flags: TPU_MEGACORE=X is not modelled"));
}

TEST(PublishedRun, TilesOfGroupedProductsAndTheAttentionKernelsMaker) {
  const auto options = [](const std::string& flags, const std::string& kernel = "splash") {
    const Read one = read(
        entry_with(R"("attention_kernel": ")" + kernel + R"(", "other_flags": {)" + flags + "}", kExperts));
    EXPECT_EQ(one.errors, "");
    return one.run.options;
  };
  const auto tiles = [&](const std::string& flags) { return options(flags).expert_tiles; };
  EXPECT_EQ(tiles(R"("tokamax_ragged_dot_tile": [512, 2048, 1536])").out.row_gradient,
            (GroupedTile{512, 2048, 1536}));
  EXPECT_EQ(tiles(R"("moe_tiles": {"batch_seq": 256, "embed_dim": 1024, "mlp_dim": 768})").in.forward,
            (GroupedTile{256, 1024, 768}));
  EXPECT_EQ(tiles("").in.forward, GroupedTile());
  // megablox without tiles has MaxText's; of tokamax nothing is known then.
  EXPECT_EQ(tiles(R"("megablox": true)").in.forward, (GroupedTile{512, 1024, 1024}));
  EXPECT_EQ(tiles(R"("megablox": true, "use_tokamax_gmm": true)").in.forward, GroupedTile());
  // Those of single products win over the one for all, and MaxText's are the rest.
  const ExpertTiles single = tiles(
      R"("tile_embed_dim": 256, "wi_tile_fwd_embed_dim": 2816, "wo_tile_drhs_mlp_dim": 704, "wo_tile_dlhs_batch_seq": 128)");
  EXPECT_EQ(single.in.forward, (GroupedTile{512, 2816, 1024}));
  EXPECT_EQ(single.in.row_gradient, (GroupedTile{512, 256, 1024}));
  EXPECT_EQ(single.out.weight_gradient, (GroupedTile{512, 256, 704}));
  EXPECT_EQ(single.out.row_gradient, (GroupedTile{128, 256, 1024}));
  // A model without experts has no such products.
  EXPECT_EQ(read(entry_with(R"("other_flags": {"megablox": true})")).run.options.expert_tiles, ExpertTiles());
  EXPECT_FALSE(options("").tiles.tokamax);
  EXPECT_TRUE(options(R"("use_tokamax_splash": true)").tiles.tokamax);
  EXPECT_TRUE(options("", "splash (Pallas), tokamax build").tiles.tokamax);
  EXPECT_THAT(read(entry_with(R"("other_flags": {"tokamax_ragged_dot_tile": [512, 2048]})")).errors,
              HasSubstr("three whole numbers"));
}

TEST(PublishedRun, WeightsAreQuantizedBeforeTheyAreGatheredWhereMaxTextDoesSo) {
  const auto run = [](const std::string& flags, const std::string& quantization = "fp8_full") {
    const Read one =
        read(entry_with(R"("quantization": ")" + quantization + R"(", "other_flags": {)" + flags + "}"));
    EXPECT_EQ(one.errors, "");
    return one.run;
  };
  const std::string kernel = R"("use_tokamax_gmm": true, )", cut = R"("shard_exp_on_fsdp": true, )",
                    known = R"("weight_quantization_calibration_method": "fixed,-224,224")",
                    found = R"("weight_quantization_calibration_method": "absmax")";
  EXPECT_TRUE(run(kernel + cut + known).options.quantized_gather);
  EXPECT_FALSE(run(kernel + cut + found).options.quantized_gather);
  EXPECT_FALSE(run(kernel + known).options.quantized_gather);
  EXPECT_FALSE(run(cut + known).options.quantized_gather);
  EXPECT_FALSE(run(kernel + cut + known, "int8").options.quantized_gather);
  EXPECT_TRUE(run(R"("quantized_all_gather": true)").options.quantized_gather);
  EXPECT_FALSE(run(kernel + cut + known + R"(, "quantized_all_gather": false)").options.quantized_gather);
  EXPECT_THAT(run(kernel + known).assumptions,
              Contains("other_flags.weight_quantization_calibration_method=fixed,-224,224 is not modelled"));
}

TEST(PublishedRun, ExpertsExchangeRowsOrAreARing) {
  const auto run = [](const std::string& flags, const std::string& model = kExperts) {
    const Read one = read(entry_with(R"("other_flags": {)" + flags + "}", model));
    EXPECT_EQ(one.errors, "");
    return one.run;
  };
  EXPECT_FALSE(run("").options.ring_of_experts);
  EXPECT_EQ(run("").options.ragged_buffer_factor, 0);
  EXPECT_EQ(run(R"("ragged_buffer_factor": -1.0)").options.ragged_buffer_factor, 0);
  EXPECT_EQ(run(R"("ragged_buffer_factor": 1.5)").options.ragged_buffer_factor, 1.5);
  const PublishedRun ring = run(R"("use_ring_of_experts": true, "ragged_buffer_factor": 1.5)");
  EXPECT_TRUE(ring.options.ring_of_experts);
  EXPECT_EQ(ring.options.ragged_buffer_factor, 0);
  EXPECT_THAT(ring.assumptions, Contains("other_flags.ragged_buffer_factor=1.5 is not modelled"));
  EXPECT_FALSE(run(R"("use_ring_of_experts": true)", kModel).options.ring_of_experts);
}

TEST(PublishedRun, KeysThatNobodyKnowsAreListed) {
  const Read one = read(entry_with(R"("source": "a/b@1:c", "notes": "n", "weather": "fine")"));
  ASSERT_EQ(one.errors, "");
  EXPECT_THAT(one.run.assumptions, Contains("weather is not known: it changes nothing here"));
  EXPECT_THAT(one.run.assumptions, Not(Contains(HasSubstr("notes"))));
  EXPECT_EQ(one.run.source, "a/b");
}

TEST(PublishedRun, ProgramsAreToldApartByWhatDecidesThem) {
  const std::string plain = read(entry_with("")).run.program;
  EXPECT_FALSE(plain.empty());
  EXPECT_EQ(read(entry_with(R"("notes": "n", "xla_flags": ["--a=1"])")).run.program, plain);
  EXPECT_NE(read(entry_with(R"("dtype": "bf16")")).run.program, plain);
}

TEST(PublishedRun, OneMeshGoesOverAllSlices) {
  const Read one = read(entry_with(""));
  ASSERT_EQ(one.errors, "");
  ASSERT_EQ(one.run.options.mesh.axes.size(), 2U);
  EXPECT_EQ(one.run.options.mesh.axes[0].name, "data");
  EXPECT_EQ(one.run.options.mesh.axes[1].size, 4);
  EXPECT_EQ(one.run.options.mesh.device_order, std::vector<int64_t>());  // slice by slice already
}

TEST(PublishedRun, WrongTypesHaveTheirPlace) {
  EXPECT_THAT(read(entry_with(R"("xla_flags": "--a=1")")).errors,
              HasSubstr("\"xla_flags\" is an array of texts, not text"));
  EXPECT_THAT(read(entry_with(R"("xla_flags": [1])")).errors,
              HasSubstr("\"xla_flags\" holds texts, not a number"));
  EXPECT_THAT(read(entry_with(R"("step": 3)")).errors, HasSubstr("\"step\" is text, not a number"));
  EXPECT_THAT(read(entry_with(R"("step": "rest")")).errors, HasSubstr("\"step\" is not \"rest\""));
  EXPECT_THAT(read(entry_with(R"("other_flags": {"sa_block_q": 1.5})")).errors,
              HasSubstr("\"sa_block_q\" is a whole number from 1 on, not 1.5"));
  EXPECT_THAT(read(entry_with(R"("remat_policy": {"policy": "custom", "saved_on_device": ["k"]})")).errors,
              HasSubstr("no value of a layer is called \"k\""));
  EXPECT_THAT(read(entry_with("", R"("model": {"layers": "2"})")).errors,
              HasSubstr("\"layers\" is a whole number, not text"));
  EXPECT_THAT(read(entry_with("", R"("model": 7)")).errors,
              HasSubstr("\"model\" is an object, not a number"));
  EXPECT_THAT(read(R"({"id": "a", "model": {}})").errors, HasSubstr("an entry without \"device\""));
}

TEST(PublishedRun, SizesThatDontGoTogetherAreErrors) {
  EXPECT_THAT(read(entry_with(R"("global_batch": 3)")).errors,
              HasSubstr("a batch of 3 is not 8 devices with 2 each"));
  std::string text = entry_with("");
  text.replace(text.find("\"fsdp\": 4"), 9, "\"fsdp\": 2");
  EXPECT_THAT(read(text).errors, HasSubstr("the mesh inside a slice has 2 places, a slice has 4 devices"));
  text = entry_with("");
  text.replace(text.find("\"fsdp\": 4"), 9, "\"fsbp\": 4");
  EXPECT_THAT(read(text).errors, HasSubstr("no axis of a mesh is called \"fsbp\""));
}

}  // namespace
}  // namespace hlosim
