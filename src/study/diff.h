// Two runs of nearly the same module, instruction by instruction.
//
//   const Diff diff = make_diff(before, after);
//   std::cout << to_text(diff, {});
//
// Instructions are matched by name where that fits, else by what they compute, by where they come from in the
// source, and by opcode and shape. For every metric the changes of all rows and of the rest add up to the
// change of the total, exactly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/paint.h"
#include "report/figures.h"

namespace hlosim {

/// One instruction in both runs, or in one of them.
struct InstructionDiff {
  int before = -1, after = -1;  // indices into Metrics::instructions; -1: not there
  bool renamed = false;
  bool moved = false;           // others that it ran before now run after it, or it is in another computation
  bool edited = false;          // another opcode, shape, attribute or number of executions
  std::vector<int64_t> change;  // by metric of the Diff
};

struct MetricDiff {
  Metric metric;
  int64_t before = 0, after = 0;  // 0 in a run without the metric
  int64_t rest = 0;               // the part of the change that belongs to no instruction
  int64_t change() const;
};

struct Diff {
  const Metrics* before = nullptr;
  const Metrics* after = nullptr;
  std::vector<MetricDiff> metrics;  // those of either run
  std::vector<InstructionDiff>
      instructions;  // those of `before` in their order, each followed by what was added
  bool same_device = true, same_model = true;

  const InstructionMetrics* old_of(const InstructionDiff& row) const {
    return row.before < 0 ? nullptr : &before->instructions[static_cast<size_t>(row.before)];
  }
  const InstructionMetrics* new_of(const InstructionDiff& row) const {
    return row.after < 0 ? nullptr : &after->instructions[static_cast<size_t>(row.after)];
  }
  /// Rows with a change of this metric, the largest first; equal ones in their order.
  std::vector<const InstructionDiff*> contributions(size_t metric) const;
};

/// Both have to outlive the result.
Diff make_diff(const Metrics& before, const Metrics& after);

/// For each instruction of `before` its index in `after`, or -1.
std::vector<int> match_instructions(const Metrics& before, const Metrics& after);

/// "added", "removed", "renamed, changed", "same"
std::string kind_text(const Diff& diff, const InstructionDiff& row);
/// "hidden", "hidden → hidden.1"
std::string name_text(const Diff& diff, const InstructionDiff& row);
/// Why a metric of an instruction changed, as far as figures show: "HBM bytes +1.00 MiB; f32[8] → f32[16]".
/// `metric` is the one that the reader knows already.
std::string reason_text(const Diff& diff, const InstructionDiff& row, size_t metric);
/// What belongs to no instruction: "waiting at the end" of time.
std::string rest_text(const Metric& metric);

struct DiffTextOptions {
  size_t top = 10;  // rows of each list; 0: all
  Paint paint{};    // of the text: less is good, more is bad
};

std::string to_text(const Diff& diff, const DiffTextOptions& options);
std::string to_markdown(const Diff& diff, const DiffTextOptions& options);
/// One JSON object, ends in '\n' (docs/diff.md).
std::string to_json(const Diff& diff, std::string_view tool_version);

}  // namespace hlosim
