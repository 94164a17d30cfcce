#include "cli/tune/mesh_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quantity_text.h"
#include "base/text.h"
#include "estimate/partition_over_mesh.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

std::vector<std::string> words(const std::string& text, char separator = ',') {
  std::vector<std::string> found;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
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
  const bool decodes = step->kind == StepKind::kDecode;
  const auto tokens = static_cast<double>(step->batch * (decodes ? 1 : step->sequence));
  into.programs.push_back({to_text(mesh), note, std::move(*module), std::move(source), tokens});
  return {};
}

/// One number of a list.
Result<int64_t> read_count(std::string_view option, const std::string& word, int64_t most) {
  const Result<int64_t> count = TextForm<int64_t>::read(word);
  if (count && *count >= 1 && *count <= most) return *count;
  return failure(fmt::format("{}: '{}' is no whole number from 1 to {}", option, shown(word), most),
                 fmt::format("as in {}=64,128 or {}=64..1024", option, option));
}

}  // namespace

Result<std::vector<int64_t>> read_counts(std::string_view option, const std::string& text, int64_t most) {
  std::set<int64_t> counts;
  for (const std::string& word : words(text)) {
    const size_t dots = word.find("..");
    const Result<int64_t> first = read_count(option, word.substr(0, dots), most);
    if (!first) return tl::unexpected(first.error());
    if (dots == std::string::npos) {
      counts.insert(*first);
      continue;
    }
    const Result<int64_t> last = read_count(option, word.substr(dots + 2), most);
    if (!last) return tl::unexpected(last.error());
    for (int64_t count = *first; count <= *last; count *= 2) counts.insert(count);
  }
  return std::vector<int64_t>(counts.begin(), counts.end());
}

Result<MeshPrograms> mesh_programs(const ModelConfig& model, const StepChoice& choice, int64_t devices,
                                   const std::vector<std::string>& axes,
                                   const std::vector<int64_t>& batches) {
  if (batches.empty())
    return failure("tune mesh of a model: --batch is missing",
                   "sequences of all devices together, the same on every mesh");
  MeshPrograms made;
  const std::vector<std::string> policies = words(choice.remat);
  for (const std::vector<int64_t>& sizes : factorizations(devices, axes.size())) {
    Mesh mesh;
    for (size_t i = 0; i < axes.size(); ++i) mesh.axes.push_back({axes[i], sizes[i]});
    for (const int64_t batch : batches)
      for (const std::string& policy : policies) {
        StepChoice own = choice;
        own.batch = batch;
        const std::vector<std::string> parts = words(policy, '+');
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
