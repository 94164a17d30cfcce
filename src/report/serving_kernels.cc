#include "report/serving_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/rounding.h"
#include "base/text.h"
#include "interconnect/slice.h"
#include "interconnect/torus.h"
#include "model/kernel_blocks.h"

namespace hlosim {
namespace {

/// What a caller gives.
struct Given {
  SettingReader& arguments;
  SettingReader& blocks;
  std::string_view lengths;
};

// ── grouped products ──

constexpr std::string_view kGroupedArguments[] = {"lhs",    "rhs",       "groups",    "form",
                                                  "result", "residuals", "rhs_scale", "precision"};
constexpr std::string_view kGroupedBlocks[] = {"tile_m", "tile_k", "tile_n", "input_buffer_count", "cores"};
constexpr std::string_view kForms[] = {"forward", "lhs_gradient", "rhs_gradient"};

/// Tiles by the names of the operands' dimensions. A gradient of the left operand has them by those of the
/// product that it is, or, in older tables, by those of the forward product: the way round that leaves no
/// part of a tile empty.
GroupedBlocks grouped_tiles(const GroupedProblem& problem, GroupedBlocks blocks) {
  if (problem.form != GroupedForm::kTransposed) return blocks;
  const auto divides = [](int64_t tile, int64_t size) { return tile <= size && size % tile == 0; };
  const auto filled = [&](int64_t depth, int64_t columns) {
    return (divides(depth, problem.depth) ? 1 : 0) + (divides(columns, problem.columns) ? 1 : 0);
  };
  if (filled(blocks.n, blocks.k) > filled(blocks.k, blocks.n)) std::swap(blocks.k, blocks.n);
  return blocks;
}

void read_grouped_arrays(Given& given, GroupedProblem& problem) {
  SettingReader& read = given.arguments;
  problem.form = static_cast<GroupedForm>(read.word("form", kForms));
  const bool is_gradient = problem.form == GroupedForm::kWeightGradient;
  const ShapeRef lhs = read.array("lhs", 2, "bf16[131072,7168]");
  const ShapeRef rhs =
      read.array("rhs", is_gradient ? 2 : 3, is_gradient ? "bf16[131072,1024]" : "bf16[256,7168,1024]");
  if (is_gradient) problem.groups = read.whole("groups");
  if (!lhs || !rhs) return;
  problem.rows = lhs->dim(0), problem.depth = lhs->dim(1);
  problem.lhs = lhs->element_type, problem.rhs = rhs->element_type;
  if (is_gradient) {
    problem.columns = rhs->dim(1);
    if (rhs->dim(0) != lhs->dim(0))
      read.fail(fmt::format("rhs {} has other rows than lhs {}", to_text(rhs), to_text(lhs)));
    return;
  }
  const bool is_transposed = problem.form == GroupedForm::kTransposed;
  problem.groups = rhs->dim(0), problem.columns = rhs->dim(is_transposed ? 1 : 2);
  if (rhs->dim(is_transposed ? 2 : 1) != lhs->dim(1))
    read.fail(fmt::format("rhs {} does not contract with lhs {}", to_text(rhs), to_text(lhs)));
}

void read_grouped(Given& given, ServingRequest& into) {
  GroupedRequest request;
  GroupedProblem& problem = request.problem;
  read_grouped_arrays(given, problem);
  problem.result = given.arguments.type("result", ElementType::kBF16);
  problem.copied = given.arguments.flag("residuals", false);
  problem.scaled = given.arguments.flag("rhs_scale", bit_width(problem.rhs) < 16);
  problem.precision = given.arguments.precision();
  if (!given.lengths.empty()) {
    Result<std::vector<int64_t>> sizes = parse_counted_numbers(given.lengths);
    if (sizes)
      problem.sizes = std::move(*sizes);
    else
      given.arguments.fail("lengths: " + sizes.error().message, sizes.error().hint);
  }
  SettingReader& blocks = given.blocks;
  if (blocks.has("tile_m") || blocks.has("tile_k") || blocks.has("tile_n"))
    request.blocks =
        grouped_tiles(problem, {blocks.whole("tile_m"), blocks.whole("tile_k"), blocks.whole("tile_n"),
                                blocks.whole("input_buffer_count", 2), blocks.whole("cores", 1)});
  into = std::move(request);
}

// ── attention over pages ──

constexpr std::string_view kPagedArguments[] = {"q_heads",       "kv_heads", "head_size",
                                                "q_dtype",       "kv_dtype", "page_size",
                                                "max_model_len", "window",   "soft_cap"};
constexpr std::string_view kPagedBlocks[] = {"decode_bkv_sz", "decode_bkv_csz", "bq_sz",
                                             "bkv_sz",        "bq_csz",         "bkv_csz"};
constexpr std::string_view kPagedV2Blocks[] = {"num_kv_pages_per_block", "num_queries_per_block"};
constexpr std::string_view kLatentArguments[] = {"q_heads",   "kv_lora_rank", "qk_rope_head_dim",
                                                 "page_size", "q_dtype",      "kv_dtype"};
constexpr std::string_view kLatentBlocks[] = {"decode_num_kv_pages_per_block", "decode_batch_size",
                                              "num_kv_pages_per_block", "num_queries_per_block"};

std::vector<SequenceLength> read_sequences(Given& given) {
  Result<std::vector<SequenceLength>> sequences = parse_sequence_lengths(given.lengths);
  if (sequences) return std::move(*sequences);
  given.arguments.fail(sequences.error().message, sequences.error().hint);
  return {};
}

PagedProblem read_paged_problem(Given& given, PagedVersion version) {
  SettingReader& read = given.arguments;
  PagedProblem problem;
  problem.version = version;
  problem.heads = read.whole("q_heads"), problem.kv_heads = read.whole("kv_heads");
  problem.head_size = read.whole("head_size");
  problem.q = read.type("q_dtype", ElementType::kBF16);
  problem.kv = read.type("kv_dtype", problem.q);
  problem.page_size = read.whole("page_size", 128);
  problem.soft_cap = read.number("soft_cap");
  if (read.has("window")) problem.window = read.whole("window");
  problem.sequences = read_sequences(given);
  int64_t longest = 1;
  for (const SequenceLength& one : problem.sequences) longest = std::max(longest, one.keys);
  problem.most_keys = round_up(read.whole("max_model_len", longest), problem.page_size);
  return problem;
}

void read_paged(Given& given, ServingRequest& into) {
  PagedRequest request{read_paged_problem(given, PagedVersion::kV3), {}};
  SettingReader& read = given.blocks;
  // Those that are not given stay as servers take them; nothing of it depends on the device but the sizes.
  if (std::any_of(std::begin(kPagedBlocks), std::end(kPagedBlocks),
                  [&](auto name) { return read.has(name); })) {
    PagedBlocks blocks;
    if (read.has("decode_bkv_sz")) {
      blocks.decode_kv = read.whole("decode_bkv_sz");
      blocks.decode_kv_compute = read.whole("decode_bkv_csz", blocks.decode_kv);
    }
    if (read.has("bkv_sz") || read.has("bq_sz")) {
      blocks.q = read.whole("bq_sz"), blocks.kv = read.whole("bkv_sz");
      blocks.q_compute = read.whole("bq_csz", blocks.q);
      blocks.kv_compute = read.whole("bkv_csz", blocks.kv);
    }
    request.blocks = blocks;
  }
  into = std::move(request);
}

void read_paged_v2(Given& given, ServingRequest& into) {
  PagedRequest request{read_paged_problem(given, PagedVersion::kV2), {}};
  SettingReader& read = given.blocks;
  if (read.has("num_kv_pages_per_block") || read.has("num_queries_per_block"))
    request.blocks = PagedBlocks{.q = read.whole("num_queries_per_block"),
                                 .kv = read.whole("num_kv_pages_per_block") * request.problem.page_size};
  into = std::move(request);
}

void read_latent(Given& given, ServingRequest& into) {
  SettingReader& read = given.arguments;
  LatentRequest request;
  LatentProblem& problem = request.problem;
  problem.heads = read.whole("q_heads");
  problem.latent = read.whole("kv_lora_rank", 512), problem.rope = read.whole("qk_rope_head_dim", 64);
  problem.page_size = read.whole("page_size", 1024);
  problem.q = read.type("q_dtype", ElementType::kBF16);
  problem.kv = read.type("kv_dtype", problem.q);
  problem.sequences = read_sequences(given);
  const LatentBlocks usual = default_latent_blocks();
  SettingReader& sizes = given.blocks;
  if (std::any_of(std::begin(kLatentBlocks), std::end(kLatentBlocks),
                  [&](auto name) { return sizes.has(name); }))
    request.blocks = LatentBlocks{sizes.whole("decode_num_kv_pages_per_block", usual.decode_pages),
                                  sizes.whole("decode_batch_size", usual.decode_batch),
                                  sizes.whole("num_kv_pages_per_block", usual.pages),
                                  sizes.whole("num_queries_per_block", usual.queries)};
  into = std::move(request);
}

// ── experts, products ──

constexpr std::string_view kExpertArguments[] = {
    "tokens", "experts",     "shared_experts", "top_k", "d_model", "d_ff_expert",
    "ep",     "activations", "weights",        "wire",  "version"};
constexpr std::string_view kExpertBlocks[] = {"bt", "bts", "bf"};
/// v1 works its stages off one after the other as far as they depend on each other, v2 beside each other.
constexpr std::string_view kExpertVersions[] = {"v1", "v2"};
constexpr std::string_view kQuantizedArguments[] = {"x", "w"};
constexpr std::string_view kQuantizedBlocks[] = {"batch_block_size", "out_block_size", "in_block_size"};
constexpr std::string_view kProductArguments[] = {"lhs", "rhs", "result"};
constexpr std::string_view kSoftmaxArguments[] = {"scores", "v"};

void read_experts(Given& given, ServingRequest& into) {
  SettingReader& read = given.arguments;
  ExpertRequest request;
  ExpertProblem& problem = request.problem;
  problem.tokens = read.whole("tokens"), problem.experts = read.whole("experts");
  problem.shared_experts = read.has("shared_experts") ? read.whole("shared_experts") : 0;
  problem.top_k = read.whole("top_k");
  problem.model = read.whole("d_model"), problem.hidden = read.whole("d_ff_expert");
  problem.devices = read.has("ep") ? read.whole("ep") : 0;  // those of one host
  problem.activations = read.type("activations", ElementType::kBF16);
  problem.weights = read.type("weights", problem.activations);
  problem.wire = read.type("wire", problem.activations);
  problem.pipelined = read.word("version", kExpertVersions) == 1;
  const std::string_view tokens = problem.pipelined ? "bts" : "bt";
  if (given.blocks.has("bt") || given.blocks.has("bts"))
    request.blocks = ExpertBlocks{given.blocks.whole(tokens), given.blocks.whole("bf", 512)};
  into = std::move(request);
}

void read_quantized(Given& given, ServingRequest& into) {
  SettingReader& read = given.arguments;
  const ShapeRef x = read.array("x", 2, "bf16[128,4096]"), w = read.array("w", 2, "s8[28672,4096]");
  QuantizedRequest request;
  if (x && w) {
    request.problem = {x->dim(0), x->dim(1), w->dim(0), x->element_type, w->element_type};
    if (w->dim(1) != x->dim(1))
      read.fail(fmt::format("w {} is [outputs,inputs], but x {} has {} columns", to_text(w), to_text(x),
                            x->dim(1)));
  }
  SettingReader& blocks = given.blocks;
  if (std::any_of(std::begin(kQuantizedBlocks), std::end(kQuantizedBlocks),
                  [&](auto name) { return blocks.has(name); }))
    request.blocks = QuantizedBlocks{blocks.whole("batch_block_size"), blocks.whole("out_block_size"),
                                     blocks.whole("in_block_size")};
  into = std::move(request);
}

void read_product(Given& given, ServingRequest& into) {
  SettingReader& read = given.arguments;
  const ShapeRef lhs = read.array("lhs", 2, "bf16[8192,128]"), rhs = read.array("rhs", 2, "bf16[128,8192]");
  ProductRequest request;
  if (lhs && rhs) {
    request = {lhs->dim(0),       lhs->dim(1),       rhs->dim(1),
               lhs->element_type, rhs->element_type, lhs->element_type};
    if (rhs->dim(0) != lhs->dim(1))
      read.fail(fmt::format("rhs {} does not contract with lhs {}", to_text(rhs), to_text(lhs)));
  }
  request.result = read.type("result", request.lhs);
  into = request;
}

void read_softmax(Given& given, ServingRequest& into) {
  SettingReader& read = given.arguments;
  const ShapeRef scores = read.array("scores", 2, "bf16[8192,8192]"),
                 v = read.array("v", 2, "bf16[8192,128]");
  SoftmaxRequest request;
  if (scores && v) {
    request.problem = {scores->dim(0), scores->dim(1), v->dim(1), scores->element_type};
    if (v->dim(0) != scores->dim(1))
      read.fail(fmt::format("v {} does not contract with scores {}", to_text(v), to_text(scores)));
  }
  into = request;
}

// ── the table ──

constexpr std::string_view kGroupLengths = "rows of each group, as in 1024,0,6x512; without: dealt at random";
constexpr std::string_view kSequenceLengths = "sequences, as in 64x1:1500,448:2048";

struct ServingKernel {
  std::string_view name;
  std::span<const std::string_view> arguments, blocks;
  std::string_view lengths;
  void (*read)(Given& given, ServingRequest& into);
};
constexpr ServingKernel kKernels[] = {
    {"ragged_dot", kGroupedArguments, kGroupedBlocks, kGroupLengths, read_grouped},
    {"ragged_paged_attention", kPagedArguments, kPagedBlocks, kSequenceLengths, read_paged},
    {"ragged_paged_attention_v2", kPagedArguments, kPagedV2Blocks, kSequenceLengths, read_paged_v2},
    {"mla_ragged_paged_attention", kLatentArguments, kLatentBlocks, kSequenceLengths, read_latent},
    {"fused_ep_moe", kExpertArguments, kExpertBlocks, "", read_experts},
    {"quantized_matmul", kQuantizedArguments, kQuantizedBlocks, "", read_quantized},
    {"dot", kProductArguments, {}, "", read_product},
    {"softmax_of_scores", kSoftmaxArguments, {}, "", read_softmax},
};

const ServingKernel* find_kernel(std::string_view name) {
  const auto* const at = std::find_if(std::begin(kKernels), std::end(kKernels),
                                      [&](const ServingKernel& kernel) { return kernel.name == name; });
  return at == std::end(kKernels) ? nullptr : at;
}

// ── costs ──

int64_t devices_of_host(const DeviceConfig& device) {
  return std::max<int64_t>(device.host.chips, 1) * std::max<int64_t>(device.devices_per_chip(), 1);
}

/// Picoseconds per byte that a device sends to all others alike: the busiest cut of the most compact slice.
Result<double> exchange_rate(const DeviceConfig& device, int64_t devices) {
  if (devices <= 1) return 0;
  AssumptionList assumptions;
  const int64_t per_chip = std::max<int64_t>(device.devices_per_chip(), 1);
  SliceRequest request;
  request.devices = round_up(devices, per_chip);
  const Result<Slice> slice = choose_slice(device, request, devices, assumptions);
  if (!slice) return tl::unexpected(slice.error());
  std::vector<TorusAxis> axes;
  for (size_t i = 0; i < slice->sides.size(); ++i)
    if (slice->sides[i] > 1) axes.push_back({static_cast<int64_t>(i), slice->sides[i], slice->wraps[i]});
  if (axes.empty())  // devices of one chip
    return 1e12 / (device.ici.die_to_die ? *device.ici.die_to_die : device.ici.bandwidth).count();
  return 1e12 * all_to_all_seconds(axes, as_double(per_chip), device.ici.bandwidth.count());
}

Result<KernelCost> cost_with(const DeviceConfig& device, const GroupedProblem& problem,
                             const GroupedBlocks& blocks) {
  Result<KernelCost> cost = grouped_product_cost(device, problem, blocks);
  if (cost) add_passes(*cost, grouped_product_passes(device, problem));
  return cost;
}
Result<KernelCost> cost_with(const DeviceConfig& device, const PagedProblem& problem, PagedBlocks blocks) {
  // Blocks of the call that has none are those that servers take.
  const PagedBlocks usual = default_paged_blocks(device, problem);
  if (blocks.decode_kv == 0)
    blocks.decode_kv = usual.decode_kv, blocks.decode_kv_compute = usual.decode_kv_compute;
  if (blocks.kv == 0) {
    blocks.q = usual.q, blocks.q_compute = usual.q_compute;
    blocks.kv = usual.kv, blocks.kv_compute = usual.kv_compute;
  }
  Result<KernelCost> cost = paged_attention_cost(device, problem, blocks);
  if (cost) add_passes(*cost, paged_attention_passes(device, problem));
  return cost;
}
Result<KernelCost> cost_with(const DeviceConfig& device, const LatentProblem& problem,
                             const LatentBlocks& blocks) {
  return latent_attention_cost(device, problem, blocks);
}
Result<KernelCost> cost_with(const DeviceConfig& device, const ExpertProblem& problem,
                             const ExpertBlocks& blocks) {
  ExpertProblem placed = problem;
  if (placed.devices == 0) placed.devices = devices_of_host(device);
  const Result<double> rate = exchange_rate(device, placed.devices);
  if (!rate) return tl::unexpected(rate.error());
  placed.exchange = *rate;
  return expert_layer_cost(device, placed, blocks);
}
Result<KernelCost> cost_with(const DeviceConfig& device, const QuantizedProblem& problem,
                             const QuantizedBlocks& blocks) {
  Result<KernelCost> cost = quantized_product_cost(device, problem, blocks);
  if (cost) add_passes(*cost, quantized_product_passes(device, problem));
  return cost;
}

std::vector<GroupedBlocks> candidates_of(const DeviceConfig& device, const GroupedProblem& problem) {
  return grouped_block_candidates(device, problem);
}
std::vector<PagedBlocks> candidates_of(const DeviceConfig& device, const PagedProblem& problem) {
  return paged_block_candidates(device, problem);
}
std::vector<LatentBlocks> candidates_of(const DeviceConfig& device, const LatentProblem& problem) {
  return latent_block_candidates(device, problem);
}
std::vector<ExpertBlocks> candidates_of(const DeviceConfig& device, const ExpertProblem& problem) {
  ExpertProblem placed = problem;
  if (placed.devices == 0) placed.devices = devices_of_host(device);
  return expert_block_candidates(placed);
}
std::vector<QuantizedBlocks> candidates_of(const DeviceConfig& device, const QuantizedProblem& problem) {
  return quantized_block_candidates(device, problem);
}

template <class Problem>
Result<BlockRanking> ranking_of(const DeviceConfig& device, const Problem& problem) {
  const auto candidates = candidates_of(device, problem);
  std::optional<Diagnostic> first;
  BlockRanking ranking = rank_candidates(std::span(candidates), [&](const auto& blocks) {
    Result<KernelCost> cost = cost_with(device, problem, blocks);
    if (!cost && !first) first = cost.error();
    return cost;
  });
  if (ranking.fitting.empty() && ranking.rejected.empty() && first) return tl::unexpected(*first);
  return ranking;
}

template <class Problem>
Result<KernelCost> best_of(const DeviceConfig& device, const Problem& problem) {
  Result<BlockRanking> ranking = ranking_of(device, problem);
  if (!ranking) return tl::unexpected(ranking.error());
  if (!ranking->fitting.empty()) return std::move(ranking->fitting.front());
  if (ranking->rejected.empty()) return failure("no blocks divide these sizes");
  return failure(fmt::format("no blocks fit into {}: the smallest need {}",
                             to_text(ranking->rejected.front().vmem_limit),
                             to_text(ranking->rejected.front().vmem)));
}

Result<KernelCost> product_cost(const DeviceConfig& device, const ProductRequest& request) {
  const Core core(device);
  const Result<MatmulRate> rate = kernel_rate(device, "dot", request.lhs, request.rhs);
  if (!rate) return tl::unexpected(rate.error());
  const auto elements = [](int64_t a, int64_t b, ElementType type) {
    return as_double(a) * as_double(b) * element_bytes(type);
  };
  ProductWork work;
  work.matmul = {
      .m = request.rows, .n = request.columns, .k = request.depth, .lhs = request.lhs, .rhs = request.rhs};
  work.rate = *rate;
  work.lhs = {.bytes = elements(request.rows, request.depth, request.lhs), .channel = 0};
  work.rhs = {.bytes = elements(request.depth, request.columns, request.rhs), .channel = 0};
  const double written = elements(request.rows, request.columns, request.result);
  work.other.bytes.out[0] = written;
  TimedKernel planned = product_kernel(core, work);
  const Kernel& kernel = planned.kernel;
  KernelAmounts amounts;
  amounts.mxu = kernel.works.front().mxu * device.clock.count() / 1e12;
  amounts.multiply_adds =
      as_double(request.rows) * as_double(request.columns) * as_double(request.depth) / kernel.cores;
  amounts.read = (work.lhs.bytes * kernel.lhs_times + work.rhs.bytes * kernel.rhs_times) / kernel.cores;
  amounts.written = written / kernel.cores;
  KernelCost cost = kernel_cost_of(core, kernel, amounts);
  cost.grid = {ceil_div(request.rows, kernel.blocks.m), ceil_div(request.columns, kernel.blocks.n),
               ceil_div(request.depth, kernel.blocks.k)};
  cost.computed = cost.steps;
  cost.blocks = {{"m", kernel.blocks.m}, {"n", kernel.blocks.n}, {"k", kernel.blocks.k}};
  return cost;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

std::span<const std::string_view> serving_kernel_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kKernels)> names{};
    for (size_t i = 0; i < names.size(); ++i) names[i] = kKernels[i].name;
    return names;
  }();
  return kNames;
}

