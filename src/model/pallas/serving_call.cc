#include "model/pallas/serving_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/rounding.h"
#include "model/pallas/grouped_product.h"
#include "model/pallas/kernel_bodies.h"
#include "model/pallas/latent_attention.h"
#include "model/pallas/paged_attention.h"
#include "model/pallas/quantized_matmul.h"

namespace hlosim {
namespace {

/// The number behind `key` in a name or in metadata: "bkv_2048", "\"tile_m\": 128".
std::optional<int64_t> number_behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of("\\\": _-"), rest.size()));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || value < 1 || value > int64_t{1} << 40) return std::nullopt;
  return value;
}

struct CallOperand {
  ShapeRef shape = nullptr;
  size_t number = 0;
};

/// What a call says of itself.
struct ServingCall {
  const Module& module;
  const Instruction& instruction;
  const DeviceConfig& device;
  const CustomCallCosts* given;
  std::string_view name = kernel_name(instruction);
  std::vector<CallOperand> numbers{}, arrays{};  // lists of s32; all others of at least two dimensions

  void read() {
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ShapeRef shape = module[instruction.operands[i]].shape;
      if (!shape->is_array()) continue;
      if (shape->element_type == ElementType::kS32 && shape->rank() <= 1)
        numbers.push_back({shape, i});
      else if (shape->rank() >= 2)
        arrays.push_back({shape, i});
    }
  }
  std::string_view metadata() const {
    const Attr* const attr = instruction.find(AttrKey::kFrontendAttributes);
    return attr ? attr->text() : std::string_view();
  }
  std::vector<int64_t> values(size_t number) const {
    return number < numbers.size() ? operand_values(module, instruction, numbers[number].number, given)
                                   : std::vector<int64_t>{};
  }
  ShapeRef array(size_t i) const { return i < arrays.size() ? arrays[i].shape : nullptr; }
};

std::optional<KernelCall> made_of(std::string what, bool given, Result<KernelCost> cost) {
  if (!cost) return std::nullopt;
  return KernelCall{std::move(what), given, std::move(*cost)};
}

// ── grouped products ──

std::optional<KernelCall> grouped_call(const ServingCall& call) {
  const ShapeRef lhs = call.array(0), rhs = call.array(1);
  if (!lhs || !rhs || lhs->rank() != 2) return std::nullopt;
  GroupedProblem problem{
      .rows = lhs->dim(0), .depth = lhs->dim(1), .lhs = lhs->element_type, .rhs = rhs->element_type};
  const ShapeRef result = call.instruction.shape;
  if (!result->is_array()) return std::nullopt;
  problem.result = result->element_type;
  const bool is_gradient = call.name.find("tgmm") != std::string_view::npos;
  const bool is_transposed = call.name.find("transpose_rhs") != std::string_view::npos;
  if (is_gradient && rhs->rank() == 2 && result->rank() == 3) {
    problem.form = GroupedForm::kWeightGradient;
    problem.groups = result->dim(0), problem.columns = rhs->dim(1);
  } else if (!is_gradient && rhs->rank() == 3) {
    problem.form = is_transposed ? GroupedForm::kTransposed : GroupedForm::kForward;
    problem.groups = rhs->dim(0), problem.columns = rhs->dim(is_transposed ? 1 : 2);
    if (rhs->dim(is_transposed ? 2 : 1) != problem.depth) return std::nullopt;
  } else {
    return std::nullopt;
  }
  problem.scaled = bit_width(problem.rhs) < 16;
  // The first list has where groups begin.
  const std::vector<int64_t> offsets = call.values(0);
  if (static_cast<int64_t>(offsets.size()) == problem.groups + 1)
    for (size_t i = 0; i + 1 < offsets.size(); ++i) problem.sizes.push_back(offsets[i + 1] - offsets[i]);
  const std::string_view metadata = call.metadata();
  const auto m = number_behind(metadata, "tile_m"), k = number_behind(metadata, "tile_k"),
             n = number_behind(metadata, "tile_n");
  std::optional<GroupedBlocks> blocks;
  if (m && k && n)
    blocks = GroupedBlocks{*m, *k, *n, number_behind(metadata, "input_buffer_count").value_or(2)};
  const bool given = blocks.has_value();
  // tokamax calls its kernels gmm_megablox and tgmm_megablox.
  const int64_t cores = call.name.find("megablox") == std::string_view::npos ? call.device.cores : 1;
  const auto cost = [&](GroupedBlocks one) {
    one.cores = cores;
    return grouped_product_cost(call.device, problem, one);
  };
  if (!given) blocks = best_blocks(call.device, grouped_block_candidates(call.device, problem), cost);
  if (!blocks) return std::nullopt;
  return made_of(
      problem.sizes.empty() ? "grouped product (rows assumed to be dealt evenly)" : "grouped product", given,
      cost(*blocks));
}

