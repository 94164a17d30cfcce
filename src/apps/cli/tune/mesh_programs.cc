#include "cli/tune/mesh_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/list_options.h"
#include "estimate/partition_over_mesh.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

Result<void> add(MeshPrograms& into, const ModelConfig& model, const StepChoice& choice, const Mesh& mesh,
                 const std::string& note) {
  const Result<StepOptions> step = step_options(choice, mesh);
  if (!step) return tl::unexpected(step.error());
  Result<Module> module = make_step(model, *step);
  if (!module) {
    std::string text = fmt::format("{}: {}", to_text(mesh), module.error().message);
    if (std::ranges::count(into.left_out, text) == 0) into.left_out.push_back(std::move(text));
    return {};
  }
  const std::string name = fmt::format("{} {}", to_text(mesh), note);
  auto source = std::make_shared<SourceFile>(name, to_text(*module, op_table()));
  const bool decodes = step->kind == StepKind::kDecode;
  const auto tokens = static_cast<double>(step->batch * (decodes ? 1 : step->sequence));
  into.programs.push_back({to_text(mesh), note, std::move(*module), std::move(source), tokens});
  return {};
}

}  // namespace

Result<MeshPrograms> mesh_programs(const ModelConfig& model, const StepChoice& choice, int64_t devices,
                                   const std::vector<std::string>& axes,
                                   const std::vector<int64_t>& batches) {
  if (batches.empty())
    return failure("tune mesh of a model: --batch is missing",
                   "sequences of all devices together, the same on every mesh");
  MeshPrograms made;
  const std::vector<std::string> policies = split(choice.remat, ',');
  for (const std::vector<int64_t>& sizes : factorizations(devices, axes.size())) {
    Mesh mesh;
    for (size_t i = 0; i < axes.size(); ++i) mesh.axes.push_back({axes[i], sizes[i]});
    for (const int64_t batch : batches)
      for (const std::string& policy : policies) {
        StepChoice own = choice;
        own.batch = batch;
        const std::vector<std::string> parts = split(policy, '+');
        own.remat = parts[0];
        own.keep.insert(own.keep.end(), parts.begin() + 1, parts.end());
        std::string note = batches.size() > 1 ? fmt::format("batch={}", batch) : "";
        if (policies.size() > 1) note += (note.empty() ? "remat=" : " remat=") + policy;
        if (Result<void> added = add(made, model, own, mesh, note); !added)
          return tl::unexpected(added.error());
      }
  }
  if (made.programs.empty())
    return failure("no mesh of these axes cuts the model",
                   made.left_out.empty() ? std::string() : made.left_out.front());
  return made;
}

}  // namespace hlosim
