#include "study/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "text/text_builder.h"

namespace hlosim {
namespace {

// Wraps where amounts reached the end of their type, so that sums of differences stay the difference of sums.
int64_t difference(int64_t after, int64_t before) {
  return static_cast<int64_t>(static_cast<uint64_t>(after) - static_cast<uint64_t>(before));
}
uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

/// Which of `values` belong to a longest increasing run of them.
std::vector<bool> longest_increasing(const std::vector<int>& values) {
  std::vector<size_t> ends, previous(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), values[i],
                                     [&](size_t index, int value) { return values[index] < value; });
    previous[i] = at == ends.begin() ? values.size() : *(at - 1);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  std::vector<bool> in(values.size());
  for (size_t i = ends.empty() ? values.size() : ends.back(); i < values.size(); i = previous[i])
    in[i] = true;
  return in;
}

class Maker {
 public:
  Maker(const Metrics& before, const Metrics& after) : before_(before), after_(after) {
    diff_.before = &before;
    diff_.after = &after;
    diff_.same_device = before.device_fingerprint == after.device_fingerprint;
    diff_.same_model =
        !before.model_version || !after.model_version || before.model_version == after.model_version;
  }

  Diff make() {
    add_metrics();
    add_rows();
    find_moved();
    for (size_t m = 0; m < diff_.metrics.size(); ++m) {
      MetricDiff& metric = diff_.metrics[m];
      metric.rest = metric.change();
      for (const InstructionDiff& row : diff_.instructions)
        metric.rest = difference(metric.rest, row.change[m]);
    }
    return std::move(diff_);
  }

 private:
  void add_metrics() {
    for (const Metric& metric : before_.metrics) diff_.metrics.push_back({metric, 0, 0, 0});
    for (const Metric& metric : after_.metrics)
      if (before_.index_of(metric.name) < 0) diff_.metrics.push_back({metric, 0, 0, 0});
    for (MetricDiff& metric : diff_.metrics) {
      old_.push_back(before_.index_of(metric.metric.name));
      new_.push_back(after_.index_of(metric.metric.name));
      if (old_.back() >= 0) metric.before = before_.totals[static_cast<size_t>(old_.back())];
      if (new_.back() >= 0) metric.after = after_.totals[static_cast<size_t>(new_.back())];
    }
  }

  static int64_t amount(const InstructionMetrics* row, int metric) {
    return row && metric >= 0 ? row->amounts[static_cast<size_t>(metric)] : 0;
  }

  void add_row(int before, int after) {
    InstructionDiff row;
    row.before = before;
    row.after = after;
    const InstructionMetrics* old_row = diff_.old_of(row);
    const InstructionMetrics* new_row = diff_.new_of(row);
    for (size_t m = 0; m < diff_.metrics.size(); ++m)
      row.change.push_back(difference(amount(new_row, new_[m]), amount(old_row, old_[m])));
    if (old_row && new_row) {
      row.renamed = old_row->name != new_row->name;
      row.moved = old_row->computation != new_row->computation &&
                  !(old_row->computation.empty() || new_row->computation.empty());
      const bool shapes_differ =
          !old_row->shape.empty() && !new_row->shape.empty() && old_row->shape != new_row->shape;
      row.edited = old_row->opcode != new_row->opcode || shapes_differ ||
                   old_row->executions != new_row->executions ||
                   (old_row->own != 0 && new_row->own != 0 && old_row->own != new_row->own);
    }
    diff_.instructions.push_back(std::move(row));
  }

  // What was added stands behind what it followed in `after`, if that was there before.
  void add_rows() {
    const std::vector<int> match = match_instructions(before_, after_);
    std::vector<bool> has_old(after_.instructions.size());
    for (const int other : match)
      if (other >= 0) has_old[static_cast<size_t>(other)] = true;
    const auto add_new_from = [&](size_t i) {
      for (; i < has_old.size() && !has_old[i]; ++i) add_row(-1, static_cast<int>(i));
    };
    add_new_from(0);
    for (size_t i = 0; i < match.size(); ++i) {
      add_row(static_cast<int>(i), match[i]);
      if (match[i] >= 0) add_new_from(static_cast<size_t>(match[i]) + 1);
    }
  }

