// A module made ready to run, and running it.
//
//   Program::make(module) → Program ─run(device, inputs)→ outputs
//
// A Program is a value that doesn't change: any number of devices may run it, each with a DeviceState of
// its own. Arrays are freed at their last use.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/evaluate.h"
#include "exec/step_graph.h"
#include "hlo/module.h"
#include "ops/collective_groups.h"

namespace hlosim {

struct ProgramOptions {
  GraphOptions graph;
  const CustomCallHandlers* custom_calls = nullptr;  // asked before the built-in targets
  /// Collectives among several devices run as if all of them held what the one that runs holds. Otherwise
  /// they are errors.
  bool twins = false;
  /// The devices that the program is for, when it runs on more than one: collectives then need run_jointly().
  std::optional<DeviceGrid> grid = std::nullopt;
  /// Elementwise operations that depend on each other run as one pass (exec/cluster.h). The results are the
  /// same bits without.
  bool cluster = true;
};

class Program {
 public:
  /// Null after errors in `sink`: what isn't supported, each with its place. `pool` holds the constants; it
  /// and `module` outlive the program.
  static std::unique_ptr<const Program> make(Module& module, const OpTable& table, MemoryPool& pool,
                                             const ProgramOptions& options, DiagnosticList& sink);
  ~Program();

  /// Shapes of the leaves of the entry's parameters and of its root.
  std::span<const ShapeRef> parameters() const { return parameters_; }
  std::span<const ShapeRef> results() const { return results_; }
  /// Bytes of arrays alive at once, at most: parameters, constants, and what each step leaves, without what a
  /// kernel needs for itself.
  int64_t peak_bytes() const { return peak_bytes_; }

  /// Values of the root's leaves. `inputs`: one per leaf of the parameters, of its element type and
  /// dimensions; what the caller doesn't hold may be overwritten. Errors: what an instruction met while
  /// running.
  Result<std::vector<Array>> run(DeviceState& device, std::vector<Array> inputs) const;

  /// The same on all devices of `run` that belong to this rank, in the order of their ids. Equal inputs
  /// may share memory.
  Result<std::vector<std::vector<Array>>> run_jointly(LockstepRun& run, std::span<DeviceState> devices,
                                                      std::vector<std::vector<Array>> inputs) const;
  /// Bytes of the constants, of all that peak_bytes() counts.
  int64_t constant_bytes() const { return constant_bytes_; }

 private:
  Program() = default;
  std::shared_ptr<const Callable> entry_;
  int64_t peak_bytes_ = 0, constant_bytes_ = 0;
  std::vector<ShapeRef> parameters_, results_;
};

/// Gives the values of the root's leaves their shapes. What an asynchronous start has besides its data has no
/// value while a module runs: as a result it is zero.
void finish_results(std::vector<Array>& results, std::span<const ShapeRef> shapes, MemoryPool& pool);

}  // namespace hlosim
