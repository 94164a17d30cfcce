#include "serving/serving_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/saturating.h"
#include "serving/server_simulation.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

struct Axes {
  int64_t tensor = 1, data = 1, expert = 1;
  bool experts_on_tensor = false;
};

/// A device, a mesh and types: what decides the steps.
struct ServerLayout {
  const ServingDeviceChoice* device = nullptr;
  const StoredChoice* weights = nullptr;
  const StoredChoice* cache = nullptr;
  int64_t chips = 0;
  Axes axes;
};

/// Heads are cut by powers of two; what is left deals requests out, and experts with them where they divide.
/// Devices of `tensor` have a part of every expert's width, or whole experts.
std::vector<Axes> meshes(const ModelConfig& model, int64_t devices) {
  std::vector<Axes> made;
  const auto add = [&](const Axes& axes) {
    made.push_back(axes);
    if (axes.tensor == 1 || !model.moe || model.moe->experts % (axes.tensor * axes.expert) != 0) return;
    made.push_back(axes);
    made.back().experts_on_tensor = true;
  };
  for (int64_t tensor = 1; tensor <= devices && tensor <= model.q_heads; tensor *= 2) {
    if (devices % tensor != 0 || model.q_heads % tensor != 0) continue;
    const int64_t rest = devices / tensor;
    add({tensor, rest, 1});
    if (rest > 1 && model.moe && model.moe->experts % rest == 0) add({tensor, 1, rest});
  }
  return made;
}

std::vector<Axes> meshes_of(const ServingSearchSpace& space, int64_t devices) {
  const ServingSetup& base = space.base;
  if (space.one_mesh) return {{base.tensor, base.data, base.expert, base.experts_on_tensor}};
  return meshes(base.model, devices);
}

std::vector<ServerLayout> layouts(const ServingSearchSpace& space) {
  std::vector<ServerLayout> made;
  for (const ServingDeviceChoice& device : space.devices) {
    const DeviceConfig& config = device.device->config;
    for (const int64_t chips : space.chips)
      for (const Axes& axes : meshes_of(space, chips * config.devices_per_chip()))
        for (const StoredChoice& weights : space.weights)
          for (const StoredChoice& cache : space.caches)
            made.push_back({&device, &weights, &cache, chips, axes});
  }
  return made;
}

/// Sets the figures. Requires: made.chips.
void take(const ServingRun& run, ServingPoint& made) {
  made.simulated = true;
  made.ttft_ms = run.ttft.median, made.tpot_ms = run.tpot.mean;
  made.requests_per_s = static_cast<double>(run.requests) / run.seconds;
  made.per_chip = static_cast<double>(run.output_tokens) / run.seconds / static_cast<double>(made.chips);
  // Of answers of one token the first one is all that a user sees.
  const double ms = made.tpot_ms > 0 ? made.tpot_ms : made.ttft_ms;
  made.per_user = ms > 0 ? 1e3 / ms : 0;
}

class ServerLayoutSearch {
 public:
  ServerLayoutSearch(const ServingSearchSpace& space, const ServerLayout& layout)
      : space_(space),
        layout_(layout),
        setup_(setup_of()),
        times_(setup_, *layout.device->device, *layout.device->estimate) {}

  std::vector<ServingPoint> run() {
    std::vector<ServingPoint> points;
    for (const int64_t tokens : space_.batched_tokens)
      for (const int64_t requests : space_.concurrency) points.push_back(point(tokens, requests));
    return points;
  }

 private:
  ServingSetup setup_of() const {
    ServingSetup setup = space_.base;
    const Axes& axes = layout_.axes;
    setup.tensor = axes.tensor, setup.data = axes.data, setup.expert = axes.expert;
    setup.experts_on_tensor = axes.experts_on_tensor;
    const DeviceConfig& config = layout_.device->device->config;
    store_types(layout_.weights->type, layout_.cache->type, space_.products, config, setup);
    setup.host_seconds = host_step_seconds(config, setup.mixed_steps);
    // Steps of all loads are simulated for one setup, whose buckets must reach the longest of them.
    for (const int64_t tokens : space_.batched_tokens)
      setup.max_batched_tokens = std::max(setup.max_batched_tokens, tokens);
    return setup;
  }

  ServingPoint point(int64_t tokens, int64_t requests) {
    ServingPoint made;
    made.device = layout_.device->name, made.weights = layout_.weights->word,
    made.cache = layout_.cache->word;
    made.chips = layout_.chips, made.tensor = setup_.tensor, made.data = setup_.data;
    made.expert = setup_.expert, made.experts_on_tensor = setup_.experts_on_tensor;
    made.concurrency = requests, made.batched_tokens = tokens;
    made.seqs = std::max(space_.base.max_seqs, requests);
    ServingSetup setup = setup_;
    setup.max_batched_tokens = tokens, setup.max_seqs = made.seqs;
    if (const Result<void> done = simulate(setup, made); !done) made.reason = done.error().message;
    return made;
  }

