// Memory of known servers, requests through made-up and simulated steps, and what can't be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/device.h"
#include "model/pallas/paged_attention.h"
#include "serving/disaggregation.h"
#include "serving/server.h"
#include "serving/server_defaults.h"
#include "serving/server_simulation.h"
#include "serving/serving_memory.h"
#include "serving/serving_text.h"
#include "support/folders.h"
#include "text/base64.h"
#include "text/sha256.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

ModelConfig small_model() {
  ModelConfig model;
  model.name = "small";
  model.layers = 4, model.d_model = 256, model.d_ff = 512, model.q_heads = 4, model.kv_heads = 2;
  model.head_dim = 128, model.vocab = 512;
  return model;
}

ModelConfig llama_70b() {
  ModelConfig model;
  model.name = "llama";
  model.layers = 80, model.d_model = 8192, model.d_ff = 28672, model.q_heads = 64, model.kv_heads = 8;
  model.head_dim = 128, model.vocab = 128256;
  return model;
}

Device device(const std::string& name) {
  DiagnosticList problems;
  std::optional<Device> made = load_device(name, {}, {}, problems);
  EXPECT_TRUE(made.has_value()) << name;
  return std::move(*made);
}

/// Llama 70B on eight v6e: 16.43 GiB of weights and 40,960 B a token on each.
TEST(ServingMemory, OfAKnownServer) {
  ServingSetup setup{.model = llama_70b(), .tensor = 8};
  setup.memory_utilization = 0.98, setup.max_model_len = 2048;
  const Result<ServingMemory> memory = serving_memory(setup, device("v6e").config);
  ASSERT_TRUE(memory.has_value());
  EXPECT_NEAR(static_cast<double>(memory->weights) / (1 << 30), 16.43, 0.02);
  EXPECT_EQ(memory->bytes_per_token, 40960);
  EXPECT_EQ(memory->page, 128);
  EXPECT_EQ(memory->tokens() / 2048, 181);
}

/// Two rows of one head fill half of a 32-bit word of fp8: the cache is padded to twice its size.
TEST(ServingMemory, PadsHeadsToWholeWords) {
  ServingSetup setup{.model = llama_70b(), .tensor = 8};
  setup.cache_type = ElementType::kF8E4M3FN;
  EXPECT_EQ(cache_bytes_per_token(setup), 40960);
  setup.tensor = 4;
  EXPECT_EQ(cache_bytes_per_token(setup), 40960);
}

/// One latent of 512 + 64 for all heads, padded to 640, whatever the mesh is.
TEST(ServingMemory, KeepsOneLatent) {
  ServingSetup setup{.model = llama_70b(), .tensor = 8};
  setup.model.layers = 61;
  setup.model.attention.latent = LatentAttention{1536, 512, 128, 64, 128};
  EXPECT_EQ(cache_bytes_per_token(setup), 78080);
  setup.cache_type = ElementType::kF8E4M3FN;
  EXPECT_EQ(cache_bytes_per_token(setup), 39040);
}

/// Three of four layers keep a window of 512 tokens: a long request takes the pages of its window and one
/// more there, a short one all of them.
TEST(ServingMemory, WindowsKeepTheirPages) {
  ServingSetup setup{.model = llama_70b(), .tensor = 8};
  setup.model.attention.window = 512, setup.model.attention.pattern = "LLLG";
  setup.max_model_len = 4096, setup.block_size = 128;
  ServingMemory memory = *serving_memory(setup, device("v6e").config);
  EXPECT_EQ(memory.bytes_per_token, 40960);
  EXPECT_EQ(memory.window_bytes, 30720);
  EXPECT_EQ(memory.unit_bytes(), 10240);
  EXPECT_EQ(memory.pages_of(384), 3 * 4);
  EXPECT_EQ(memory.pages_of(4096), 32 + 3 * 5);
  EXPECT_NEAR(static_cast<double>(memory.cache()), static_cast<double>(memory.budget - memory.weights), 2e6);
  setup.model.attention.global_head_dim = 256;  // heads of two sizes: vLLM keeps everything
  memory = *serving_memory(setup, device("v6e").config);
  EXPECT_EQ(memory.window, 0);
  EXPECT_EQ(memory.pages_of(4096), 32);
}

