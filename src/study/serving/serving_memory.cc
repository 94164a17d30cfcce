#include "serving/serving_memory.h"

#include <fmt/format.h>

#include <bit>

#include "base/quantity_text.h"
#include "base/rounding.h"
#include "workloads/axis_rules.h"
#include "workloads/parameters.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

int64_t stored_bytes(const ParameterSpec& spec, const AxisRules& rules) {
  int64_t elements = 1;
  const AxisSharding sharding = rules.axes(spec.axes);
  for (size_t i = 0; i < spec.dims.size(); ++i) elements *= ceil_div(spec.dims[i], sharding.tiles(i));
  const ElementType type = spec.type == ElementType::kInvalid ? ElementType::kBF16 : spec.type;
  return (elements * bit_width(type) + 7) / 8;
}

/// Of a token in one layer's cache on one device.
int64_t bytes_of_layer(const ServingSetup& setup, const ModelConfig& model, int64_t layer) {
  const int64_t bits = bit_width(setup.cache_type), packed = 32 / bits;
  if (const auto& latent = model.attention.latent)
    return (round_up(latent->kv_rank, 128) + round_up(latent->rope_dim, 128)) * bits / 8;
  const HeadSizes heads = head_sizes(model, layer);
  const int64_t local = std::max<int64_t>(1, heads.kv_heads / setup.tensor);
  // Keys and values of a head of 64 share a row of 128 lanes.
  const bool half = heads.head_dim == 64;
  const int64_t rows = round_up(half ? local : 2 * local, packed);
  return rows * (half ? 128 : round_up(heads.head_dim, 128)) * bits / 8;
}

}  // namespace

int64_t weight_bytes(const ServingSetup& setup) {
  const Mesh mesh = setup.mesh();
  const ModelConfig model = served_model(setup.model, mesh);
  const AxisRules rules(mesh, false, true, setup.experts_on_tensor);
  int64_t bytes = 0;
  for (const ParameterSpec& spec : outer_parameters(model, setup.max_model_len))
    bytes += stored_bytes(spec, rules);
  for (const LayerGroup& group : layer_groups(model))
    for (int64_t place = 0; place < group.period; ++place)
      for (const ParameterSpec& spec :
           stored_parameters(model, group.first + place, setup.weight_type, setup.weight_block))
        bytes += group.repeats * stored_bytes(spec, rules);
  return bytes;
}

int64_t cache_bytes_per_token(const ServingSetup& setup) {
  const ModelConfig model = served_model(setup.model, setup.mesh());
  int64_t bytes = 0;
  for (int64_t layer = 0; layer < model.layers; ++layer) bytes += bytes_of_layer(setup, model, layer);
  return bytes;
}

int64_t window_bytes_per_token(const ServingSetup& setup) {
  const ModelConfig model = served_model(setup.model, setup.mesh());
  int64_t bytes = 0;
  for (int64_t layer = 0; layer < model.layers; ++layer)
    if (!model.is_global(layer)) bytes += bytes_of_layer(setup, model, layer);
  return bytes;
}

bool keeps_windows(const ServingSetup& setup) {
  const HeadSizes first = head_sizes(setup.model, 0);
  for (int64_t layer = 1; layer < setup.model.layers; ++layer)
    if (head_sizes(setup.model, layer).head_dim != first.head_dim) return false;
  return true;
}

int64_t ServingMemory::pages_of(int64_t tokens) const {
  const int64_t all = ceil_div(tokens, page);
  if (window == 0) return all * pages_per_page();
  // A window may begin within its first page.
  const int64_t kept = std::min(all, ceil_div(window, page) + 1);
  return (all * (bytes_per_token - window_bytes) + kept * window_bytes) / unit_bytes();
}

// vLLM's choice: 16 tokens from 8192 on, else a sixteenth of the longest request, 16 to 256.
int64_t page_tokens(const ServingSetup& setup) {
  if (setup.block_size > 0) return setup.block_size;
  if (setup.model.attention.latent) return 1024;
  if (setup.max_model_len > 8192) return 16;
  const auto length = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(setup.max_model_len)));
  return std::clamp<int64_t>(length / 16, 16, 256);
}

Result<ServingMemory> serving_memory(const ServingSetup& setup, const DeviceConfig& device) {
  ServingMemory memory;
  const MemorySpace& hbm = device.hbm();
  if (const std::optional<Bytes> all = device_capacity(device, hbm)) memory.capacity = all->count();
  memory.capacity_source =
      hbm.usable ? "memory.hbm.usable" : "memory.hbm.capacity: the device file has no memory.hbm.usable";
  if (memory.capacity == 0) return failure(fmt::format("{} has no size of its memory", device.name));
  memory.budget = static_cast<int64_t>(setup.memory_utilization * static_cast<double>(memory.capacity));
  memory.weights = weight_bytes(setup);
  memory.bytes_per_token = cache_bytes_per_token(setup);
  memory.page = page_tokens(setup);
  if (const int64_t windowed = window_bytes_per_token(setup); windowed > 0 && keeps_windows(setup))
    memory.window_bytes = windowed, memory.window = setup.model.attention.window;
  if (const std::optional<ServingSetup> draft = draft_setup(setup)) {
    memory.draft_weights = weight_bytes(*draft);
    memory.bytes_per_token += cache_bytes_per_token(*draft);
  }
  const int64_t weights = memory.weights + memory.draft_weights;
  if (weights >= memory.budget)
    return failure(
        fmt::format("the model doesn't fit: a device has {:.2f} GiB of weights, and {:.2f} GiB for "
                    "weights and cache",
                    static_cast<double>(weights) / kGibibyte, static_cast<double>(memory.budget) / kGibibyte),
        "more devices of --tp, narrower --weight-dtype, a larger --gpu-memory-utilization");
  memory.pages = (memory.budget - weights) / (memory.page * memory.unit_bytes());
  if (memory.pages < memory.pages_of(setup.max_model_len))
    return failure(fmt::format("a request of {} tokens doesn't fit: the cache has room for {}",
                               setup.max_model_len, memory.tokens()),
                   "a smaller --max-model-len, a narrower --kv-cache-dtype, more devices");
  return memory;
}

}  // namespace hlosim