// ── attention over pages ──

/// Sequences by three lists: keys of each, where the queries of each begin, and which are decoded,
/// prefilled and mixed. Those that aren't known are as many and as long as there is room for.
std::vector<SequenceLength> sequences_of(const ServingCall& call, bool decode, int64_t tokens,
                                         int64_t most_keys, size_t starts_at, bool& is_assumed) {
  const std::vector<int64_t> keys = call.values(0), starts = call.values(starts_at);
  std::vector<SequenceLength> sequences;
  for (size_t i = 0; i < keys.size(); ++i) {
    const int64_t queries = i + 1 < starts.size() ? starts[i + 1] - starts[i] : decode ? 1 : 0;
    if (queries < 1 || (queries == 1) != decode || keys[i] < queries || keys[i] > most_keys) continue;
    if (!sequences.empty() && sequences.back().queries == queries && sequences.back().keys == keys[i])
      ++sequences.back().count;
    else
      sequences.push_back({1, queries, keys[i]});
  }
  is_assumed = keys.empty() || (!decode && starts.empty());
  if (!is_assumed || call.numbers.empty()) return sequences;
  const int64_t count = std::max<int64_t>(call.numbers.front().shape->element_count(), 1);
  if (decode) return {{std::min(count, std::max<int64_t>(tokens, 1)), 1, most_keys}};
  return {{1, std::clamp<int64_t>(tokens, 2, most_keys), most_keys}};
}

constexpr std::string_view kAssumedLengths =
    " (lengths are data: as many tokens and keys as there is room for)";

std::optional<KernelCall> paged_call(const ServingCall& call) {
  if (call.arrays.size() < 3 || call.numbers.size() < 3) return std::nullopt;
  const ShapeRef q = call.array(0), kv = call.array(1), cache = call.array(2);
  if (q->rank() != 5 || kv->rank() != 4 || cache->rank() != 5) return std::nullopt;
  PagedProblem problem;
  problem.kv_heads = q->dim(0), problem.heads = q->dim(0) * q->dim(2) * q->dim(3);
  problem.head_size = q->dim(4), problem.q = q->element_type, problem.kv = cache->element_type;
  problem.page_size = cache->dim(1);
  const int64_t sequences = std::max<int64_t>(call.numbers[0].shape->element_count(), 1);
  problem.most_keys = call.numbers[1].shape->element_count() / sequences * problem.page_size;
  if (problem.most_keys < 2) return std::nullopt;
  const bool decode = call.name.find("RPAd") != std::string_view::npos;
  bool is_assumed = false;
  problem.sequences = sequences_of(call, decode, q->dim(1), problem.most_keys, 2, is_assumed);
  std::string what = decode ? "ragged paged attention, decode" : "ragged paged attention, mixed";
  if (is_assumed) what += kAssumedLengths;
  if (problem.sequences.empty()) {  // of the other kind: its loops have no trips
    KernelSteps none(call.device, 1);
    none.add(1, {});
    return made_of(what + ", no sequences", true, std::move(none).finish());
  }
  PagedBlocks blocks = default_paged_blocks(call.device, problem);
  const auto q_size = number_behind(call.name, "bq"), kv_size = number_behind(call.name, "bkv");
  const bool given = q_size && kv_size;
  if (given) {
    const auto second = [&](std::string_view key, int64_t first) {  // "bkv_2048_512": fetched, computed
      const std::string pair = fmt::format("{}_{}", key, first);
      return number_behind(call.name, pair).value_or(first);
    };
    const int64_t kv_compute = second("bkv", *kv_size);
    if (decode)
      blocks.decode_kv = *kv_size, blocks.decode_kv_compute = kv_compute;
    else
      blocks.q = *q_size, blocks.q_compute = second("bq", *q_size), blocks.kv = *kv_size,
      blocks.kv_compute = kv_compute;
  }
  return made_of(std::move(what), given, paged_attention_cost(call.device, problem, blocks));
}