TEST(ServingMemory, NamesWhatDoesNotFit) {
  const Device v6e = device("v6e");
  ServingSetup setup{.model = llama_70b(), .tensor = 2};
  const Result<ServingMemory> weights = serving_memory(setup, v6e.config);
  ASSERT_FALSE(weights.has_value());
  EXPECT_NE(weights.error().message.find("the model doesn't fit"), std::string::npos);
  setup.tensor = 8, setup.max_model_len = 1 << 20;
  const Result<ServingMemory> request = serving_memory(setup, v6e.config);
  ASSERT_FALSE(request.has_value());
  EXPECT_NE(request.error().message.find("a request of 1048576 tokens doesn't fit"), std::string::npos);
}

/// Weights in eight bits are half of those in sixteen, but for the table, the head and the scales.
TEST(ServingMemory, CountsWeightsAsStored) {
  ServingSetup setup{.model = llama_70b(), .tensor = 8};
  const auto wide = static_cast<double>(weight_bytes(setup));
  setup.weight_type = ElementType::kS8;
  const auto narrow = static_cast<double>(weight_bytes(setup));
  EXPECT_GT(narrow / wide, 0.5);
  EXPECT_LT(narrow / wide, 0.53);
}

/// FIPS 180-4's examples, and a text that needs a second block for its length.
TEST(Sha256, OfKnownTexts) {
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char one : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(one));
    return text;
  };
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

class Served : public ::testing::Test {
 protected:
  void SetUp() override {
    setup.model = small_model();
    setup.max_model_len = 512, setup.max_batched_tokens = 128, setup.max_seqs = 32;
    memory = *serving_memory(setup, v6e.config);
  }
  ServingRun run(const std::vector<Request>& requests, int64_t concurrency) {
    StepTimes times(setup, v6e, options);
    const Result<ServingRun> made = serve(setup, memory, times, requests, concurrency);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return made ? *made : ServingRun();
  }
  Device v6e = device("v6e");
  EstimateOptions options;
  ServingSetup setup;
  ServingMemory memory;
};

TEST_F(Served, EveryTokenIsCountedOnce) {
  for (const bool mixed : {true, false}) {
    setup.mixed_steps = mixed;
    const std::vector<Request> requests =
        make_requests({.input = 200, .output = 50, .least_share = 0.5, .requests = 40, .seed = 7});
    int64_t input = 0, output = 0;
    for (const Request& one : requests) input += one.input, output += one.output;
    const ServingRun made = run(requests, 8);
    EXPECT_EQ(made.requests, 40);
    EXPECT_EQ(made.input_tokens, input);
    EXPECT_EQ(made.output_tokens, output);
    EXPECT_EQ(made.most_running, 8);
    EXPECT_EQ(made.preemptions, 0);
    EXPECT_NEAR(made.seconds, made.decode_seconds + made.mixed_seconds + made.host_seconds, 1e-9);
  }
}

/// One request after the other: a step for each chunk of the prompt, and one for each further token.
TEST_F(Served, OneRequestAtATime) {
  const ServingRun made = run(std::vector<Request>(3, Request{0, 300, 20}), 1);
  EXPECT_EQ(made.steps, 3 * (3 + 19));
  EXPECT_EQ(made.mixed_steps, 3 * 3);
  EXPECT_NEAR(made.tpot.mean, made.itl.mean, 1e-9);
}

TEST_F(Served, TheSameRequestsGiveTheSameRun) {
  const std::vector<Request> requests =
      make_requests({.input = 100, .output = 30, .rate = 50, .requests = 60, .seed = 3});
  const ServingRun a = run(requests, 0), b = run(requests, 0);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.itl.p99, b.itl.p99);
  EXPECT_GE(a.seconds, requests.back().arrival);
}

