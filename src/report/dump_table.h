// Many modules at a glance: one row each, and what they come to together.
//
//   const std::vector<DumpTableRow> rows = {{&first, "after", {}}, {&second, "before", {}}};
//   std::cout << dump_table("dump/", rows);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/paint.h"
#include "report/figures.h"
#include "report/report.h"

namespace hlosim {

struct DumpTableRow {
  const Report* report = nullptr;
  std::string stage;                   // which file of the dump it is: "after", "pass", "before"
  std::optional<Bytes> xla_allocates;  // by XLA's own buffer assignment, all memory spaces
};

/// Text for people. Requires: at least one row; all on one device.
std::string dump_table(const std::string& folder, const std::vector<DumpTableRow>& rows);

/// One module before and after optimisation.
struct StagePair {
  Metrics before, after;
};

/// Time, HBM traffic and peak of each pair and of all, side by side. Less is good.
std::string stages_table(const std::vector<StagePair>& pairs, Paint paint);

}  // namespace hlosim
