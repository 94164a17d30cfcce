// A pass rewrites a module into one that computes the same; lowering is a list of them.
//
//   Result<std::vector<const Pass*>> passes = parse_passes("simplify,fuse");
//   Result<Module> lowered = run_passes(module, *passes, {op_table(), device});
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "flags/compiler_choices.h"
#include "lower/room_needs.h"
#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

class Stop;

/// What passes may ask besides the module.
struct PassContext {
  const OpTable& table;
  const Device& device;
  const Stop* stop = nullptr;  // asked: no further pass begins, and what comes out is good for nothing
  CompilerChoices compiler{};
};

/// Between passes the module may hold instructions and computations that nothing lists or calls any more.
struct Pass {
  std::string_view name;     // "assign-layouts"
  std::string_view summary;  // one line for --list-passes
  void (*run)(ModuleEditor& editor, const PassContext& context, RoomNeeds& needs);
  bool needs_layouts = false;  // every array has one; where no pass gave it, the row-major one
  bool asks_costs = false;     // nothing unlisted may be in the way
  bool fills_chip = false;     // with another room in on-chip memory it mostly does something else
  bool asks_room = false;      // with another room in on-chip memory it may do something else
};

/// All passes that there are, those of default_passes() first.
std::span<const Pass> all_passes();
/// What lowering does, in that order; a pass may come several times.
std::vector<const Pass*> default_passes();
/// "simplify,fuse". Errors: a name that no pass has.
Result<std::vector<const Pass*>> parse_passes(std::string_view names);

/// Sees how the module stands after a pass.
using PassObserver = std::function<void(const Pass&, const Module&)>;

/// A module on its way through passes. Lists of passes that begin alike are run once up to where they part.
/// From one thread, with all branches.
///
///   PassRun run(module, context);
///   run.go_on(alike);
///   PassRun other = run.branch();
///   run.go_on(*parse_passes("fuse"));
///   const Module fused = std::move(run).finish();
class PassRun {
 public:
  /// Works on a copy of `module`. Requires: a verified module; the context outlives the object.
  PassRun(const Module& module, const PassContext& context);

  /// `after` watches.
  void go_on(std::span<const Pass* const> passes, const PassObserver& after = {});
  /// The same once more, to go on with other passes.
  PassRun branch() const;
  /// Goes on in a context in which the passes so far do the same: needs().same_with() its device, all else is
  /// alike. It outlives the object.
  void enter(const PassContext& context);
  /// Of the passes so far.
  const RoomNeeds& needs() const { return needs_; }
  /// What editing left behind goes now rather than in each branch.
  void compact();
  /// Post: a verified module.
  Module finish() &&;

 private:
  PassRun(const PassContext* context, RoomNeeds needs) : context_(context), needs_(std::move(needs)) {}

  const PassContext* context_ = nullptr;
  RoomNeeds needs_;
  Module module_;
  /// Where passes work on it. An editor belongs to one module, so that branches take turns in the same one.
  std::shared_ptr<Module> stage_;
  std::unique_ptr<ModuleEditor> editor_;
  bool is_compact_ = true;
};

/// Runs the passes on a copy of `module`; `after` watches. Requires: a verified module. Post: so is the
/// result.
Module run_passes(const Module& module, std::span<const Pass* const> passes, const PassContext& context,
                  const PassObserver& after = {});

}  // namespace hlosim
