// What is tried: the functions that the commands call, each on inputs of one form. Whatever stands in an
// input, they return; a broken promise of theirs is a HLOSIM_CHECK here.
//
//   const Target& target = *find_target("lower");
//   target.run(bench, input, choice);              // true: the input was right, and all of it ran
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench.h"
#include "random.h"

namespace hlosim::fuzz {

struct Target {
  std::string_view name;
  InputForm form;
  /// `choice` decides devices and options. False: the input was refused.
  bool (*run)(const Bench& bench, const std::string& input, Random& choice);
};

std::span<const Target> targets();
/// Null: there is none.
const Target* find_target(std::string_view name);

// By what they read; targets.cc has their table.
bool check_module(const Bench& bench, const std::string& input, Random& choice);
bool report_on_v4(const Bench& bench, const std::string& input, Random& choice);
bool report_on_v5e(const Bench& bench, const std::string& input, Random& choice);
bool report_on_v6e(const Bench& bench, const std::string& input, Random& choice);
bool report_on_v7x(const Bench& bench, const std::string& input, Random& choice);
bool lower_module(const Bench& bench, const std::string& input, Random& choice);
bool tune_layouts_of(const Bench& bench, const std::string& input, Random& choice);
bool tune_prefetches_of(const Bench& bench, const std::string& input, Random& choice);
bool tune_schedule_of(const Bench& bench, const std::string& input, Random& choice);
bool diff_modules(const Bench& bench, const std::string& input, Random& choice);
bool proto_of_module(const Bench& bench, const std::string& input, Random& choice);

bool buffers_command(const Bench& bench, const std::string& input, Random& choice);
bool run_command(const Bench& bench, const std::string& input, Random& choice);
bool any_command(const Bench& bench, const std::string& input, Random& choice);

bool partition_command(const Bench& bench, const std::string& input, Random& choice);
bool stablehlo_command(const Bench& bench, const std::string& input, Random& choice);
bool model_command(const Bench& bench, const std::string& input, Random& choice);

bool read_proto(const Bench& bench, const std::string& input, Random& choice);
bool gate_by_config(const Bench& bench, const std::string& input, Random& choice);
bool gate_by_baseline(const Bench& bench, const std::string& input, Random& choice);
bool sweep_experiment(const Bench& bench, const std::string& input, Random& choice);
bool resume_journal(const Bench& bench, const std::string& input, Random& choice);
bool read_device_file(const Bench& bench, const std::string& input, Random& choice);
bool read_buffer_dump(const Bench& bench, const std::string& input, Random& choice);
bool diff_reports(const Bench& bench, const std::string& input, Random& choice);
bool cost_custom_calls(const Bench& bench, const std::string& input, Random& choice);
bool read_prefetch_knobs(const Bench& bench, const std::string& input, Random& choice);
bool compare_measured(const Bench& bench, const std::string& input, Random& choice);
bool read_mlir_text(const Bench& bench, const std::string& input, Random& choice);
bool read_profiles(const Bench& bench, const std::string& input, Random& choice);
bool convert_program(const Bench& bench, const std::string& input, Random& choice);
bool read_artifact(const Bench& bench, const std::string& input, Random& choice);

bool read_yaml(const Bench& bench, const std::string& input, Random& choice);
bool limit_accuracy(const Bench& bench, const std::string& input, Random& choice);
bool match_pattern(const Bench& bench, const std::string& input, Random& choice);
bool spread_over_mesh(const Bench& bench, const std::string& input, Random& choice);
bool configure_run(const Bench& bench, const std::string& input, Random& choice);

}  // namespace hlosim::fuzz
