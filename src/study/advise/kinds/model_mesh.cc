// Other meshes for a model's step: how many devices each axis has.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "estimate/partition_over_mesh.h"
#include "workloads/maxtext_settings.h"

namespace hlosim {
namespace {

/// The mesh with `factor` devices of axis `from` moved to axis `to`, axes of one device left out. Axes
/// across slices (data) come first.
Mesh with_moved_devices(const Mesh& mesh, std::string_view from, std::string_view to, int64_t factor) {
  Mesh moved{mesh.axes, {}};  // numbered slice by slice: the first axis goes over slices
  const auto find = [&](std::string_view name) {
    return std::ranges::find(moved.axes, name,
                             [](const MeshAxis& axis) { return std::string_view(axis.name); });
  };
  if (find(to) == moved.axes.end())
    moved.axes.insert(to == "data" ? moved.axes.begin() : moved.axes.end(), {std::string(to), 1});
  find(from)->size /= factor;
  find(to)->size *= factor;
  std::erase_if(moved.axes, [](const MeshAxis& axis) { return axis.size == 1; });
  return moved;
}

}  // namespace

std::vector<Proposal> find_meshes(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.mesh.devices() < 2) return found;
  const Mesh& mesh = model->step.mesh;
  const int64_t slices = subject.setup.options.simulate.slice.slices;
  std::set<std::string> seen = {to_text(mesh)};
  std::vector<int64_t> factors = {2, 4, 8};
  if (slices > 1) factors.insert(factors.begin(), slices);
  for (const std::string_view from : {"fsdp", "tensor", "data"})
    for (const int64_t factor : factors) {
      if (axis_size(mesh, from) % factor != 0) continue;
      for (const std::string_view to : {"data", "tensor", "fsdp"}) {
        if (to == from) continue;
        const Mesh moved = with_moved_devices(mesh, from, to, factor);
        if (!seen.insert(to_text(moved)).second) continue;
        Proposal& one = found.emplace_back();
        one.stage = EditStage::kModel;
        one.edit = edit_of_step([moved](StepOptions& step) { step.mesh = moved; });
        one.name = fmt::format("mesh={}", to_text(moved));
        one.problem = fmt::format("the mesh is {}", to_text(mesh));
        one.change = fmt::format(
            "MaxText: ici_*_parallelism (dcn_*_parallelism across slices) of {0}; JAX: "
            "jax.make_mesh of these axes; hlosim model --mesh={0}",
            to_text(moved));
        one.reason =
            "other axes exchange other arrays: parameters (fsdp), activations (tensor), gradients (data)";
        one.proof = ProofKind::kSameProgram;
      }
    }
  return found;
}

}  // namespace hlosim
