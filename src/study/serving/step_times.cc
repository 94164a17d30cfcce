#include "serving/step_times.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/rounding.h"
#include "base/saturating.h"
#include "estimate/energy_use.h"
#include "model/pallas/paged_attention.h"
#include "ops/op_table.h"
#include "serving/serving_memory.h"
#include "workloads/parameters.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

constexpr auto kKernelCategory = static_cast<size_t>(CostCategory::kCustomCall);

double seconds(Picoseconds time) { return static_cast<double>(time.count()) * 1e-12; }

ServerStepCost cost_of(const DeviceConfig& device, const Totals& totals) {
  ServerStepCost cost;
  cost.seconds = seconds(totals.makespan);
  for (const EnergyPart& part : energy_of(device, totals)) cost.picojoules += part.energy.count();
  double rest = cost.seconds;
  for (size_t i = 0; i < kCostCategoryCount; ++i)
    rest -= cost.by_category[i] = seconds(totals.by_category[i]);
  // One step's collectives may be synchronous, and those of a longer cache stalls of asynchronous ones:
  // differences of steps need both in one category.
  const double exposed = std::min(seconds(totals.exposed_collectives), std::max(rest, 0.0));
  cost.by_category[static_cast<size_t>(CostCategory::kCollective)] += exposed;
  cost.by_category.back() = std::max(rest - exposed, 0.0);
  return cost;
}

ServerStepCost scaled(const ServerStepCost& cost, double factor) {
  return ServerStepCost().add(cost, factor);
}

/// A difference of steps may be a little below 0 in one category: the largest one makes up for it.
void settle(ServerStepCost& cost) {
  auto& parts = cost.by_category;
  double& largest = *std::max_element(parts.begin(), parts.end());
  for (double& part : parts)
    if (part < 0) largest += std::exchange(part, 0.0);
}

/// All of `seconds` in kernels.
ServerStepCost kernel_cost(double seconds, double picojoules) {
  ServerStepCost cost;
  cost.seconds = cost.by_category[kKernelCategory] = seconds;
  cost.picojoules = picojoules;
  return cost;
}

/// Grouped products of servers run in their own kernel, unless the user chose another one.
Device of_server(Device device) {
  RaggedWalk& walk = device.config.kernel.ragged_walk;
  const bool is_chosen = std::ranges::count(device.changes, "kernel.ragged_walk", &DeviceChange::path) > 0;
  if (walk == RaggedWalk::kGroups && !is_chosen) walk = RaggedWalk::kServed;
  return device;
}

}  // namespace

struct StepTimes::DraftTimes {
  DraftTimes(ServingSetup made, const Device& device, const EstimateOptions& options)
      : setup(std::move(made)), times(setup, device, options) {}
  ServingSetup setup;
  StepTimes times;
};

ServerStepCost& ServerStepCost::add(const ServerStepCost& other, double factor) {
  seconds += factor * other.seconds, picojoules += factor * other.picojoules;
  draft_seconds += factor * other.draft_seconds;
  for (size_t i = 0; i < by_category.size(); ++i) by_category[i] += factor * other.by_category[i];
  return *this;
}

StepTimes::StepTimes(const ServingSetup& setup, const Device& device, const EstimateOptions& options)
    : setup_(setup), device_(of_server(device)), options_(options) {
  for (const LayerGroup& group : layer_groups(setup.model))
    if (group.repeats * group.period > repeats_ * period_ || repeats_ == 1)
      period_ = group.period, repeats_ = group.repeats;
  if (std::optional<ServingSetup> draft = draft_setup(setup))
    draft_ = std::make_unique<DraftTimes>(std::move(*draft), device, options);
}

StepTimes::~StepTimes() = default;

size_t StepTimes::simulated() const { return simulated_ + (draft_ ? draft_->times.simulated() : 0); }

Result<ServerStepCost> StepTimes::simulate_layers(StepKind kind, int64_t batch, int64_t sequence,
                                                  int64_t layers) {
  ModelConfig model = setup_.model;
  model.layers = layers;
  model.max_positions = 0;
  StepOptions step;
  step.kind = kind;
  step.mesh = setup_.mesh();
  step.batch = batch, step.sequence = sequence;
  step.param_type = ElementType::kBF16;
  step.weight_type = setup_.weight_type, step.weight_block = setup_.weight_block;
  step.cache_type = setup_.cache_type;
  step.quantization = setup_.quantization;
  step.experts_on_tensor = setup_.experts_on_tensor;
  step.scan_layers = false;
  step.sampling = setup_.sampling;
  const Result<Module> module = make_step(model, step);
  if (!module) return tl::unexpected(module.error());
  EstimateOptions options = options_;
  options.simulate.keep_timeline = false;
  options.compiler.offload_all_reduces |= setup_.offloads_all_reduces;
  if (setup_.devices() > 1) options.mesh.emplace().partitions = setup_.devices();
  const Result<Estimate> made = estimate(*module, op_table(), device_, options);
  if (!made) return tl::unexpected(made.error());
  ++simulated_;
  return cost_of(device_.config, made->simulation->totals);
}

