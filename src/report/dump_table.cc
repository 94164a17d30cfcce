#include "report/dump_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.h"
#include "base/text.h"
#include "text/escape.h"
#include "text/table.h"

namespace hlosim {
namespace {

constexpr size_t kNameWidth = 44;

const ReportSpace* hbm_space(const Report& report) {
  for (const ReportSpace& space : report.spaces)
    if (space.number == kDefaultMemorySpace) return &space;
  return nullptr;
}

/// Of a file in the folder, without the folder.
std::string_view file_name(const Report& report, std::string_view folder) {
  std::string_view name = report.module_file;
  if (!name.starts_with(folder)) return name;
  name.remove_prefix(folder.size());
  return name.starts_with('/') ? name.substr(1) : folder.ends_with('/') ? name : report.module_file;
}

Bytes hbm_peak(const Report& report) {
  const ReportSpace* space = hbm_space(report);
  return space ? space->peak : Bytes(0);
}

std::string share_of(Picoseconds part, Picoseconds whole) {
  if (whole.count() <= 0) return "";
  return fmt::format("{:.1f} %",
                     100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

}  // namespace

std::string dump_table(const std::string& folder, const std::vector<DumpTableRow>& rows) {
  const bool any_xla =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.xla_allocates.has_value(); });
  Picoseconds time{};
  Bytes traffic{}, peak{}, allocated{};
  size_t overflowing = 0, early = 0;
  for (const DumpTableRow& row : rows) {
    time += row.report->totals().makespan;
    traffic += row.report->hbm_traffic().total();
    peak = std::max(peak, hbm_peak(*row.report));
    allocated = std::max(allocated, row.xla_allocates.value_or(Bytes(0)));
    overflowing += !row.report->overflows().empty();
    early += row.stage != "after";
  }
  std::vector<Column> columns = {{"module", Align::kLeft, kNameWidth},
                                 {"file", Align::kLeft, kNameWidth},
                                 {"stage", Align::kLeft},
                                 {"time"},
                                 {"share"},
                                 {"bound by", Align::kLeft},
                                 {"HBM traffic"},
                                 {"HBM peak"}};
  if (any_xla) columns.push_back({"XLA allocates"});
  Table table(columns);
  const auto add = [&](std::vector<std::string> cells, const std::string& xla) {
    if (any_xla) cells.push_back(xla);
    table.add(std::move(cells));
  };
  for (const DumpTableRow& row : rows) {
    const Report& report = *row.report;
    add({report.module_name, std::string(file_name(report, folder)), row.stage,
         to_text(report.totals().makespan), share_of(report.totals().makespan, time),
         report.unit_name(report.totals().bound_by), to_text(report.hbm_traffic().total()),
         to_text(hbm_peak(report)) + (report.overflows().empty() ? "" : " !")},
        row.xla_allocates ? to_text(*row.xla_allocates) : "");
  }
  add({"all", "", "", to_text(time), "", "", to_text(traffic), to_text(peak)}, to_text(allocated));
  std::string text = fmt::format("{} modules of {} on {}\n\n{}", rows.size(), one_line(folder),
                                 rows[0].report->device_name, table.text("  "));
  text += "\nTimes and traffic of one run of each module; all: their sums, and the largest peak.\n";
  if (overflowing > 0)
    text += fmt::format("!: {} {} not fit into a memory space of the device.\n", overflowing,
                        overflowing == 1 ? "module does" : "modules do");
  if (early > 0) text += fmt::format("{} of {}: no text after optimisation is there.\n", early, rows.size());
  return printable(text + "One module alone: --module=NAME.\n");
}

namespace {

int64_t total_of(const Metrics& figures, std::string_view metric) {
  const int index = figures.index_of(metric);
  return index < 0 ? 0 : figures.totals[static_cast<size_t>(index)];
}

std::string painted_percent(int64_t before, int64_t after, Paint paint) {
  const std::string text = before == after ? "same" : percent_text(before, after);
  return after > before ? paint.bad(text) : after < before ? paint.good(text) : text;
}

}  // namespace

std::string stages_table(const std::vector<StagePair>& pairs, Paint paint) {
  if (pairs.empty()) return "No module has files from both before and after optimisation.\n";
  static constexpr struct {
    std::string_view metric;
    MetricUnit unit;
  } kCompared[] = {{"time", MetricUnit::kPicoseconds},
                   {"hbm_bytes", MetricUnit::kBytes},
                   {"peak.hbm", MetricUnit::kBytes}};
  Table table({{"module", Align::kLeft, kNameWidth},
               {"time before"},
               {"after"},
               {""},
               {"HBM traffic before"},
               {"after"},
               {""},
               {"HBM peak before"},
               {"after"},
               {""}});
  int64_t before_sums[std::size(kCompared)] = {}, after_sums[std::size(kCompared)] = {};
  const auto add = [&](std::string name, const auto& before, const auto& after) {
    std::vector<std::string> cells = {std::move(name)};
    for (size_t i = 0; i < std::size(kCompared); ++i) {
      cells.push_back(amount_text(kCompared[i].unit, before(i)));
      cells.push_back(amount_text(kCompared[i].unit, after(i)));
      cells.push_back(painted_percent(before(i), after(i), paint));
    }
    table.add(std::move(cells));
  };
  for (const StagePair& pair : pairs) {
    const auto of = [&](const Metrics& figures) {
      return [&](size_t i) { return total_of(figures, kCompared[i].metric); };
    };
    add(pair.after.module_name, of(pair.before), of(pair.after));
    for (size_t i = 0; i < std::size(kCompared); ++i) {
      const bool is_peak = kCompared[i].metric.starts_with("peak");
      const auto join = [&](int64_t sum, int64_t one) {
        return is_peak ? std::max(sum, one) : saturating_add(sum, one);
      };
      before_sums[i] = join(before_sums[i], total_of(pair.before, kCompared[i].metric));
      after_sums[i] = join(after_sums[i], total_of(pair.after, kCompared[i].metric));
    }
  }
  if (pairs.size() > 1)
    add(
        "all", [&](size_t i) { return before_sums[i]; }, [&](size_t i) { return after_sums[i]; });
  return fmt::format("Before XLA's optimization (lowered by hlosim) and after it\n\n{}", table.text("  "));
}

}  // namespace hlosim
