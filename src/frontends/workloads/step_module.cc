#include "workloads/step_module.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/verifier.h"
#include "modules/module_rules.h"
#include "ops/op_table.h"
#include "workloads/body_writer.h"

namespace hlosim {

StepModule::StepModule(const ModelConfig& model, const StepOptions& options)
    : model_(model),
      options_(options),
      rules_(options.mesh, options.experts_on_fsdp, options.kind != StepKind::kTrain,
             options.experts_on_tensor),
      builder_(std::make_shared<const SourceFile>(model.name, ""), op_table(), problems_),
      parts_(builder_),
      groups_(layer_groups(model)) {
  if (has_layer_ahead()) groups_.push_back({model.layers, 1, 1});
}

InstructionId StepModule::parameter(const std::string& name, const ValueType& type,
                                    const std::vector<Axis>& axes) {
  std::vector<Attr> attrs;
  if (const std::string sharding = rules_.sharding(axes); !sharding.empty())
    attrs.push_back(builder_.text(AttrKey::kSharding, sharding));
  return builder_.parameter(body_, parts_.shape(type), name, parts_.place(name), attrs);
}

void StepModule::result(InstructionId value, const std::vector<Axis>& axes, int64_t in_place_of) {
  results_.push_back({value, rules_.sharding(axes), in_place_of});
}

void StepModule::add_model_parameters() {
  const auto add = [&](const std::string& name, ParameterSpec spec) {
    const InstructionId value = parameter(name, {type_of(spec), spec.dims, {}}, spec.axes);
    model_parameters_.push_back({name, std::move(spec), parameter_count() - 1, value});
  };
  for (const ParameterSpec& spec : outer_parameters(model_, options_.sequence)) add(spec.name, spec);
  if (has_layer_ahead())
    for (const ParameterSpec& spec : ahead_parameters(model_)) add(spec.name, spec);
  for (size_t g = 0; g < groups_.size(); ++g) {
    const LayerGroup& group = groups_[g];
    for (int64_t place = 0; place < group.period; ++place)
      for (ParameterSpec spec :
           stored_parameters(model_, group.first + place, options_.weight_type, options_.weight_block)) {
        const int64_t turns = options_.scan_layers ? 1 : group.repeats;
        if (options_.scan_layers) {
          spec.dims.insert(spec.dims.begin() + options_.stack_axis, group.repeats);
          spec.axes.insert(spec.axes.begin() + options_.stack_axis, Axis::kNone);
        }
        for (int64_t turn = 0; turn < turns; ++turn) {
          const int64_t layer = group.first + place + turn * group.period;
          const bool all_alike = options_.scan_layers && group.period == 1 && groups_.size() == 1;
          const std::string name =
              all_alike ? fmt::format("layers.{}", spec.name) : fmt::format("layers.{}.{}", layer, spec.name);
          places_.push_back({g, model_parameters_.size(), place, turn});
          add(name, spec);
        }
      }
  }
}

const StepParameter& StepModule::outer(std::string_view name) const {
  const auto found = std::find_if(model_parameters_.begin(), model_parameters_.end(),
                                  [&](const StepParameter& parameter) { return parameter.name == name; });
  HLOSIM_CHECK(found != model_parameters_.end(), "no parameter {}", name);
  return *found;
}

std::span<const StepModule::LayerPlace> StepModule::places_of(size_t group) const {
  // clang 14 can't take the subrange of std::ranges::equal_range() apart.
  const auto first = std::ranges::lower_bound(places_, group, {}, &LayerPlace::group);
  const auto last = std::ranges::upper_bound(places_, group, {}, &LayerPlace::group);
  return {first, last};
}

std::vector<StackedParameter> StepModule::group_parameters(size_t group) const {
  std::vector<StackedParameter> made;
  for (const LayerPlace& at : places_of(group)) {
    const StepParameter& parameter = model_parameters_[at.parameter];
    if (at.turn == 0) {
      made.push_back({parameter.spec, at.place, {}});
      if (options_.scan_layers) {
        made.back().spec.dims.erase(made.back().spec.dims.begin() + options_.stack_axis);
        made.back().spec.axes.erase(made.back().spec.axes.begin() + options_.stack_axis);
      }
    }
    made.back().values.push_back(parameter.value);
  }
  return made;
}

std::vector<std::vector<size_t>> StepModule::group_places(size_t group) const {
  std::vector<std::vector<size_t>> made;
  for (const LayerPlace& at : places_of(group)) {
    if (at.turn == 0) made.emplace_back();
    made.back().push_back(at.parameter);
  }
  return made;
}

Result<Module> StepModule::finish(const std::string& name) {
  const auto failed = [&] { return tl::unexpected(problems_.items().front()); };
  std::vector<InstructionId> values;
  std::string shardings;
  std::vector<Alias> aliases;
  Arena& arena = builder_.module().arena();
  for (const StepResult& result : results_) {
    const Dims index{static_cast<int64_t>(values.size())};
    if (result.in_place_of >= 0) aliases.push_back({arena.copy(index), result.in_place_of, {}, false});
    shardings += fmt::format("{}{}", values.empty() ? "" : ", ", result.sharding);
    values.push_back(result.value);
  }
  const InstructionId root = BodyWriter(parts_, body_).tuple(values);
  if (rules_.sharded())
    builder_.set_attr(root, builder_.text(AttrKey::kSharding, fmt::format("{{{}}}", shardings)));
  const ComputationId entry = builder_.close(body_, "main", root, 0);
  if (builder_.failed()) return failed();
  std::vector<Attr> header;
  if (!aliases.empty())
    header.push_back(
        Attr::make_list<Alias>(AttrKey::kInputOutputAlias, AttrSyntax::kAliases, arena.copy(aliases)));
  if (rules_.sharded()) header.push_back(Attr::make_int(AttrKey::kNumPartitions, options_.mesh.devices()));
  Module module = builder_.finish(name, entry, header);
  Limits limits;
  limits.devices = std::max(limits.devices, options_.mesh.devices());
  if (!verify(module, op_table(), problems_, limits) || !check_module_rules(module, op_table(), problems_))
    return failed();
  return module;
}

}  // namespace hlosim