/// A cache with room for two requests: others wait, or are thrown out and start again, and all end.
TEST_F(Served, AFullCacheThrowsOut) {
  memory.page = 16, memory.pages = 2 * 512 / 16;
  const ServingRun made = run(std::vector<Request>(12, Request{0, 64, 400}), 12);
  EXPECT_EQ(made.requests, 12);
  EXPECT_EQ(made.output_tokens, 12 * 400);
  EXPECT_GT(made.preemptions, 0);
}

TEST_F(Served, LongRequestsAreErrors) {
  StepTimes times(setup, v6e, options);
  EXPECT_FALSE(serve(setup, memory, times, {Request{0, 500, 100}}, 1).has_value());
}

/// Simulated in two turns of the pattern, the step takes what the step of all layers does.
TEST_F(Served, LayersAreAlike) {
  StepTimes few(setup, v6e, options);
  const double whole = few.cost({32, 0, 0, 0})->seconds;
  setup.model.layers = 12;
  StepTimes many(setup, v6e, options);
  const double more = many.cost({32, 0, 0, 0})->seconds;
  setup.model.layers = 8;
  StepTimes between(setup, v6e, options);
  EXPECT_NEAR(between.cost({32, 0, 0, 0})->seconds, (whole + more) / 2, 0.01 * more);
}

/// Expected tokens of a step by their sum, and as many of them drawn.
TEST(Speculation, AcceptanceLength) {
  for (const double rate : {0.0, 0.3, 0.7, 1.0}) {
    const Speculation speculation{.tokens = 4, .acceptance = rate, .seed = 5};
    const double expected = rate < 1 ? (1 - std::pow(rate, 5)) / (1 - rate) : 5;
    EXPECT_NEAR(speculation.acceptance_length(), expected, 1e-12);
    AcceptedDrafts drafts(speculation), again(speculation);
    double sum = 0;
    for (int i = 0; i < 20000; ++i) {
      const int64_t accepted = drafts.next();
      ASSERT_GE(accepted, 0);
      ASSERT_LE(accepted, 4);
      EXPECT_EQ(accepted, again.next());
      sum += static_cast<double>(accepted);
    }
    EXPECT_NEAR(sum / 20000 + 1, expected, 0.05);
  }
}

/// All drafts accepted: a request's answer takes a step for each k + 1 tokens; none: one for each token.
TEST_F(Served, SpeculationTakesFewerSteps) {
  setup.speculation = {.tokens = 3, .acceptance = 1};
  const std::vector<Request> requests(3, Request{0, 100, 41});
  const ServingRun all = run(requests, 1);
  EXPECT_EQ(all.steps, 3 * (1 + 10));
  EXPECT_EQ(all.output_tokens, 3 * 41);
  EXPECT_EQ(all.accepted_drafts, 3 * all.verifications);
  setup.speculation.acceptance = 0;
  const ServingRun none = run(requests, 1);
  EXPECT_EQ(none.steps, 3 * (1 + 40));
  EXPECT_EQ(none.output_tokens, 3 * 41);
}

/// Without accepted drafts a step only gets longer; a draft model adds its own passes.
TEST_F(Served, SpeculationCostsItsTokens) {
  StepTimes plain(setup, v6e, options);
  const ServerStepLoad load{16, 16 * 300, 0, 0};
  const double one = plain.cost(load)->seconds;
  setup.speculation = {.tokens = 3, .acceptance = 0.5};
  StepTimes grams(setup, v6e, options);
  const double four = grams.cost(load)->seconds;
  EXPECT_GT(four, one);
  setup.speculation.draft = small_model();
  StepTimes drafted(setup, v6e, options);
  const ServerStepCost cost = *drafted.cost(load);
  // The draft is the model itself: three of its steps, each with a longer cache.
  EXPECT_NEAR(cost.seconds - cost.draft_seconds, four, 1e-12);
  EXPECT_NEAR(cost.draft_seconds, 3 * one, 0.02 * one);
  setup.speculation.draft.reset();
}

