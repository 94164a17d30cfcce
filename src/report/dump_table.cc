#include "report/dump_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.h"

namespace hlosim {
namespace {

constexpr size_t kNameWidth = 44;

const ReportSpace* hbm_space(const Report& report) {
  for (const ReportSpace& space : report.spaces)
    if (space.number == kDefaultMemorySpace) return &space;
  return nullptr;
}

Bytes hbm_peak(const Report& report) {
  const ReportSpace* space = hbm_space(report);
  return space ? space->peak : Bytes(0);
}

std::string share_of(Picoseconds part, Picoseconds whole) {
  if (whole.count() <= 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

}  // namespace

std::string dump_table(const std::string& folder, const std::vector<DumpTableRow>& rows) {
  const bool any_xla = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.xla_allocates.has_value(); });
  Picoseconds time{};
  Bytes traffic{}, peak{}, allocated{};
  size_t overflowing = 0, early = 0;
  for (const DumpTableRow& row : rows) {
    time += row.report->totals.makespan;
    traffic += row.report->hbm_traffic().total();
    peak = std::max(peak, hbm_peak(*row.report));
    allocated = std::max(allocated, row.xla_allocates.value_or(Bytes(0)));
    overflowing += !row.report->overflows().empty();
    early += row.stage != "after";
  }
  std::vector<Column> columns = {{"module", Align::kLeft, kNameWidth}, {"stage", Align::kLeft}, {"time"}, {"share"},
                                 {"bound by", Align::kLeft}, {"HBM traffic"}, {"HBM peak"}};
  if (any_xla) columns.push_back({"XLA allocates"});
  Table table(columns);
  const auto add = [&](std::vector<std::string> cells, const std::string& xla) {
    if (any_xla) cells.push_back(xla);
    table.add(std::move(cells));
  };
  for (const DumpTableRow& row : rows) {
    const Report& report = *row.report;
    add({report.module_name, row.stage, to_text(report.totals.makespan), share_of(report.totals.makespan, time),
         report.unit_name(report.totals.bound_by), to_text(report.hbm_traffic().total()),
         to_text(hbm_peak(report)) + (report.overflows().empty() ? "" : " !")},
        row.xla_allocates ? to_text(*row.xla_allocates) : "");
  }
  add({"all", "", to_text(time), "", "", to_text(traffic), to_text(peak)}, to_text(allocated));
  std::string text = fmt::format("{} modules of {} on {}\n\n{}", rows.size(), folder, rows[0].report->device_name,
                                 table.text("  "));
  text += "\nTimes and traffic of one run of each module; all: their sums, and the largest peak.\n";
  if (overflowing > 0)
    text += fmt::format("!: {} {} not fit into a memory space of the device.\n", overflowing,
                        overflowing == 1 ? "module does" : "modules do");
  if (early > 0)
    text += fmt::format("{} of {}: no text after optimisation is there.\n", early, rows.size());
  return text + "One module alone: --module=NAME.\n";
}

}  // namespace hlosim