Result<ServerStepCost> StepTimes::simulate(StepKind kind, int64_t batch, int64_t sequence) {
  const int64_t all = setup_.model.layers, few = all - (repeats_ - 1) * period_;
  Result<ServerStepCost> one = simulate_layers(kind, batch, sequence, few);
  if (!one || repeats_ == 1) return one;
  const Result<ServerStepCost> two = simulate_layers(kind, batch, sequence, few + period_);
  if (!two) return two;
  const auto more = static_cast<double>(repeats_ - 1);
  return scaled(*one, 1 - more).add(*two, more);
}

// The plain products of the simulated step give way to the kernel of servers, which reads caches page by
// page, once for all tokens that a request has in the step. Latents of all heads together are few bytes for
// many products, which may take longer; so may the products of several tokens, which take what those of
// prompts do.
Result<void> StepTimes::attend_by_pages(Decode& decode) {
  const MemorySpace* hbm = device_.config.memory_space("hbm");
  if (hbm == nullptr || !hbm->bandwidth) return {};
  const auto replicas = static_cast<double>(setup_.replicas());
  const double rate = hbm->bandwidth->at(device_.config.clock).count() * device_.config.kernel.cache_read;
  const double token = static_cast<double>(cache_bytes_per_token(setup_)) / (rate * replicas);
  const auto queries = static_cast<double>(setup_.decode_tokens());
  double products = 0, energy = decode.per_token.picojoules;
  if (setup_.model.attention.latent) {
    products = queries * decode.per_token.seconds, energy *= queries;
  } else if (queries > 1) {
    const Result<const ServerStepCost*> each = attention();
    if (!each) return tl::unexpected(each.error());
    products = queries * (*each)->seconds, energy += (queries - 1) * (*each)->picojoules;
  }
  const double windowed = static_cast<double>(window_bytes_per_token(setup_)) /
                          static_cast<double>(cache_bytes_per_token(setup_));
  const double seconds = std::max(token, products);
  decode.per_token = kernel_cost(seconds * (1 - windowed), energy * (1 - windowed));
  decode.per_windowed_token = kernel_cost(seconds * windowed, energy * windowed);
  return {};
}

Result<double> StepTimes::attention_of_request() {
  if (attention_of_request_) return *attention_of_request_;
  double sum = 0;
  const ModelConfig model = served_model(setup_.model, setup_.mesh());
  const auto share = [&](int64_t heads) { return std::max<int64_t>(1, heads / setup_.tensor); };
  for (int64_t layer = 0; layer < model.layers && !model.attention.latent; ++layer) {
    const HeadSizes heads = head_sizes(model, layer);
    PagedProblem problem{.kv_heads = share(heads.kv_heads), .head_size = heads.head_dim};
    problem.heads = round_up(share(heads.q_heads), problem.kv_heads);
    problem.kv = setup_.cache_type, problem.page_size = page_tokens(setup_);
    problem.most_keys = problem.page_size;  // the least that a round fetches and computes, in any blocks
    constexpr int64_t kRequests = 64;       // what begins and ends the kernel is little beside their rounds
    problem.sequences = {{.count = kRequests, .queries = 1, .keys = problem.page_size}};
    const Result<KernelCost> cost =
        paged_attention_cost(device_.config, problem, default_paged_blocks(device_.config, problem));
    if (!cost) return tl::unexpected(cost.error());
    sum += seconds(cost->kernel) / static_cast<double>(kRequests);
  }
  attention_of_request_ = sum / static_cast<double>(setup_.replicas());
  return *attention_of_request_;
}

Result<const StepTimes::Decode*> StepTimes::decode(int64_t bucket) {
  if (const auto found = decodes_.find(bucket); found != decodes_.end()) return &found->second;
  const Result<ServerStepCost> short_one = simulate(StepKind::kDecode, bucket, near_);
  if (!short_one) return tl::unexpected(short_one.error());
  const Result<ServerStepCost> long_one = simulate(StepKind::kDecode, bucket, far_);
  if (!long_one) return tl::unexpected(long_one.error());
  Decode made;
  made.near = *short_one, made.far = *long_one;
  const double tokens = static_cast<double>(bucket) * static_cast<double>(far_ - near_);
  made.per_token = scaled(*long_one, 1 / tokens).add(*short_one, -1 / tokens);
  made.base = *short_one;
  made.base.add(made.per_token, -static_cast<double>(bucket * near_));
  settle(made.base);
  if (const Result<void> done = attend_by_pages(made); !done) return tl::unexpected(done.error());
  return &decodes_.emplace(bucket, made).first->second;
}