/// A draft model has weights and a cache of its own.
TEST(ServingMemory, HoldsADraftModel) {
  ServingSetup setup{.model = llama_70b(), .tensor = 8};
  const ServingMemory alone = *serving_memory(setup, device("v6e").config);
  setup.speculation = {.tokens = 3, .acceptance = 0.5, .draft = small_model()};
  const ServingMemory both = *serving_memory(setup, device("v6e").config);
  const ServingSetup draft{.model = small_model(), .tensor = 8};
  EXPECT_EQ(both.weights, alone.weights);
  EXPECT_EQ(both.draft_weights, weight_bytes(draft));
  EXPECT_EQ(both.bytes_per_token, alone.bytes_per_token + cache_bytes_per_token(draft));
  EXPECT_LE(both.weights + both.draft_weights + both.cache(), both.budget);
}

/// A point of a search is what the server alone gives, also with more tokens in a step than the default.
TEST_F(Served, PointsOfASearchAreThoseOfTheServer) {
  ServingSearchSpace space;
  space.base = setup;
  space.base.max_batched_tokens = 64, space.base.max_model_len = 4096;
  space.one_mesh = true;
  space.devices = {{"v6e", &v6e, &options}};
  space.chips = {1}, space.concurrency = {8}, space.batched_tokens = {2048, 128};
  space.weights = {{"bf16", ElementType::kInvalid}}, space.caches = {{"bf16", ElementType::kBF16}};
  space.input = 1500, space.output = 20;
  for (const ServingPoint& point : search_serving(space)) {
    ASSERT_TRUE(point.reason.empty()) << point.reason;
    setup.max_batched_tokens = point.batched_tokens, setup.max_model_len = 4096, setup.max_seqs = 256;
    setup.host_seconds = 0.002;
    const ServingRun alone = run(std::vector<Request>(100, Request{0, 1500, 20}), 8);
    EXPECT_NEAR(point.ttft_ms, alone.ttft.median, 1e-9) << point.batched_tokens;
    EXPECT_NEAR(point.tpot_ms, alone.tpot.mean, 1e-9);
  }
}

class ServedApart : public Served {
 protected:
  DisaggregatedRun run_apart(const std::vector<Request>& requests, int64_t concurrency, int64_t prefills,
                             int64_t decodes) {
    StepTimes times(setup, v6e, options);
    const ServingSide prefill{setup, prefill_memory, times, prefills}, decode{setup, memory, times, decodes};
    const Result<DisaggregatedRun> made =
        serve_disaggregated({prefill, decode, transfer}, requests, concurrency, {});
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return made ? *made : DisaggregatedRun();
  }
  void SetUp() override {
    Served::SetUp();
    prefill_memory = memory;
    transfer = *cache_transfer({setup, memory, v6e.config}, {setup, memory, v6e.config});
  }
  ServingMemory prefill_memory;
  CacheTransfer transfer;
};

/// One request: its prompt's steps, the transfer, and a step for each token of its answer.
TEST_F(ServedApart, OneRequest) {
  StepTimes times(setup, v6e, options);
  const double host = setup.host_seconds = 0.001;
  const DisaggregatedRun made = run_apart({{0, 100, 5}}, 1, 1, 1);
  const double prompt = times.cost({0, 0, 100, 5000})->seconds + host;
  const double sent = 100 * transfer.seconds_per_token + transfer.latency;
  const double first = times.cost({1, 100, 0, 0})->seconds + host;
  EXPECT_NEAR(made.run.ttft.mean, (prompt + sent + first) * 1e3, 1e-9);
  EXPECT_NEAR(made.transfer.mean, sent * 1e3, 1e-9);
  EXPECT_EQ(made.prefill.steps, 1);
  EXPECT_EQ(made.prefill.mixed_steps, 1);
  EXPECT_EQ(made.run.steps, 5);
  EXPECT_EQ(made.run.mixed_steps, 0);
}

/// A token of the small model's cache: 4 layers, 2 heads, keys and values of 128, through an eighth of 25
/// GB/s.
TEST_F(ServedApart, TransferTakesItsBytes) {
  EXPECT_EQ(transfer.bytes_per_token, 4 * 2 * 2 * 128 * 2);
  EXPECT_NEAR(transfer.seconds_per_token, 4096 * 8 / 25e9, 1e-15);
  EXPECT_NEAR(transfer.latency, 250e-6, 1e-12);
}

