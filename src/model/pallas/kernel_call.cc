#include "model/pallas/kernel_call.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "model/custom_call_costs.h"
#include "model/pallas/attention.h"
#include "model/pallas/linear_loss.h"
#include "model/pallas/serving_call.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

constexpr std::string_view kTarget = "tpu_custom_call";

/// Where the value of `key` begins in `"key": value`, quotes escaped or not; empty: it isn't there.
std::string_view value_after(std::string_view text, std::string_view key) {
  constexpr std::string_view kAround = "\\\" ";
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const size_t end = at + key.size();
    const bool begins = at > 0 && kAround.find(text[at - 1]) != std::string_view::npos;
    const size_t colon = std::min(text.find_first_not_of(kAround, end), text.size());
    if (!begins || colon == end || colon == text.size() || text[colon] != ':') continue;
    return text.substr(std::min(text.find_first_not_of(kAround, colon + 1), text.size()));
  }
  return {};
}

std::optional<double> number_after(std::string_view text, std::string_view key) {
  const std::string_view value = value_after(text, key);
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || !(number >= 0) || number > 1e18) return std::nullopt;
  return number;
}

std::string_view text_of(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? attr->text() : std::string_view();
}

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// What a call says of itself.
class CallReader {
 public:
  CallReader(const Module& module, const Instruction& call)
      : module_(module),
        call_(call),
        name_(kernel_name(call)),
        op_name_(text_of(call, AttrKey::kMetadata)),
        config_(text_of(call, AttrKey::kBackendConfig)),
        metadata_(text_of(call, AttrKey::kFrontendAttributes)) {}

  bool named(std::string_view word) const { return has(name_, word) || has(op_name_, word); }
  /// The kernel's own name decides what it does; its place in the program would name both passes.
  bool phase(std::string_view word) const { return has(name_, word); }

  std::optional<int64_t> size(std::string_view key) const {
    const std::optional<double> value = number_after(metadata_, key);
    if (!value || *value < 1) return std::nullopt;
    return static_cast<int64_t>(*value);
  }
  /// What its maker says of the mask, `attention_mask` of the config (workloads/step.h).
  std::optional<int64_t> of_mask(std::string_view key) const {
    const size_t mask = config_.find("attention_mask");
    if (mask == std::string_view::npos) return std::nullopt;
    const std::optional<double> value = number_after(config_.substr(mask), key);
    if (!value || *value < 1) return std::nullopt;
    return static_cast<int64_t>(*value);
  }
  bool has_number(std::string_view key) const { return number_after(metadata_, key).has_value(); }
  bool notes(std::string_view key) const { return !value_after(metadata_, key).empty(); }
  bool is_false(std::string_view key) const { return value_after(metadata_, key).starts_with("false"); }

  ShapeRef operand(size_t i) const { return module_[call_.operands[i]].shape; }
  size_t operands() const { return call_.operands.size(); }
  /// Arrays of floating point numbers among the operands, in order; tables of masks come before them.
  std::vector<ShapeRef> floats() const {
    std::vector<ShapeRef> found;
    for (size_t i = 0; i < operands(); ++i)
      if (operand(i)->is_array() && is_floating(operand(i)->element_type)) found.push_back(operand(i));
    return found;
  }
  size_t results() const { return call_.shape->is_tuple() ? call_.shape->elements.size() : 1; }

  static bool is_floating(ElementType type) {
    return type == ElementType::kBF16 || type == ElementType::kF32 || type == ElementType::kF16 ||
           has(to_text(type), "f8");
  }

 private:
  const Module& module_;
  const Instruction& call_;
  std::string_view name_, op_name_, config_, metadata_;
};

// ── attention ──

AttentionPass pass_of(const CallReader& call) {
  if (call.phase("dkv") || call.phase("bwd"))
    return call.results() >= 3 ? AttentionPass::kBackward : AttentionPass::kBackwardKv;
  if (call.phase("dq")) return AttentionPass::kBackwardQ;
  return AttentionPass::kForward;
}