  Result<void> simulate(const ServingSetup& setup, ServingPoint& made) {
    if (made.concurrency < setup.replicas())
      return failure("fewer requests than groups of devices that share them");
    const Result<ServingMemory> memory = serving_memory(setup, layout_.device->device->config);
    if (!memory) return tl::unexpected(memory.error());
    if (const Result<void> possible = check_limits(setup, space_.input, space_.limits, times_); !possible)
      return possible;
    RequestMix mix;
    mix.input = space_.input, mix.output = space_.output, mix.concurrency = made.concurrency;
    mix.requests = default_requests(made.concurrency);
    const Result<ServingRun> run =
        serve(setup, *memory, times_, make_requests(mix), made.concurrency, space_.limits);
    if (!run) return tl::unexpected(run.error());
    take(*run, made);
    if (space_.limits.ttft_ms > 0 && made.ttft_ms > space_.limits.ttft_ms)
      return failure("the median TTFT is above --ttft");
    if (space_.limits.tpot_ms > 0 && made.tpot_ms > space_.limits.tpot_ms)
      return failure("the mean TPOT is above --itl");
    return {};
  }

  const ServingSearchSpace& space_;
  const ServerLayout layout_;
  const ServingSetup setup_;
  StepTimes times_;
};

/// Answers first, those with more tokens per second and chip before others; marks the frontier.
void rank(std::vector<ServingPoint>& points) {
  std::stable_sort(points.begin(), points.end(), [](const ServingPoint& a, const ServingPoint& b) {
    if (a.reason.empty() != b.reason.empty()) return a.reason.empty();
    return a.per_chip != b.per_chip ? a.per_chip > b.per_chip : a.per_user > b.per_user;
  });
  double most = -1;
  for (ServingPoint& one : points) {
    if (!one.reason.empty()) break;
    one.front = one.per_user > most;
    most = std::max(most, one.per_user);
  }
}

void sort_by_load(std::vector<ServingPoint>& points) {
  std::sort(points.begin(), points.end(),
            [](const ServingPoint& a, const ServingPoint& b) { return a.concurrency < b.concurrency; });
}

/// From `least` on, doubled, up to `most`, and `own`; in rising order, each once.
std::vector<int64_t> loads(int64_t least, int64_t most, int64_t own) {
  std::vector<int64_t> made;
  for (int64_t requests = least; requests <= most; requests *= 2) made.push_back(requests);
  if (own > 0) made.push_back(own);
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

}  // namespace

std::vector<ServingPoint> search_serving(const ServingSearchSpace& space) {
  const std::vector<ServerLayout> all = layouts(space);
  std::vector<std::vector<ServingPoint>> found(all.size());
  parallel_for(static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      found[static_cast<size_t>(i)] = ServerLayoutSearch(space, all[static_cast<size_t>(i)]).run();
  });
  std::vector<ServingPoint> points;
  for (std::vector<ServingPoint>& some : found)
    std::move(some.begin(), some.end(), std::back_inserter(points));
  rank(points);
  return points;
}

std::vector<ServingPoint> serving_curve(const ServingCurve& curve) {
  ServingSearchSpace space;
  space.base = curve.setup;
  space.one_mesh = true, space.products = curve.products;
  space.devices = {curve.device};
  const int64_t per_chip = curve.device.device->config.devices_per_chip();
  space.chips = {(curve.setup.devices() + per_chip - 1) / per_chip};
  space.weights = {curve.weights}, space.caches = {curve.cache};
  space.batched_tokens = {curve.setup.max_batched_tokens};
  space.input = curve.input, space.output = curve.output;
  space.concurrency = loads(curve.setup.replicas(), curve.setup.max_seqs, curve.concurrency);
  std::vector<ServingPoint> points = search_serving(space);
  sort_by_load(points);
  return points;
}

std::vector<ServingPoint> serving_curve(const DisaggregatedServer& server, const RequestMix& mix,
                                        int64_t chips) {
  std::vector<ServingPoint> points;
  const int64_t most = saturating_multiply(server.decode.setup.max_seqs, server.decode.instances);
  for (const int64_t requests : loads(1, most, mix.concurrency)) {
    ServingPoint& made = points.emplace_back();
    made.concurrency = requests, made.chips = chips;
    RequestMix load = mix;
    load.concurrency = requests, load.rate = 0, load.requests = default_requests(requests);
    if (const Result<DisaggregatedRun> run = serve_disaggregated(server, make_requests(load), requests))
      take(run->run, made);
    else
      made.reason = run.error().message;
  }
  rank(points);
  sort_by_load(points);
  return points;
}

std::string serving_options(const ServingSearchSpace& space, const ServingPoint& point) {
  std::string text = fmt::format("--device={} --tp={}", point.device, point.tensor);
  if (point.data > 1) text += fmt::format(" --dp={}", point.data);
  if (point.expert > 1) text += fmt::format(" --ep={}", point.expert);
  if (point.experts_on_tensor) text += " --enable-expert-parallel";
  if (point.weights != "bf16") text += fmt::format(" --weight-dtype={}", point.weights);
  if (point.cache != "bf16") text += fmt::format(" --kv-cache-dtype={}", point.cache);
  text += fmt::format(" --concurrency={} --max-num-batched-tokens={} --max-num-seqs={} --isl={} --osl={}",
                      point.concurrency, point.batched_tokens, point.seqs, space.input, space.output);
  text += fmt::format(" --max-model-len={} --gpu-memory-utilization={}", space.base.max_model_len,
                      space.base.memory_utilization);
  if (!space.base.mixed_steps) text += " --scheduler=sglang";
  return text;
}

}  // namespace hlosim