/// Every token is counted once, whatever the numbers of instances; decode steps never wait for prompts.
TEST_F(ServedApart, EveryTokenIsCountedOnce) {
  const std::vector<Request> requests =
      make_requests({.input = 200, .output = 50, .least_share = 0.5, .requests = 40, .seed = 7});
  int64_t output = 0;
  for (const Request& one : requests) output += one.output;
  for (const int64_t prefills : {1, 3})
    for (const int64_t decodes : {1, 2})
      for (const int64_t concurrency : {0, 8}) {
        const DisaggregatedRun made = run_apart(requests, concurrency, prefills, decodes);
        EXPECT_EQ(made.run.requests, 40);
        EXPECT_EQ(made.run.output_tokens, output);
        EXPECT_EQ(made.run.mixed_steps, 0);
        EXPECT_EQ(made.run.preemptions, 0);
        EXPECT_LE(made.run.most_running, concurrency > 0 ? concurrency : 32);
      }
}

/// Room for two whole requests on each side: those that are thrown out are computed again. With two requests
/// a step, prompts that are done wait for their pull.
TEST_F(ServedApart, FullCaches) {
  memory.page = prefill_memory.page = 16, memory.pages = prefill_memory.pages = 2 * 512 / 16;
  const DisaggregatedRun made = run_apart(std::vector<Request>(12, Request{0, 64, 400}), 12, 1, 1);
  EXPECT_EQ(made.run.requests, 12);
  EXPECT_EQ(made.run.output_tokens, 12 * 400);
  EXPECT_GT(made.run.preemptions, 0);
  setup.max_seqs = 2;
  const double sent = 64 * transfer.seconds_per_token + transfer.latency;
  EXPECT_GT(run_apart(std::vector<Request>(12, Request{0, 64, 400}), 12, 1, 1).transfer.mean,
            1e3 * 10 * sent);
}

/// More prefill instances make the queue for prompts shorter; a faster network makes the first token earlier.
TEST_F(ServedApart, MoreOfEitherIsNotSlower) {
  const std::vector<Request> requests =
      make_requests({.input = 400, .output = 40, .rate = 4000, .requests = 80, .seed = 1});
  const double one = run_apart(requests, 0, 1, 1).run.ttft.mean,
               four = run_apart(requests, 0, 4, 1).run.ttft.mean;
  EXPECT_LT(four, one);
  transfer.seconds_per_token *= 50;
  EXPECT_GT(run_apart(requests, 0, 4, 1).run.ttft.mean, four);
}

/// Many short caches with one head a device: the kernel's rounds take longer than the bytes.
TEST_F(Served, ShortCachesTakeTheRoundsOfTheKernel) {
  setup.model = llama_70b();
  setup.tensor = 8;
  Device v7x = device("v7x-8");
  StepTimes times(setup, v7x, options);
  PagedProblem problem{.heads = 8, .kv_heads = 1, .head_size = 128};
  problem.page_size = problem.most_keys = page_tokens(setup);
  problem.sequences = {{.count = 64, .queries = 1, .keys = problem.page_size}};
  const Result<KernelCost> kernel =
      paged_attention_cost(v7x.config, problem, default_paged_blocks(v7x.config, problem));
  ASSERT_TRUE(kernel.has_value());
  const double each = 80 * static_cast<double>(kernel->kernel.count()) * 1e-12 / 64;
  EXPECT_NEAR(*times.attention_of_request(), each, 1e-3 * each);
  constexpr auto kKernels = static_cast<size_t>(CostCategory::kCustomCall);
  const ServerStepCost near = *times.cost({64, 64 * 2, 0, 0}), far = *times.cost({64, 64 * 100000, 0, 0});
  EXPECT_NEAR(near.by_category[kKernels], 64 * each, 0.05 * 64 * each);
  EXPECT_GT(far.by_category[kKernels], 10 * near.by_category[kKernels]);
}