// Two prompts of s tokens and one of 2 s differ in attention alone: s² pairs of tokens more.
Result<const ServerStepCost*> StepTimes::attention() {
  if (!attention_.empty()) return &attention_[0];
  const int64_t length = 2048, replicas = setup_.replicas();
  const Result<ServerStepCost> two = simulate(StepKind::kPrefill, 2 * replicas, length);
  if (!two) return tl::unexpected(two.error());
  const Result<ServerStepCost> one = simulate(StepKind::kPrefill, replicas, 2 * length);
  if (!one) return tl::unexpected(one.error());
  const double pairs =
      static_cast<double>(length) * static_cast<double>(length) * static_cast<double>(replicas);
  ServerStepCost each = scaled(*one, 1 / pairs).add(*two, -1 / pairs);
  if (each.seconds < 0) each = ServerStepCost();
  attention_.push_back(each);
  return &attention_[0];
}

Result<const ServerStepCost*> StepTimes::prefill(int64_t bucket) {
  if (const auto found = prefills_.find(bucket); found != prefills_.end()) return &found->second;
  const int64_t length = std::max<int64_t>(bucket / setup_.replicas(), 1);
  Result<ServerStepCost> made = simulate(StepKind::kPrefill, setup_.replicas(), length);
  if (!made) return tl::unexpected(made.error());
  const Result<const ServerStepCost*> each = attention();
  if (!each) return tl::unexpected(each.error());
  const double pairs = 0.5 * static_cast<double>(length) * static_cast<double>(length * setup_.replicas());
  made->add(**each, -pairs);
  settle(*made);
  return &prefills_.emplace(bucket, *made).first->second;
}

Result<ServerStepCost> StepTimes::cost(const ServerStepLoad& load) {
  Result<ServerStepCost> cost = own_cost(load);
  if (!cost || !draft_) return cost;
  if (const Result<void> done = add_draft(load, *cost); !done) return tl::unexpected(done.error());
  return cost;
}

// One pass for each drafted token; the first one takes prompts along, as the draft model has its own cache.
Result<void> StepTimes::add_draft(ServerStepLoad load, ServerStepCost& cost) {
  const int64_t passes = load.decodes > 0 ? setup_.speculation.tokens : 1;
  for (int64_t i = 0; i < passes; ++i) {
    const Result<ServerStepCost> pass = draft_->times.own_cost(load);
    if (!pass) return failure("the draft model: " + pass.error().message, pass.error().hint);
    cost += *pass;
    cost.draft_seconds += pass->seconds;
    load.prefill = 0, load.prefill_pairs = 0, load.context += load.decodes;
  }
  return {};
}

Result<ServerStepCost> StepTimes::own_cost(const ServerStepLoad& load) {
  ServerStepCost cost;
  const int64_t decoded = load.decodes * setup_.decode_tokens();
  if (load.decodes > 0) {
    const Result<const Decode*> decodes = decode(token_bucket(setup_, decoded));
    if (!decodes) return tl::unexpected(decodes.error());
    if (load.prefill == 0) cost = (*decodes)->base;
    const Result<double> each = attention_of_request();
    if (!each) return tl::unexpected(each.error());
    const int64_t window = std::max<int64_t>(setup_.model.attention.window, 1);
    const int64_t seen = std::min(load.context, saturating_multiply(load.decodes, window));
    ServerStepCost attention = scaled((*decodes)->per_token, static_cast<double>(load.context));
    attention.add((*decodes)->per_windowed_token, static_cast<double>(seen));
    const double rounds = *each * static_cast<double>(load.decodes);
    if (rounds > attention.seconds) attention.seconds = attention.by_category[kKernelCategory] = rounds;
    cost += attention;
  }
  if (load.prefill == 0) return cost;
  const Result<const ServerStepCost*> prompts = prefill(token_bucket(setup_, decoded + load.prefill));
  if (!prompts) return tl::unexpected(prompts.error());
  const Result<const ServerStepCost*> each = attention();
  if (!each) return tl::unexpected(each.error());
  return cost.add(**prompts, 1).add(**each, load.prefill_pairs);
}

Result<double> StepTimes::interpolation_error(int64_t requests) {
  const int64_t bucket = token_bucket(setup_, requests * setup_.decode_tokens()), half = (near_ + far_) / 2;
  const Result<const Decode*> found = decode(bucket);
  if (!found) return tl::unexpected(found.error());
  const Result<ServerStepCost> simulated = simulate(StepKind::kDecode, bucket, half);
  if (!simulated) return tl::unexpected(simulated.error());
  const double part = static_cast<double>(half - near_) / static_cast<double>(far_ - near_);
  const double linear = (*found)->near.seconds * (1 - part) + (*found)->far.seconds * part;
  return linear / simulated->seconds - 1;
}

}  // namespace hlosim