/// Reads [batch…, heads, sequence, head size] of the three arrays. `minor`: which have the sequence last.
bool read_arrays(const std::vector<ShapeRef>& floats, const AttentionBlocks& layouts,
                 AttentionProblem& problem) {
  if (floats.size() < 3) return false;
  const ShapeRef q = floats[0], k = floats[1], v = floats[2];
  const int64_t rank = q->rank();
  if (rank < 3 || rank > 8 || v->rank() != k->rank() || (k->rank() != rank && k->rank() != rank - 1))
    return false;
  const auto sequence = [](ShapeRef array, bool last) { return array->dim(array->rank() - (last ? 1 : 2)); };
  const auto size = [](ShapeRef array, bool last) { return array->dim(array->rank() - (last ? 2 : 1)); };
  problem.batch = 1;
  for (int64_t i = 0; i + 3 < rank; ++i) problem.batch *= q->dim(i);
  problem.heads = q->dim(rank - 3);
  problem.kv_heads = k->rank() == rank ? k->dim(rank - 3) : 1;
  problem.queries = sequence(q, layouts.q_sequence_minor);
  problem.head_size = size(q, layouts.q_sequence_minor);
  problem.keys = sequence(k, layouts.k_sequence_minor);
  problem.value_size = size(v, layouts.v_sequence_minor);
  problem.type = q->element_type;
  return size(k, layouts.k_sequence_minor) == problem.head_size &&
         sequence(v, layouts.v_sequence_minor) == problem.keys && problem.batch > 0 && problem.kv_heads > 0 &&
         problem.heads % problem.kv_heads == 0;
}

/// Tables of the blocks that a mask leaves, and positions that it compares.
void read_mask(const CallReader& call, AttentionPass pass, AttentionProblem& problem) {
  const bool forward = pass == AttentionPass::kForward;
  int64_t positions = 0;
  for (size_t i = 0; i < call.operands(); ++i) {
    const ShapeRef shape = call.operand(i);
    if (!shape->is_array() || shape->element_type != ElementType::kS32 || shape->rank() != 2) continue;
    // s32[queries,128] where keys lie along lanes, s32[8,queries] where queries do.
    if (shape->dim(0) == problem.queries || shape->dim(1) == problem.queries) ++positions;
  }
  problem.segments = call.phase("segmented");
  // Segments have an array of queries as well.
  problem.causal = positions > (problem.segments ? 1 : 0);
  problem.window = call.of_mask("window");
  if ((problem.active_blocks = call.of_mask("active_blocks"))) return;
  if (!forward) return;
  for (size_t i = 0; i < call.operands(); ++i) {
    const ShapeRef shape = call.operand(i);
    if (shape->is_array() && shape->element_type == ElementType::kS8 && shape->rank() == 1)
      problem.active_blocks = shape->dim(0);
  }
}

std::optional<AttentionBlocks> given_blocks(const CallReader& call, AttentionPass pass,
                                            AttentionBlocks layouts) {
  const std::string suffix = pass == AttentionPass::kForward     ? ""
                             : pass == AttentionPass::kBackwardQ ? "_dq"
                                                                 : "_dkv";
  const std::optional<int64_t> q = call.size("block_q" + suffix), kv = call.size("block_kv" + suffix);
  if (!q || !kv) return std::nullopt;
  layouts.q = *q, layouts.kv = *kv;
  layouts.kv_compute = call.size("block_kv" + suffix + "_compute").value_or(*kv);
  return layouts;
}

