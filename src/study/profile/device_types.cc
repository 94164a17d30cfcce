#include "profile/device_types.h"

#include <cctype>
#include <charconv>

namespace hlosim {
namespace {

/// The first row of a generation is the profiler's own spelling.
constexpr struct {
  std::string_view type, generation;
} kTypes[] = {
    {"TPU v2", "v2"},   {"TPU v3", "v3"},  {"TPU v4", "v4"},   {"TPU v5 Lite", "v5e"},
    {"TPU v5e", "v5e"}, {"TPU v5", "v5p"}, {"TPU v5p", "v5p"}, {"TPU v6 Lite", "v6e"},
    {"TPU v6e", "v6e"}, {"TPU7x", "v7x"},  {"TPU v7x", "v7x"}, {"TPU v7", "v7x"},
};

bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  return true;
}

}  // namespace

std::string device_of_type(std::string_view device_type) {
  for (const auto& row : kTypes)
    if (same_letters(row.type, device_type)) return std::string(row.generation);
  return {};
}

std::optional<TpuCore> parse_tpu_core(std::string_view name) {
  constexpr std::string_view kDevice = "/device:TPU:";
  if (!name.starts_with(kDevice)) return std::nullopt;
  name.remove_prefix(kDevice.size());
  TpuCore core;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), core.device);
  if (error != std::errc() || core.device < 0) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(at - name.data()));
  if (name.empty()) return core;
  core.is_sparse = name.starts_with(" SparseCore ");
  return core.is_sparse ? std::optional(core) : std::nullopt;
}

std::string type_of_device(std::string_view generation, std::string_view name) {
  for (const auto& row : kTypes)
    if (row.generation == generation) return std::string(row.type);
  return std::string(name);
}

}  // namespace hlosim