/// Layers with a window read no more than it.
TEST_F(Served, WindowsAreAllThatIsRead) {
  ServingSetup short_sighted = setup;
  short_sighted.model.attention.window = 128;
  StepTimes windowed(short_sighted, v6e, options), whole(setup, v6e, options);
  const auto attention = [](StepTimes& times, int64_t context) {
    return times.cost({16, 16 * context, 0, 0})->seconds - times.cost({16, 16, 0, 0})->seconds;
  };
  EXPECT_NEAR(attention(windowed, 100000), attention(windowed, 128), 1e-12);
  EXPECT_GT(attention(whole, 100000), 10 * attention(windowed, 100000));
}

/// A cache with room for the windows of eight requests preempts none of them; without windows it does.
TEST_F(Served, WindowsMakeRoom) {
  setup.model.attention.window = 64;
  memory = *serving_memory(setup, v6e.config);
  memory.page = 16;
  memory.pages = 8 * memory.pages_of(64 + 400);
  const std::vector<Request> requests(12, Request{0, 64, 400});
  const ServingRun made = run(requests, 12);
  EXPECT_EQ(made.output_tokens, 12 * 400);
  EXPECT_EQ(made.most_running, 8);
  EXPECT_EQ(made.preemptions, 0);
  memory.window = memory.window_bytes = 0;
  EXPECT_GT(run(requests, 12).preemptions, 0);
}

/// The search has both ways to deal experts out over `tensor`.
TEST_F(Served, SearchesWholeExpertsOverTensor) {
  MoeConfig& moe = setup.model.moe.emplace();
  moe.experts = 8, moe.top_k = 2, moe.d_ff = 128;
  ServingSearchSpace space;
  space.base = setup;
  space.devices = {{"v6e", &v6e, &options}};
  space.chips = {2}, space.concurrency = {8}, space.batched_tokens = {128};
  space.weights = {{"bf16", ElementType::kInvalid}}, space.caches = {{"bf16", ElementType::kBF16}};
  space.input = 64, space.output = 8;
  std::vector<std::string> commands;
  for (const ServingPoint& point : search_serving(space)) {
    EXPECT_TRUE(point.reason.empty()) << point.reason;
    if (point.tensor == 2) commands.push_back(serving_options(space, point));
  }
  ASSERT_EQ(commands.size(), 2u);
  const auto whole = [](const std::string& text) {
    return text.find("--enable-expert-parallel") != text.npos;
  };
  EXPECT_NE(whole(commands[0]), whole(commands[1]));
}

/// Collectives that stall in one step and are synchronous in the other cancel in no category.
TEST_F(Served, CategoriesAddUp) {
  setup.model = llama_70b();
  setup.tensor = 8;
  Device slice = device("v6e-8");
  StepTimes times(setup, slice, options);
  const ServerStepCost cost = *times.cost({64, 64 * 1024, 0, 0});
  double sum = 0;
  for (const double part : cost.by_category) {
    EXPECT_GE(part, 0);
    sum += part;
  }
  EXPECT_NEAR(sum, cost.seconds, 1e-9);
}