std::optional<KernelCall> attention_call(const CallReader& call, const DeviceConfig& device) {
  AttentionProblem problem;
  AttentionBlocks layouts;
  layouts.q_sequence_minor = call.size("q_layout") == 2;
  layouts.k_sequence_minor = call.size("k_layout") == 2;
  layouts.v_sequence_minor = call.size("v_layout") == 2;
  const AttentionPass pass = pass_of(call);
  if (!read_arrays(call.floats(), layouts, problem)) return std::nullopt;
  read_mask(call, pass, problem);
  problem.residuals = pass == AttentionPass::kForward && call.results() >= 3;
  problem.soft_cap = call.has_number("attn_logits_soft_cap");
  problem.known_maximum = call.has_number("max_logit_const");
  // Only tokamax's kernels note these. They mask the blocks that a mask cuts in a branch of their own and
  // take powers of two; those of JAX and torch_xla mask every block and take powers of e.
  const bool is_tokamax = call.notes("use_base2_exp") || call.notes("use_experimental_scheduler");
  problem.base2 = is_tokamax && !call.is_false("use_base2_exp");
  problem.masks_all = !is_tokamax;
  std::optional<AttentionBlocks> blocks = given_blocks(call, pass, layouts);
  const bool given = blocks.has_value();
  if (!given) {
    problem.active_blocks.reset();  // of blocks that we don't know
    blocks = best_attention_blocks(device, pass, problem);
  }
  if (!blocks) return std::nullopt;
  Result<KernelCost> cost = attention_cost(device, pass, problem, *blocks);
  if (!cost) return std::nullopt;
  const char* what = pass == AttentionPass::kForward      ? "attention, forward"
                     : pass == AttentionPass::kBackward   ? "attention, gradients"
                     : pass == AttentionPass::kBackwardKv ? "attention, gradients of keys and values"
                                                          : "attention, gradients of queries";
  return KernelCall{what, given, std::move(*cost)};
}

// ── loss ──

/// x and w are the two matrices that share the hidden dimension, x before w.
std::optional<KernelCall> loss_call(const CallReader& call, const DeviceConfig& device) {
  std::vector<ShapeRef> matrices;
  for (const ShapeRef array : call.floats())
    if (array->rank() == 2) matrices.push_back(array);
  if (matrices.size() < 2 || matrices[0]->dim(1) != matrices[1]->dim(0)) return std::nullopt;
  LinearLossProblem problem{.tokens = matrices[0]->dim(0),
                            .hidden = matrices[0]->dim(1),
                            .vocabulary = matrices[1]->dim(1),
                            .x = matrices[0]->element_type,
                            .w = matrices[1]->element_type,
                            .gradients = call.phase("backward") || call.phase("bwd") || call.phase("vjp")};
  std::optional<LinearLossBlocks> blocks;
  const std::optional<int64_t> b = call.size("b_block_size"), h = call.size("h_block_size"),
                               v = call.size("v_block_size");
  const bool given = b && h && v;
  if (given)
    blocks = LinearLossBlocks{*b, *h, *v};
  else
    blocks = best_linear_loss_blocks(device, problem);
  if (!blocks) return std::nullopt;
  Result<KernelCost> cost = linear_loss_cost(device, problem, *blocks);
  if (!cost) return std::nullopt;
  return KernelCall{problem.gradients ? "loss of a linear layer, gradients" : "loss of a linear layer", given,
                    std::move(*cost)};
}

}  // namespace

std::optional<KernelCall> find_kernel_call(const Module& module, const Instruction& instruction,
                                           const DeviceConfig& device, const CustomCallCosts* given) {
  if (custom_call_target(instruction) != kTarget) return std::nullopt;
  const CallReader call(module, instruction);
  if (call.named("linear_softmax_cross_entropy_loss")) return loss_call(call, device);
  if (call.named("splash_") || call.named("flash_attention")) return attention_call(call, device);
  return find_serving_call(module, instruction, device, given);
}

std::optional<CostEstimate> cost_estimate_of(const Instruction& instruction) {
  if (custom_call_target(instruction) != kTarget) return std::nullopt;
  std::string_view text = text_of(instruction, AttrKey::kBackendConfig);
  const size_t at = text.find("cost_estimate");
  if (at == std::string_view::npos) return std::nullopt;
  text = text.substr(at);
  text = text.substr(0, text.find('}'));
  const CostEstimate estimate{.flops = number_after(text, "flops").value_or(0),
                              .transcendentals = number_after(text, "transcendentals").value_or(0),
                              .bytes = number_after(text, "bytes_accessed").value_or(0)};
  if (estimate.flops + estimate.transcendentals + estimate.bytes <= 0) return std::nullopt;
  return estimate;
}

}  // namespace hlosim
