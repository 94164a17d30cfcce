#include "profile/tpu_core.h"

#include <charconv>

namespace hlosim {

std::optional<TpuCore> parse_tpu_core(std::string_view name) {
  constexpr std::string_view kDevice = "/device:TPU:";
  if (!name.starts_with(kDevice)) return std::nullopt;
  name.remove_prefix(kDevice.size());
  TpuCore core;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), core.device);
  if (error != std::errc() || core.device < 0) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(at - name.data()));
  if (name.empty()) return core;
  core.is_beside = name.starts_with(" SparseCore ");
  return core.is_beside ? std::optional(core) : std::nullopt;
}

std::string_view operations_line(bool is_beside) { return is_beside ? "Sparse Core Ops" : "XLA Ops"; }

}  // namespace hlosim
