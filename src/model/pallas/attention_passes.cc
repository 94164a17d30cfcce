// Arrays come as [batch, sequence, heads, head size], in the layout of least padding: a head size of whole
// lanes is the minor dimension, else the sequence is. A kernel wants [batch, heads, sequence, head size] with
// the head size minor (padded to lanes), or with the sequence minor.
#include "base/rounding.h"
#include "model/core.h"
#include "model/pallas/attention.h"

namespace hlosim {
namespace {

class Passes {
 public:
  Passes(const DeviceConfig& device, const AttentionProblem& problem)
      : device_(device), core_(device), problem_(problem), size_(as_double(bit_width(problem.type)) / 8) {}

  /// Bytes of [batch, heads, sequence, size] as it comes, and as the kernel has it.
  double plain(int64_t heads, int64_t sequence, int64_t size) const {
    return as_double(problem_.batch) * as_double(heads) * as_double(sequence) * as_double(size) * size_;
  }
  double inside(int64_t heads, int64_t sequence, int64_t size, bool sequence_minor) const {
    if (sequence_minor) return plain(heads, sequence, size);
    return as_double(problem_.batch) * as_double(heads) * as_double(sequence) *
           as_double(round_up(size, core_.lanes())) * size_;
  }

  /// An array on its way into the kernel. `scaled`: a factor is multiplied in.
  void enters(std::string_view name, int64_t heads, int64_t sequence, int64_t size, bool sequence_minor,
              bool scaled) {
    const double from = plain(heads, sequence, size);
    const bool lies_so = sequence_minor && size % core_.lanes() != 0;
    if (lies_so) {
      if (scaled) add(name, "scaled", from, from);
      return;
    }
    // The factor goes with the change of layout where rows stay rows.
    if (scaled && size % core_.lanes() != 0) add(name, "scaled", from, from);
    add(name, "turned", from, inside(heads, sequence, size, sequence_minor));
  }
  void leaves(std::string_view name, int64_t heads, int64_t sequence, int64_t size) {
    add(name, "turned back", inside(heads, sequence, size, false), plain(heads, sequence, size));
  }
  void add(std::string_view name, std::string_view what, double read, double written) {
    passes_.push_back(kernel_pass(device_, std::string(name) + " " + std::string(what), read, written));
  }
  const Core& core() const { return core_; }
  std::vector<KernelPass> take() { return std::move(passes_); }

 private:
  const DeviceConfig& device_;
  const Core core_;
  const AttentionProblem& problem_;
  const double size_;
  std::vector<KernelPass> passes_;
};

}  // namespace

std::vector<KernelPass> attention_passes(const DeviceConfig& device, AttentionPass pass,
                                         const AttentionProblem& problem, const AttentionBlocks& blocks) {
  Passes passes(device, problem);
  const int64_t heads = problem.heads, kv_heads = problem.kv_heads;
  passes.enters("q", heads, problem.queries, problem.head_size, blocks.q_sequence_minor, true);
  passes.enters("k", kv_heads, problem.keys, problem.head_size, blocks.k_sequence_minor, false);
  passes.enters("v", kv_heads, problem.keys, problem.value_size, blocks.v_sequence_minor, false);
  const double rows = as_double(problem.batch) * as_double(heads) * as_double(problem.queries);
  if (pass == AttentionPass::kForward) {
    passes.leaves("out", heads, problem.queries, problem.value_size);
    if (problem.residuals)
      passes.add("residuals", "picked",
                 rows * 2 * as_double(passes.core().lanes()) * 4 * device.kernel.row_pick, rows * 2 * 4);
    return passes.take();
  }
  const double out = passes.plain(heads, problem.queries, problem.value_size);
  passes.enters("dout", heads, problem.queries, problem.value_size, false, false);
  passes.add("out * dout", "summed", 2 * out, rows * 4);
  passes.add("sums of rows", "spread over sublanes", rows * 2 * 4,
             rows * 2 * as_double(passes.core().sublanes()) * 4);
  const double dq = passes.inside(heads, problem.queries, problem.head_size, false);
  const int64_t parts = problem.keys / blocks.kv;
  if (pass == AttentionPass::kBackward && parts > 1)
    passes.add("dq", "summed over blocks of keys", dq * as_double(parts), dq);
  if (pass != AttentionPass::kBackwardKv) passes.leaves("dq", heads, problem.queries, problem.head_size);
  if (pass != AttentionPass::kBackwardQ) {
    passes.leaves("dk", kv_heads, problem.keys, problem.head_size);
    passes.leaves("dv", kv_heads, problem.keys, problem.value_size);
  }
  return passes.take();
}

}  // namespace hlosim
