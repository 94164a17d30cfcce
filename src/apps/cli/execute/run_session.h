// The modules of one call of `hlosim run`: loaded for their devices, given inputs, and run.
//
//   RunSession session(options, streams);
//   std::optional<Loaded> loaded = session.prepare() ? session.load(options.file, true) : std::nullopt;
//   auto outputs = session.execute(*loaded, *session.read_values(*loaded), folder);
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "cli/commands.h"
#include "cli/execute/custom_call_overrides.h"
#include "cli/execute/physical_session.h"
#include "cli/execute/run_grid.h"
#include "cli/execute/run_inputs.h"
#include "cli/run.h"
#include "console/verbosity.h"
#include "evaluate/custom_calls/check_calls.h"
#include "exec/program.h"

namespace hlosim {

struct RunOptions {
  std::string file;
  InputOptions inputs;
  std::string made;
  int64_t seed = 0;
  std::string output, compare, expect, trace;
  std::optional<double> abs_error, rel_error;
  std::string elided = "xla";
  std::string peers = "run";
  int64_t replicas = 0, partitions = 0;  // 0: as the module says
  bool global = false;
  int64_t threads = 0;
  PhysicalChoices physical;
  StandInOptions custom_call_overrides;
  bool print = false;
  bool time = false;
};

/// A module ready to run. The program refers to the module.
struct Loaded {
  std::string file;
  std::unique_ptr<Module> module;
  DeviceGrid grid;  // of the devices that run
  std::unique_ptr<LockstepRun> run;
  std::unique_ptr<const Program> program;
  std::vector<ParameterLeaf> parameters;
  std::vector<GlobalLeaf> global_parameters, global_results;  // of --global
  std::unique_ptr<PhysicalSetting> physical;                  // null: runs as a program

  bool is_joint() const { return grid.devices() > 1; }
};

/// Outputs of one device, or of all together.
struct OutputSet {
  std::string name;  // "device-3"; empty where there is one set only
  LeafArrays values;
};

/// Complains on the error stream itself; then a function returns false or nothing.
class RunSession {
 public:
  RunSession(const RunOptions& options, Streams streams) : options_(options), streams_(streams) {}

  /// What the options say, before anything is read.
  bool prepare();
  /// The modules of a file; several only where none takes arguments.
  std::optional<std::vector<Module>> read_modules(const std::string& file);
  /// `is_main`: it runs as --trace-values and --physical ask.
  /// `whole`: the module is what a partitioned one was made from, and runs as it is on one device.
  std::optional<Loaded> load(const std::string& file, Module module, bool is_main, bool whole = false);
  /// Is `file` a module whose arrays the devices of `loaded` have parts of? Then the sizes of these are its.
  bool is_whole_of(const std::string& file, Loaded& loaded);
  /// The memory that it needs is there, beside `held` bytes of other results.
  bool fits(const Loaded& loaded, int64_t held);
  /// The inputs of this rank's devices.
  std::optional<std::vector<LeafArrays>> read_values(const Loaded& loaded);
  /// The outputs of this rank's devices. What goes to the host goes to files in `output_folder`.
  std::optional<std::vector<LeafArrays>> execute(const Loaded& loaded, std::vector<LeafArrays> inputs,
                                                 const std::string& output_folder);
  /// On rank 0: the outputs of every device, or what they make together. Elsewhere: none.
  std::optional<std::vector<OutputSet>> assemble(const Loaded& loaded, std::vector<LeafArrays> local);

  /// Of what assemble() gives.
  std::vector<ShapeRef> result_shapes(const Loaded& loaded) const;
  /// DIR/device-3, or DIR where one device runs.
  std::string folder_of(const Loaded& loaded, const std::string& folder, int64_t device) const;
  /// Tells which checks of programs that have run don't hold; true where there are such.
  bool tell_failed_checks();
  bool is_first() const { return streams_.ranks.rank() == 0; }
  bool traces() const { return trace_.has_value(); }
  /// What the program ends with when something stopped the run.
  int exit_code() const { return exit_code_; }
  /// All devices have the same inputs.
  bool same_inputs() const { return same_inputs_; }
  MemoryPool& pool() { return pool_; }
  StagedFiles& files() { return files_; }

  bool complain(const Diagnostic& problem) {
    tell(problem, streams_);
    return false;
  }
  bool complain(std::string message, std::string hint = {}) {
    return complain(failure(std::move(message), std::move(hint)).value());
  }

 private:
  bool claim_expected();
  bool choose_grid(Loaded& loaded, bool whole);
  ProgramOptions program_options(const Loaded& loaded, bool traced);
  Result<LeafArrays> run_physical(const Loaded& loaded, DeviceState& device, LeafArrays inputs);
  Result<std::vector<LeafArrays>> run_devices(const Loaded& loaded, std::vector<LeafArrays> inputs,
                                              const std::string& output_folder);

  const RunOptions& options_;
  Streams streams_;
  MemoryPool pool_;
  int64_t max_memory_ = 0;
  std::string max_memory_source_;
  StandIns stand_ins_;
  CustomCallHandlers custom_calls_;
  std::unique_ptr<FailedChecks> failed_checks_ = std::make_unique<FailedChecks>();
  std::optional<Pattern> trace_;
  bool anything_traced_ = false;
  StagedFiles files_{&streams_.files};
  bool same_inputs_ = true;
  int gathered_ = 0;            // how often outputs came together
  int exit_code_ = kExitInput;  // when something stops the run
};

}  // namespace hlosim
