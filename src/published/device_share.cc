#include "published/device_share.h"

#include <algorithm>
#include <string_view>

namespace hlosim {
namespace {

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

DeviceShare device_share(const ModelConfig& model, const StepOptions& options) {
  DeviceShare share{model, options};
  const auto axis = [&](std::string_view name) -> int64_t {
    for (const MeshAxis& one : options.mesh.axes)
      if (one.name == name) return one.size;
    return 1;
  };
  const int64_t tensor = axis("tensor");
  const auto cut = [&](int64_t& size) { size = ceil_divide(size, tensor); };
  cut(share.model.q_heads), cut(share.model.kv_heads), cut(share.model.d_ff), cut(share.model.vocab);
  while (share.model.q_heads % share.model.kv_heads != 0) ++share.model.kv_heads;
  if (share.model.attention.global_kv_heads > 0) cut(share.model.attention.global_kv_heads);
  if (share.model.moe) {
    cut(share.model.moe->d_ff);
    cut(share.model.moe->d_ff_shared);
  }
  // Experts along their own axis: each device has so many, and the tokens that chose them.
  const int64_t length = axis("sequence") * axis("context");
  const int64_t batch = axis("data") * axis("fsdp") * axis("fsdp_transpose") * axis("expert");
  share.options.batch = std::max<int64_t>(1, options.batch / batch);
  share.options.sequence = std::max<int64_t>(1, options.sequence / length);
  share.options.mesh = {};
  share.options.gradients_only = options.kind == StepKind::kTrain;
  // What is gathered, and what is scattered, has the type of the products.
  share.options.param_type = share.options.grad_type = options.compute_type;
  return share;
}

}  // namespace hlosim
