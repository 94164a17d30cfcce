// Results that may overwrite arguments of the same shape: donation.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "modules/edit.h"

namespace hlosim {
namespace {

struct DonatedPair {
  int64_t output = 0, parameter = 0;
  int64_t bytes = 0;
};

/// Numbers of the results that overwrite arguments.
std::set<int64_t> aliased_outputs(const Module& module) {
  std::set<int64_t> taken;
  if (const Attr* attr = module.find(AttrKey::kInputOutputAlias))
    for (const Alias& alias : attr->aliases())
      taken.insert(alias.output_index.empty() ? 0 : alias.output_index[0]);
  return taken;
}

/// Each result with the first argument of its shape that no other has.
std::vector<DonatedPair> donated_pairs(const Module& module) {
  std::vector<DonatedPair> pairs;
  const ShapeRef result = module.root(module.entry).shape;
  std::set<int64_t> parameters = aliased_parameters(module);
  const std::set<int64_t> outputs = aliased_outputs(module);
  const size_t count = result->is_tuple() ? result->elements.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const ShapeRef shape = result->is_tuple() ? result->elements[i] : result;
    if (!shape->is_array() || outputs.contains(static_cast<int64_t>(i))) continue;
    for (const InstructionId id : module.entry_computation().parameters) {
      const Instruction& parameter = module[id];
      if (parameter.shape != shape || parameters.contains(parameter.parameter_number)) continue;
      parameters.insert(parameter.parameter_number);
      pairs.push_back({static_cast<int64_t>(i), parameter.parameter_number, logical_bytes(shape)});
      break;
    }
  }
  return pairs;
}

Result<void> add_aliases(Module& module, const std::vector<DonatedPair>& pairs) {
  const bool is_tuple = module.root(module.entry).shape->is_tuple();
  std::vector<Alias> aliases;
  if (const Attr* attr = module.find(AttrKey::kInputOutputAlias))
    aliases.assign(attr->aliases().begin(), attr->aliases().end());
  for (const DonatedPair& pair : pairs) {
    Alias& alias = aliases.emplace_back();
    const int64_t index[] = {pair.output};
    if (is_tuple) alias.output_index = module.arena().copy(std::span<const int64_t>(index));
    alias.parameter = pair.parameter;
  }
  std::vector<Attr> attrs;
  for (const Attr& attr : module.attrs)
    if (attr.key != AttrKey::kInputOutputAlias) attrs.push_back(attr);
  attrs.push_back(Attr::make_list<Alias>(AttrKey::kInputOutputAlias, AttrSyntax::kAliases,
                                         module.arena().copy(std::span<const Alias>(aliases))));
  module.attrs = module.arena().copy(std::span<const Attr>(attrs));
  return {};
}

}  // namespace

std::vector<Proposal> find_donation(const AdviceSubject& subject) {
  if (subject.setup.model) return {};
  const Module& module = *subject.setup.module;
  const std::vector<DonatedPair> pairs = donated_pairs(module);
  if (pairs.empty()) return {};
  int64_t bytes = 0;
  std::string numbers;
  constexpr size_t kMostNumbers = 12;
  for (size_t i = 0; i < pairs.size(); ++i) {
    bytes += pairs[i].bytes;
    if (i < kMostNumbers) numbers += fmt::format("{}{}", i ? ", " : "", pairs[i].parameter);
    if (i == kMostNumbers) numbers += ", ...";
  }
  Proposal one;
  one.edit = edit_of_module(subject.table, [](ModuleEditor& editor, TrialSetup&) {
    return add_aliases(editor.module(), donated_pairs(editor.module()));
  });
  const bool is_one = pairs.size() == 1;
  one.name = is_one ? "1 argument" : fmt::format("{} arguments", pairs.size());
  one.problem = is_one ? fmt::format("a result ({}) has the shape of an argument and memory of its own",
                                     to_text(Bytes(bytes)))
                       : fmt::format("{} results ({}) have the shapes of arguments and memory of their own",
                                     pairs.size(), to_text(Bytes(bytes)));
  one.change = fmt::format(
      "jax.jit(f, donate_argnums=...) for parameter{} {} of the module: the caller must not use donated "
      "arrays "
      "afterwards",
      is_one ? "" : "s", numbers);
  one.reason = "results are written into the arguments' memory";
  one.proof = ProofKind::kSameProgram;
  one.for_memory = true;
  return {one};
}

}  // namespace hlosim
