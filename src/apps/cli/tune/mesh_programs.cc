#include "cli/tune/mesh_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/partition_over_mesh.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

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
  into.programs.push_back({to_text(mesh), note, std::move(*module), std::move(source)});
  return {};
}

}  // namespace

Result<MeshPrograms> mesh_programs(const ModelConfig& model, const StepChoice& choice, int64_t devices,
                                   const std::vector<std::string>& axes) {
  if (!choice.batch)
    return failure("tune mesh of a model: --batch is missing",
                   "sequences of all devices together, the same on every mesh");
  MeshPrograms made;
  const std::vector<std::string> policies = words(choice.remat);
  for (const std::vector<int64_t>& sizes : factorizations(devices, axes.size())) {
    Mesh mesh;
    for (size_t i = 0; i < axes.size(); ++i) mesh.axes.push_back({axes[i], sizes[i]});
    for (const std::string& policy : policies) {
      StepChoice own = choice;
      own.remat = policy;
      const std::string note = policies.size() > 1 ? "remat=" + policy : "";
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
