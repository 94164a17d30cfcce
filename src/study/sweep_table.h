// The results of an experiment as tables and as a picture.
//
//   const SweepTable table{experiment, results, pareto_front(experiment, results)};
//   streams.out << sweep_text(table);
#pragma once

#include <string>
#include <vector>

#include "study/sweep_point.h"

namespace hlosim {

/// By point: nothing of the same module is better in one objective and as good in all others. Points that
/// failed are not.
std::vector<bool> pareto_front(const Experiment& experiment, const std::vector<SweepResult>& results);

struct SweepTable {
  const Experiment& experiment;
  const std::vector<SweepResult>& results;
  std::vector<bool> front;  // pareto_front()
  bool only_front = false;  // leaves the others out
};

/// For people: what varies, and experiment.columns. Points on the front have a star.
std::string sweep_text(const SweepTable& table);
std::string sweep_markdown(const SweepTable& table);
/// Everything, in base units: picoseconds, bytes.
std::string sweep_csv(const SweepTable& table);
std::string sweep_json(const SweepTable& table);
/// experiment.plot: every point, a line through the least of each series, rings around those on the front.
std::string sweep_svg(const SweepTable& table);

}  // namespace hlosim