/// A page has a mark for each load that is simulated, and a row for those that aren't.
TEST_F(Served, PageOfItsCurve) {
  setup.max_seqs = 8;
  const ServingDeviceChoice choice{"v6e", &v6e, &options};
  const std::vector<ServingPoint> curve = serving_curve({.setup = setup,
                                                         .device = choice,
                                                         .weights = {"bf16", ElementType::kInvalid},
                                                         .cache = {"bf16", ElementType::kBF16},
                                                         .input = 64,
                                                         .output = 16,
                                                         .concurrency = 6});
  std::vector<int64_t> loads;
  for (const ServingPoint& one : curve) loads.push_back(one.concurrency);
  EXPECT_EQ(loads, (std::vector<int64_t>{1, 2, 4, 6, 8}));
  double best = 0;
  for (const ServingPoint& one : curve) {
    EXPECT_TRUE(one.simulated) << one.reason;
    best = std::max(best, one.per_chip);
  }
  for (const ServingPoint& one : curve) EXPECT_TRUE(one.per_chip < best || one.front);
  const ServingRun made = run(std::vector<Request>(6, Request{0, 64, 16}), 6);
  ServingReport report{.setup = setup, .memory = memory, .run = made, .device = "v6e", .curve = curve};
  const std::string page = to_html(report);
  size_t marks = 0;
  for (size_t at = page.find("r=\"2.5\""); at != std::string::npos; at = page.find("r=\"2.5\"", at + 1))
    ++marks;
  EXPECT_EQ(marks, curve.size());
  EXPECT_NE(page.find("<td>6</td>"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(page.find(" style="), std::string::npos);
  // The page's policy names the texts of its two style elements.
  size_t styles = 0;
  for (size_t at = page.find("<style>"); at != std::string::npos; at = page.find("<style>", at + 1)) {
    const std::string style = page.substr(at + 7, page.find("</style>", at) - at - 7);
    EXPECT_NE(page.find("'sha256-" + base64(sha256(style)) + "'"), std::string::npos);
    ++styles;
  }
  EXPECT_EQ(styles, 2u);
}

/// The table of defaults has a row for every scheduler and generation.
TEST(ServerDefaults, OfSchedulerAndGeneration) {
  EXPECT_EQ(server_default(SchedulerKind::kVllm, "v5p").max_batched_tokens, 256);
  EXPECT_EQ(server_default(SchedulerKind::kVllm, "v5e").max_batched_tokens, 512);
  EXPECT_EQ(server_default(SchedulerKind::kVllm, "v7x").max_batched_tokens, 1024);
  EXPECT_EQ(server_default(SchedulerKind::kSglang, "v5e").memory_utilization, 0.88);
  for (const ServerDefault& one : server_defaults()) EXPECT_FALSE(one.source.empty());
  ServingSetup setup;
  apply_server_defaults(setup, SchedulerKind::kSglang, "v6e");
  EXPECT_EQ(setup.max_batched_tokens, 4096);
  EXPECT_FALSE(setup.mixed_steps);
}

/// What the host adds between two steps is keys of the device.
TEST(HostStep, IsLongerWithSglangWhereTheDeviceSaysSo) {
  const DeviceConfig v7x = device("v7x").config, v6e = device("v6e").config;
  EXPECT_DOUBLE_EQ(host_step_seconds(v7x, true), 0.002);
  EXPECT_DOUBLE_EQ(host_step_seconds(v7x, false), 0.008);
  EXPECT_DOUBLE_EQ(host_step_seconds(v6e, false), 0.002);
  DiagnosticList problems;
  const std::vector<DeviceOverride> longer = {{"host.sglang_step", "3 ms"}};
  const std::optional<Device> given = load_device("v6e", longer, {}, problems);
  ASSERT_TRUE(given);
  EXPECT_DOUBLE_EQ(host_step_seconds(given->config, false), 0.005);
}

/// Whole experts on a device, or a part of each: the same bytes.
TEST(ServingMemory, ExpertsOverTensorAreAsManyBytes) {
  ServingSetup setup{.model = small_model(), .tensor = 2};
  MoeConfig& moe = setup.model.moe.emplace();
  moe.experts = 8, moe.top_k = 2, moe.d_ff = 128;
  const int64_t widths = weight_bytes(setup);
  setup.experts_on_tensor = true;
  EXPECT_EQ(weight_bytes(setup), widths);
}

TEST(RequestTrace, ErrorsHaveAPlace) {
  const auto source = std::make_shared<const SourceFile>("t.csv", "seconds,input,output\n0,10,20\n0.5,x,3\n");
  const Result<std::vector<Request>> read = read_request_trace(source);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(source->locate(read.error().offset).line, 3);
  const auto good = std::make_shared<const SourceFile>("t.csv", "0,10,20\n0.5,7,3\n");
  ASSERT_TRUE(read_request_trace(good).has_value());
  EXPECT_EQ(read_request_trace(good)->size(), 2u);
  EXPECT_FALSE(read_request_trace(std::make_shared<const SourceFile>("t.csv", "1,1,1\n0,1,1\n")).has_value());
}

}  // namespace
}  // namespace hlosim