std::span<const std::string_view> serving_kernel_arguments(std::string_view kernel) {
  const ServingKernel* const found = find_kernel(kernel);
  return found ? found->arguments : std::span<const std::string_view>{};
}
std::span<const std::string_view> serving_kernel_blocks(std::string_view kernel) {
  const ServingKernel* const found = find_kernel(kernel);
  return found ? found->blocks : std::span<const std::string_view>{};
}

Result<ServingRequest> read_serving_kernel(std::string_view kernel, std::span<const KernelSetting> arguments,
                                           std::span<const KernelSetting> blocks, std::string_view lengths) {
  const ServingKernel* const found = find_kernel(kernel);
  if (!found) return failure(fmt::format("unknown kernel \"{}\"", shown(kernel)));
  SettingReader read(arguments, found->arguments, "argument"), sizes(blocks, found->blocks, "block size");
  if (!lengths.empty() && found->lengths.empty()) read.fail(fmt::format("{} takes no lengths", kernel));
  Given given{read, sizes, lengths};
  ServingRequest request;
  found->read(given, request);
  if (read.error()) return tl::unexpected(*read.error());
  if (sizes.error()) return tl::unexpected(*sizes.error());
  return request;
}

Result<KernelCost> serving_kernel_cost(const DeviceConfig& device, const ServingRequest& request) {
  return std::visit(
      Overloaded{[&](const PagedRequest& one) {
                   return cost_with(device, one.problem, one.blocks.value_or(PagedBlocks{}));
                 },
                 [&](const LatentRequest& one) {
                   return cost_with(device, one.problem, one.blocks.value_or(default_latent_blocks()));
                 },
                 [&](const ProductRequest& one) { return product_cost(device, one); },
                 [&](const SoftmaxRequest& one) { return score_softmax_cost(device, one.problem); },
                 [&](const auto& one) {
                   return one.blocks ? cost_with(device, one.problem, *one.blocks)
                                     : best_of(device, one.problem);
                 }},
      request);
}