std::optional<KernelCall> latent_call(const ServingCall& call) {
  if (call.arrays.size() < 5 || call.numbers.size() < 3) return std::nullopt;
  const ShapeRef q = call.array(0), rope = call.array(1), cache = call.array(4);
  if (q->rank() != 4 || rope->rank() != 4 || cache->rank() != 4) return std::nullopt;
  LatentProblem problem;
  problem.heads = q->dim(1) * q->dim(2), problem.latent = q->dim(3), problem.rope = rope->dim(3);
  problem.q = q->element_type, problem.kv = cache->element_type;
  problem.page_size = cache->dim(1) * cache->dim(2);
  const int64_t count = std::max<int64_t>(call.numbers[0].shape->element_count(), 1);
  const int64_t most_keys = call.numbers[1].shape->element_count() / count * problem.page_size;
  if (most_keys < 2) return std::nullopt;
  const bool decode = call.name.find("MLA-m") == std::string_view::npos;
  bool is_assumed = false;
  problem.sequences = sequences_of(call, decode, q->dim(0), most_keys, 2, is_assumed);
  std::string what = decode ? "latent attention, decode" : "latent attention, mixed";
  if (is_assumed) what += kAssumedLengths;
  LatentBlocks blocks = default_latent_blocks();
  const auto pages = number_behind(call.name, "bkvp"), queries = number_behind(call.name, "bq");
  if (pages) (decode ? blocks.decode_pages : blocks.pages) = *pages;
  if (queries && !decode) blocks.queries = *queries;
  if (const auto batch = number_behind(call.name, "bsz"); batch && decode) blocks.decode_batch = *batch;
  if (problem.sequences.empty()) {
    KernelSteps none(call.device, 1);
    none.add(1, {});
    return made_of(what + ", no sequences", true, std::move(none).finish());
  }
  return made_of(std::move(what), pages.has_value(), latent_attention_cost(call.device, problem, blocks));
}

// ── quantised products ──

std::optional<KernelCall> quantized_call(const ServingCall& call) {
  const ShapeRef x = call.array(0), w = call.array(1);
  if (!x || !w || x->rank() != 2 || w->rank() != 2 || x->dim(1) != w->dim(1)) return std::nullopt;
  const QuantizedProblem problem{x->dim(0), x->dim(1), w->dim(0), x->element_type, w->element_type};
  std::optional<QuantizedBlocks> blocks;
  // "quantized_matmul_kernel_128_28672_256": rows, columns, depth.
  if (const auto rows = number_behind(call.name, "kernel"))
    if (const auto columns = number_behind(call.name, fmt::format("kernel_{}", *rows)))
      if (const auto depth = number_behind(call.name, fmt::format("kernel_{}_{}", *rows, *columns)))
        blocks = QuantizedBlocks{*rows, *columns, *depth};
  const bool given = blocks.has_value();
  const auto cost = [&](const QuantizedBlocks& one) {
    return quantized_product_cost(call.device, problem, one);
  };
  if (!given) blocks = best_blocks(call.device, quantized_block_candidates(call.device, problem), cost);
  if (!blocks) return std::nullopt;
  return made_of("quantised product", given, cost(*blocks));
}

struct ServingName {
  std::string_view word;
  std::optional<KernelCall> (*read)(const ServingCall& call);
};
constexpr ServingName kServingNames[] = {{"gmm", grouped_call}, {"RPAd-", paged_call},
                                         {"RPAm-", paged_call}, {"RPAp-", paged_call},
                                         {"MLA-", latent_call}, {"quantized_matmul", quantized_call}};

}  // namespace

std::optional<KernelCall> find_serving_call(const Module& module, const Instruction& instruction,
                                            const DeviceConfig& device, const CustomCallCosts* given) {
  ServingCall call{module, instruction, device, given};
  for (const ServingName& name : kServingNames) {
    if (call.name.find(name.word) == std::string_view::npos) continue;
    call.read();
    return name.read(call);
  }
  return std::nullopt;
}

}  // namespace hlosim
