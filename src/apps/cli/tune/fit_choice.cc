#include "cli/tune/fit_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "console/device_input.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "study/fit_table.h"
#include "workloads/axis_rules.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

/// What changes with the size: the step or its model.
struct Sized {
  ModelConfig model;
  StepOptions step;
};

/// A size that can be searched for. Widths go by rows of registers.
struct FitKey {
  std::string_view name;
  int64_t* (*member)(Sized&);  // null: the model has none
  int64_t unit = 1;
};

constexpr int64_t kWidthUnit = 128;

constexpr FitKey kKeys[] = {
    {"batch", [](Sized& sized) { return &sized.step.batch; }},
    {"sequence", [](Sized& sized) { return &sized.step.sequence; }, kWidthUnit},
    {"layers", [](Sized& sized) { return &sized.model.layers; }},
    {"d_model", [](Sized& sized) { return &sized.model.d_model; }, kWidthUnit},
    {"d_ff", [](Sized& sized) { return &sized.model.d_ff; }, kWidthUnit},
    {"q_heads", [](Sized& sized) { return &sized.model.q_heads; }},
    {"kv_heads", [](Sized& sized) { return &sized.model.kv_heads; }},
    {"head_dim", [](Sized& sized) { return &sized.model.head_dim; }, kWidthUnit},
    {"vocab", [](Sized& sized) { return &sized.model.vocab; }, kWidthUnit},
    {"attention.window", [](Sized& sized) { return &sized.model.attention.window; }, kWidthUnit},
    {"moe.experts", [](Sized& sized) { return sized.model.moe ? &sized.model.moe->experts : nullptr; }},
    {"moe.d_ff", [](Sized& sized) { return sized.model.moe ? &sized.model.moe->d_ff : nullptr; }, kWidthUnit},
};

std::vector<const char*> key_names() {
  std::vector<const char*> names;
  for (const FitKey& key : kKeys) names.push_back(key.name.data());  // of literals
  return names;
}

/// The least number of which all sizes are multiples: what the mesh cuts, and whole periods of layers.
int64_t unit_of(const FitKey& key, const Sized& sized) {
  const AxisRules rules(sized.step.mesh, false, sized.step.kind != StepKind::kTrain);
  if (key.name == "batch") return rules.parts(Axis::kBatch);
  if (key.name == "sequence") return key.unit * rules.parts(Axis::kLength);
  if (key.name == "layers")
    return std::max<int64_t>(1, static_cast<int64_t>(sized.model.attention.pattern.size()));
  if (key.name == "q_heads") return std::max<int64_t>(1, sized.model.kv_heads);
  return key.unit;
}

constexpr int64_t kMostOfStep = int64_t{1} << 24;  // sequences, or tokens of one

int64_t largest_of(const FitKey& key) {
  return key.name == "batch" || key.name == "sequence" ? kMostOfStep : most_of(key.name);
}

Result<Module> make_sized(const FitKey& key, Sized sized, int64_t size) {
  *key.member(sized) = size;
  if (const std::optional<ModelFault> fault = model_fault(sized.model)) return failure(fault->message);
  return make_step(sized.model, sized.step);
}

int64_t tokens_of(const FitKey& key, Sized sized, int64_t size) {
  *key.member(sized) = size;
  return sized.step.batch * (sized.step.kind == StepKind::kDecode ? 1 : sized.step.sequence);
}

std::nullopt_t wrong(const Diagnostic& diagnostic, Streams streams) {
  tell(diagnostic, streams);
  return std::nullopt;
}

}  // namespace

void declare_fit(CommandLine& line, FitChoice& choice) {
  line.add_option("--fit", choice.key,
                  "Search the largest size that fits into the device's memory, and print the time of each "
                  "that is tried: batch, sequence, or a size of the model file")
      .one_of(key_names());
  line.add_option("--fit-step", choice.unit, "Sizes are multiples of it; 0: what mesh and registers ask for")
      .from(0);
  line.add_option("--fit-most", choice.most, "No larger size is tried").from(1);
  line.add_option("-d,--device", choice.simulation.device, "With --fit: device file, or a built-in device");
  declare_device_choices(line, choice.simulation.choices);
  line.add_option("--topology", choice.simulation.topology, "With --fit: slice of chips, as in 2x4");
  line.add_option("--format", choice.format, "Of the table of --fit: text or json")
      .one_of({"text", "json"})
      .show_default();
}

std::optional<FittedStep> fit_step(const ModelConfig& model, const StepOptions& step, const FitChoice& choice,
                                   Streams streams) {
  const FitKey& key = *std::ranges::find(kKeys, std::string_view(choice.key), &FitKey::name);
  Sized sized{model, step};
  if (!key.member(sized))
    return wrong(failure(fmt::format("--fit={}: the model has none", key.name)).value(), streams);
  const std::optional<SimulationSetting> setting = read_simulation(choice.simulation, streams);
  if (!setting) return std::nullopt;
  FitQuestion question{.unit = choice.unit > 0 ? choice.unit : unit_of(key, sized)};
  question.most = std::max(choice.most.value_or(largest_of(key)), question.unit);
  const MakeProgram make = [&](int64_t size) {
    const Step step_of_size(fmt::format("{} {}", key.name, size), streams);
    return make_sized(key, sized, size);
  };
  const Result<FitSearch> found =
      largest_that_fits(question, make, op_table(), setting->device, setting->estimate);
  if (!found) return wrong(found.error(), streams);
  const FitWords words{.key = key.name, .tokens = [&](int64_t size) { return tokens_of(key, sized, size); }};
  const DeviceConfig& device = setting->device.config;
  FittedStep fitted{choice.format == "json" ? to_json(*found, words, device) : to_text(*found, words, device),
                    std::nullopt};
  if (found->largest == 0) return fitted;
  Result<Module> module = make_sized(key, sized, found->largest);
  if (!module) return wrong(module.error(), streams);
  fitted.module = std::move(*module);
  return fitted;
}

}  // namespace hlosim