Result<BlockRanking> rank_serving_blocks(const DeviceConfig& device, const ServingRequest& request) {
  return std::visit(
      [&](const auto& one) -> Result<BlockRanking> {
        using Request = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Request, ProductRequest> || std::is_same_v<Request, SoftmaxRequest>)
          return failure("the kernel has no blocks to choose");
        else
          return ranking_of(device, one.problem);
      },
      request);
}

bool has_blocks(const ServingRequest& request) {
  return std::visit(
      [](const auto& one) {
        using Request = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Request, ProductRequest> || std::is_same_v<Request, SoftmaxRequest>)
          return false;
        else
          return one.blocks.has_value();
      },
      request);
}

std::string_view blocks_origin(const ServingRequest& request) {
  const bool is_default =
      std::holds_alternative<PagedRequest>(request) || std::holds_alternative<LatentRequest>(request);
  return is_default ? "what servers take by default" : "the best that fit";
}

double serving_kernel_bytes(const ServingRequest& request) {
  const auto size = [](int64_t a, int64_t b, ElementType type) {
    return as_double(a) * as_double(b) * element_bytes(type);
  };
  constexpr int64_t kLanes = 128;  // of a cache's rows
  return std::visit(
      Overloaded{
          [&](const GroupedRequest& one) {
            const GroupedProblem& p = one.problem;
            const double weights = as_double(p.groups) * as_double(p.depth) * as_double(p.columns);
            return size(p.rows, p.depth, p.lhs) + size(p.rows, p.columns, p.result) +
                   weights * element_bytes(p.rhs);
          },
          [&](const PagedRequest& one) {
            double bytes = 2 * size(query_tokens(one.problem.sequences),
                                    one.problem.heads * one.problem.head_size, one.problem.q);
            for (const SequenceLength& sequence : one.problem.sequences)
              bytes += as_double(sequence.count * sequence.keys) * cache_bytes_per_token(one.problem, kLanes);
            return bytes;
          },
          [&](const LatentRequest& one) {
            const LatentProblem& p = one.problem;
            double bytes = size(query_tokens(p.sequences), p.heads * (2 * p.latent + p.rope), p.q);
            for (const SequenceLength& sequence : p.sequences)
              bytes += size(sequence.count * sequence.keys, p.latent + p.rope, p.kv);
            return bytes;
          },
          [&](const ExpertRequest& one) {
            return one.problem.devices > 0 ? expert_layer_bytes(one.problem) : 0;
          },
          [&](const QuantizedRequest& one) {
            const QuantizedProblem& p = one.problem;
            return size(p.rows, p.depth + p.columns, p.activations) + size(p.columns, p.depth, p.weights);
          },
          [&](const ProductRequest& one) {
            return size(one.rows, one.depth, one.lhs) + size(one.depth, one.columns, one.rhs) +
                   size(one.rows, one.columns, one.result);
          },
          [&](const SoftmaxRequest& one) {
            const ScoreSoftmaxProblem& p = one.problem;
            return size(p.queries, p.keys, p.type) + size(p.keys + p.queries, p.head_size, p.type);
          }},
      request);
}

}  // namespace hlosim
