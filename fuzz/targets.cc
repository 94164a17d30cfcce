#include "targets.h"

namespace hlosim::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"check", InputForm::kModule, check_module},
    {"report.v4", InputForm::kModule, report_on_v4},
    {"report.v5e", InputForm::kModule, report_on_v5e},
    {"report.v6e", InputForm::kModule, report_on_v6e},
    {"report.v7x", InputForm::kModule, report_on_v7x},
    {"lower", InputForm::kModule, lower_module},
    {"tune.layout", InputForm::kModule, tune_layouts_of},
    {"tune.prefetch", InputForm::kModule, tune_prefetches_of},
    {"tune.schedule", InputForm::kModule, tune_schedule_of},
    {"buffers", InputForm::kModule, buffers_command},
    {"run", InputForm::kModule, run_command},
    {"commands", InputForm::kModule, any_command},
    {"partition", InputForm::kModule, partition_command},
    {"print.pb", InputForm::kModule, proto_of_module},
    {"diff", InputForm::kPair, diff_modules},
    {"proto", InputForm::kProto, read_proto},
    {"gate", InputForm::kGate, gate_by_config},
    {"baseline", InputForm::kBaseline, gate_by_baseline},
    {"sweep", InputForm::kExperiment, sweep_experiment},
    {"journal", InputForm::kJournal, resume_journal},
    {"device", InputForm::kDevice, read_device_file},
    {"dump", InputForm::kDump, read_buffer_dump},
    {"diff.reports", InputForm::kReport, diff_reports},
    {"costs", InputForm::kCosts, cost_custom_calls},
    {"knobs", InputForm::kKnobs, read_prefetch_knobs},
    {"accuracy", InputForm::kMeasured, compare_measured},
    {"mlir.text", InputForm::kMlir, read_mlir_text},
    {"stablehlo", InputForm::kMlir, stablehlo_command},
    {"model", InputForm::kModel, model_command},
    {"mlir.bytecode", InputForm::kArtifact, read_artifact},
    {"program.text", InputForm::kMlir, convert_program},
    {"program.bytecode", InputForm::kArtifact, convert_program},
    {"profile", InputForm::kProfile, read_profiles},
    {"profile.text", InputForm::kProfileText, read_profiles},
    {"yaml", InputForm::kYaml, read_yaml},
    {"accuracy.limits", InputForm::kLimits, limit_accuracy},
    {"config", InputForm::kRunConfig, configure_run},
    {"pattern", InputForm::kPattern, match_pattern},
    {"mesh", InputForm::kMesh, spread_over_mesh},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

}  // namespace hlosim::fuzz
