#include "workloads/axis_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace hlosim {
namespace {

constexpr std::array<std::string_view, 7> kAxes = {"data",   "fsdp",    "fsdp_transpose", "sequence",
                                                   "tensor", "context", "expert"};

std::vector<std::string_view> names_of(Axis axis, bool experts_on_fsdp, bool serves, bool experts_on_tensor) {
  const bool is_experts = axis == Axis::kExperts || axis == Axis::kActExperts;
  if (experts_on_tensor && is_experts) return {"expert", "tensor"};
  if (serves && (axis == Axis::kNorm || axis == Axis::kHidden)) return {};
  if (serves && axis == Axis::kEmbed) return {"fsdp", "fsdp_transpose", "sequence", "context"};
  switch (axis) {
    case Axis::kNone:
      return {};
    case Axis::kEmbed:
      return {"fsdp", "fsdp_transpose", "sequence", "context", "expert"};
    case Axis::kMlp:
      return {"fsdp_transpose", "tensor"};
    case Axis::kExperts:
      if (experts_on_fsdp) return {"expert", "fsdp"};
      return {"expert"};
    case Axis::kActExperts:
      return {"expert"};
    case Axis::kBatch:
      return {"data", "fsdp", "fsdp_transpose", "expert"};
    case Axis::kExpertBatch:
      return {"data", "fsdp", "fsdp_transpose"};
    case Axis::kLength:
      return {"sequence", "context"};
    case Axis::kTokens:
      return {"data", "fsdp", "fsdp_transpose", "expert", "sequence", "context"};
    case Axis::kVocab:
    case Axis::kHeads:
    case Axis::kNorm:
    case Axis::kHidden:
    case Axis::kActMlp:
    case Axis::kActHeads:
    case Axis::kActVocab:
      return {"tensor"};
  }
  return {};
}

}  // namespace

std::vector<size_t> AxisRules::candidates(Axis axis) const {
  std::vector<size_t> found;
  for (const std::string_view name : names_of(axis, experts_on_fsdp_, serves_, experts_on_tensor_))
    for (size_t i = 0; i < mesh_.axes.size(); ++i)
      if (mesh_.axes[i].name == name && mesh_.axes[i].size > 1) found.push_back(i);
  return found;
}

/// kEmbed takes what the others leave.
AxisSharding AxisRules::axes(std::span<const Axis> dims) const {
  AxisSharding sharding;
  sharding.dimensions.resize(dims.size());
  std::vector<bool> used(mesh_.axes.size());
  for (const bool embed : {false, true})
    for (size_t i = 0; i < dims.size(); ++i)
      if ((dims[i] == Axis::kEmbed) == embed)
        for (const size_t axis : candidates(dims[i]))
          if (!used[axis]) {
            sharding.dimensions[i].push_back({axis, 1, mesh_.axes[axis].size});
            used[axis] = true;
          }
  return sharding;
}

std::string AxisRules::sharding(const std::vector<Axis>& dims) const {
  return sharded() ? sharding_text(mesh_, axes(dims)) : std::string();
}

int64_t AxisRules::parts(Axis axis) const {
  int64_t parts = 1;
  for (const size_t i : candidates(axis)) parts *= mesh_.axes[i].size;
  return parts;
}

std::string AxisRules::fault(std::string_view what, const std::vector<Axis>& dims, const Dims& sizes) const {
  const AxisSharding sharding = axes(dims);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t tiles = sharding.tiles(i);
    if (sizes[i] % tiles == 0) continue;
    std::string names;
    for (const AxisPart& part : sharding.dimensions[i])
      names += fmt::format("{}{}={}", names.empty() ? "" : ",", mesh_.axes[part.axis].name, part.size);
    return fmt::format("{} {} can't be sharded by {}: it is not a multiple of {}", what, sizes[i], names,
                       tiles);
  }
  return {};
}

std::string AxisRules::unknown_axis() const {
  for (const MeshAxis& axis : mesh_.axes)
    if (std::find(kAxes.begin(), kAxes.end(), axis.name) == kAxes.end())
      return fmt::format("no rule knows the mesh axis '{}': one of {}", axis.name, fmt::join(kAxes, ", "));
  return {};
}

}  // namespace hlosim
