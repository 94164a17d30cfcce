// A module made ready for other layouts: which arrays may have which.
//
//   Result<std::unique_ptr<LayoutProblem>> problem = LayoutProblem::make(module, table, device.config, {});
//   for (const int32_t group : (*problem)->free_groups()) choices *= (*problem)->candidates(group).size();
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/pattern.h"
#include "base/source.h"
#include "model/device.h"
#include "relayout/layout_edit.h"

namespace hlosim {

struct LayoutProblemOptions {
  /// Only groups with a value of which this finds a part of the name; none: all.
  std::optional<Pattern> values;
  std::vector<std::string> tiles;     // besides the native ones: "T(8,128)", "T(16,128)(2,1)"
  bool free_entry = false;            // arguments and results may change
  std::function<bool()> out_of_time;  // layouts that aren't found by then aren't tried
};

/// Bitcasts are taken as the reshapes and transposes that they are. Arguments, results and what unknown
/// operations make are used through copies that vanish where nothing changes.
class LayoutProblem {
 public:
  /// Requires: a verified module in which some array has tiles. Errors: a text in `tiles` that is no tiling.
  static Result<std::unique_ptr<LayoutProblem>> make(const Module& given, const OpTable& table,
                                                     const DeviceConfig& device,
                                                     const LayoutProblemOptions& options);

  Module& module() { return *module_; }
  const LayoutGroups& groups() const { return *groups_; }
  const LayoutRelations& relations() const { return *relations_; }
  LayoutEdit& edit() { return *edit_; }
  /// Of a group; the first one is the one that it has, the only one of a group that is fixed. In memory space
  /// 0.
  const std::vector<const Layout*>& candidates(int32_t group) const {
    return candidates_[static_cast<size_t>(group)];
  }
  /// Groups with more than one candidate.
  const std::vector<int32_t>& free_groups() const { return free_groups_; }
  /// One more candidate, whatever it costs. Returns its layout.
  const Layout* add_candidate(int32_t group, ShapeRef array);
  /// The name of the value that a copy of ours stands for; else the instruction's own.
  std::string_view name_of(InstructionId id) const;
  bool is_spelled_out(InstructionId id) const { return moves_.spelled_out.contains(id); }
  bool is_relay(InstructionId id) const { return relays_.contains(id); }
  LayoutChoice as_given() const;
  ShapeRef array_with(int32_t group, const Layout* layout) const;

 private:
  LayoutProblem() = default;
  void spell_out_bitcasts();
  void restore_bitcasts();
  void add_relays(const OpTable& table, const LayoutProblemOptions& options);
  void find_moves();
  Result<void> find_candidates(const DeviceConfig& device, const LayoutProblemOptions& options);
  void offer(int32_t group, ShapeRef array);
  void exchange_candidates();
  bool is_allowed(int32_t group, ShapeRef array) const;
  bool is_chosen(int32_t group, const LayoutProblemOptions& options) const;
  bool out_of_time() const { return out_of_time_ && out_of_time_(); }

  std::unique_ptr<Module> module_;
  std::unique_ptr<ModuleEditor> editor_;
  std::unique_ptr<LayoutGroups> groups_;
  std::unique_ptr<LayoutRelations> relations_;
  std::unique_ptr<LayoutEdit> edit_;
  LayoutMoves moves_;
  std::vector<std::pair<InstructionId, Instruction>> bitcasts_;  // as given
  std::unordered_map<InstructionId, InstructionId> relays_;      // what they copy
  std::vector<std::vector<const Layout*>> candidates_;           // by group
  std::vector<uint8_t> open_;                                    // by group
  std::vector<int32_t> free_groups_;
  std::function<bool()> out_of_time_;
};

}  // namespace hlosim
