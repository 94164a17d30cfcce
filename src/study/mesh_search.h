// The fastest way to lay a program over devices, and what each way takes in time and memory: all choices
// (study/mesh_choices.h), simulated in full, but for those that a lower bound rules out.
//
//   const Result<MeshSearch> search = search_meshes(module, device, task, ranks, progress);
//   search->rows[*search->best].text               // "data=16,model=4"
//
// A choice is left out if its arguments alone are more than the memory, if one that was simulated is as fast
// as its bound and holds no more than its arguments, or if its bound is `within` times the time of the
// fastest that fits. Choices are taken by their bounds, least first, in batches of fixed size: the answer
// depends neither on threads nor on ranks. Programs that are written anew for every mesh are searched alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dist/ranks.h"
#include "estimate/estimate.h"
#include "study/mesh_choices.h"
#include "study/product_work.h"
#include "study/sweep_run.h"

namespace hlosim {

struct MeshTask {
  MeshQuestion question;
  Experiment experiment;     // module, device, and what is set; no axis called `mesh`
  EstimateOptions estimate;  // the same, for bounds
  SweepOptions sweep;
  double within = 1.5;
  bool everything = false;  // nothing is left out
};

struct MeshRow {
  enum class State : uint8_t {
    kSimulated,
    kFailed,      // can't be partitioned or run: `note`
    kDoesNotFit,  // arguments alone don't fit
    kRuledOut,    // by its bound
  };
  std::string text;  // as parse_mesh_request() takes it
  State state = State::kRuledOut;
  size_t program = 0;   // of search_programs()
  double tokens = 0;    // of a run; 0: not known, and the same for all rows
  Picoseconds bound{};  // no run is shorter
  SweepResult result;   // kSimulated
  std::string note;
  bool is_front = false;

  double value(std::string_view metric) const;  // kSimulated
  bool fits() const { return state == State::kSimulated && value("fits") > 0; }
  /// What rows are compared by: the time of a run, of one token where their number is known; of the bound.
  double cost() const { return value("time") / (tokens > 0 ? tokens : 1); }
  double least_cost() const { return static_cast<double>(bound.count()) / (tokens > 0 ? tokens : 1); }
};
std::string_view to_text(MeshRow::State state);

struct MeshSearch {
  std::vector<MeshRow> rows;  // those that fit by cost, other simulated ones by cost, then the rest by bound
  std::optional<size_t> best;
  std::vector<std::string> left_out;  // what is cut on no mesh, with the reason
  int64_t resumed = 0, damaged = 0;   // results that the journal had; lines of it that were left out
};

/// Errors: of mesh_choices() and run_sweep().
Result<MeshSearch> search_meshes(const Module& module, const Device& device, const MeshTask& task,
                                 Ranks& ranks, SweepProgress& progress);

/// A program that is written for its mesh: its shardings and manual regions say everything.
struct MeshProgram {
  std::string mesh;  // "fsdp=16,tensor=4"
  std::string note;  // what else tells it from the others, "remat=minimal"; may be empty
  Module module;
  SourcePtr source;   // its text
  double tokens = 0;  // of a run, of all devices together; all programs have some, or none has
};

/// The same for programs instead of choices, each on its own mesh. The task's question isn't asked.
/// Errors: of run_sweep().
Result<MeshSearch> search_programs(const std::vector<MeshProgram>& programs, const Device& device,
                                   const MeshTask& task, Ranks& ranks, SweepProgress& progress);

/// What a choice makes of the module, before it is lowered. Errors: as partition_over_mesh().
Result<Module> spread_module(const Module& module, const Device& device, const MeshTask& task,
                             const std::string& text);

}  // namespace hlosim