  void find_moved() {
    std::vector<size_t> rows;
    std::vector<int> places;
    for (size_t i = 0; i < diff_.instructions.size(); ++i) {
      const InstructionDiff& row = diff_.instructions[i];
      if (row.before < 0 || row.after < 0 || row.moved) continue;
      if (diff_.old_of(row)->executions == 0 || diff_.new_of(row)->executions == 0) continue;
      rows.push_back(i);
      places.push_back(row.after);
    }
    const std::vector<bool> stayed = longest_increasing(places);
    for (size_t i = 0; i < rows.size(); ++i) diff_.instructions[rows[i]].moved = !stayed[i];
  }

  const Metrics& before_;
  const Metrics& after_;
  std::vector<int> old_, new_;  // of each metric its index in either run
  Diff diff_;
};

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace

int64_t MetricDiff::change() const { return difference(after, before); }

std::vector<const InstructionDiff*> Diff::contributions(size_t metric) const {
  std::vector<const InstructionDiff*> rows;
  for (const InstructionDiff& row : instructions)
    if (row.change[metric] != 0) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](const InstructionDiff* a, const InstructionDiff* b) {
    return magnitude(a->change[metric]) > magnitude(b->change[metric]);
  });
  return rows;
}

Diff make_diff(const Metrics& before, const Metrics& after) { return Maker(before, after).make(); }

std::string kind_text(const Diff&, const InstructionDiff& row) {
  if (row.before < 0) return "added";
  if (row.after < 0) return "removed";
  std::vector<std::string> kinds;
  if (row.renamed) kinds.emplace_back("renamed");
  if (row.moved) kinds.emplace_back("moved");
  if (row.edited) kinds.emplace_back("changed");
  return kinds.empty() ? "same" : joined(kinds, ", ");
}

std::string name_text(const Diff& diff, const InstructionDiff& row) {
  const InstructionMetrics* before = diff.old_of(row);
  const InstructionMetrics* after = diff.new_of(row);
  if (!before) return after->name;
  return row.renamed ? fmt::format("{} → {}", before->name, after->name) : before->name;
}

std::string reason_text(const Diff& diff, const InstructionDiff& row, size_t metric) {
  std::vector<std::string> parts;
  const InstructionMetrics* before = diff.old_of(row);
  const InstructionMetrics* after = diff.new_of(row);
  if (!before || !after) {
    const InstructionMetrics& only = before ? *before : *after;
    if (!only.opcode.empty()) parts.push_back(only.opcode);
    if (!only.shape.empty()) parts.push_back(only.shape);
  } else {
    const auto differs = [&](std::string_view what, const std::string& a, const std::string& b) {
      if (a != b && !a.empty() && !b.empty()) parts.push_back(fmt::format("{}{} → {}", what, a, b));
    };
    differs("", before->opcode, after->opcode);
    differs("", before->shape, after->shape);
    if (before->executions != after->executions && before->executions > 0 && after->executions > 0)
      parts.push_back(fmt::format("runs {} → {}", grouped(before->executions), grouped(after->executions)));
    differs("bound by ", before->bound_by, after->bound_by);
  }
  for (size_t m = 0; m < diff.metrics.size(); ++m) {
    if (m == metric || row.change[m] == 0) continue;
    const Metric& one = diff.metrics[m].metric;
    if ((!before || !after) && one.name != "time" && one.name != "hbm_bytes")
      continue;  // what it does is all new
    parts.push_back(fmt::format("{} {}", one.name, change_text(one.unit, row.change[m])));
  }
  return joined(parts, "; ");
}

std::string rest_text(const Metric& metric) {
  if (metric.name == "time") return "waiting at the end";
  return "not attributed to any instruction";
}

}  // namespace hlosim
