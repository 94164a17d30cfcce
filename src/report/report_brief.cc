// The report's first screen: the answer, its interval, the bottleneck, memory, time by scope and the longest
// operations; then
// a line for each section of the full report, and a table where it concerns at least 1 % of the time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/number_text.h"
#include "base/text.h"
#include "report/report_text.h"
#include "report/scope.h"
#include "text/table.h"

namespace hlosim {
namespace {

constexpr size_t kScreenWidth = 100, kBriefNameWidth = 32, kLeastPlaceWidth = 30, kMostPlaceWidth = 60;
constexpr size_t kNumberColumns = 38;  // of the longest operations, without their names and places
constexpr size_t kLabelWidth = 16, kMostClasses = 3;
constexpr size_t kMostScopes = 6, kMostTransfers = 5, kMostAssumptions = 5;
constexpr double kWorthATable = 0.01;  // share of the time from which on a section has a table
constexpr double kWorthALine = 0.005;  // change of the time from which on an unspecified flag is reported

double share(Picoseconds part, Picoseconds whole) {
  return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

class BriefReport {
 public:
  BriefReport(const Report& report, const ReportTextOptions& options) : report_(report), options_(options) {}

  std::string text() {
    heading();
    time();
    bottleneck();
    utilization();
    memory();
    bound();
    flags();
    if (options_.advice) line("advice", "{}", advice_headline(*options_.advice));
    custom_calls();
    module();
    overflows();
    keys();
    if (!report_.timeline.empty()) out_ += "\n" + report_.timeline;
    scopes();
    operations();
    transfers();
    out_ += '\n';
    sections();
    assumptions();
    more();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), "{:<{}}", label, kLabelWidth);
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void title(std::string_view text) { out_ += fmt::format("\n{}\n", options_.paint.strong(text)); }
  Picoseconds makespan() const { return report_.totals().makespan; }
  std::string percent(Picoseconds part) const { return percent_text(share(part, makespan())); }
  /// "-34.4 %", of a time beside the makespan.
  std::string change(Picoseconds other) const {
    return fmt::format("{:+.1f} %", 100 * (share(other, makespan()) - 1));
  }

  void heading() {
    std::string text =
        fmt::format("{} on {}", shortened(report_.module_name, 60), shortened(report_.device_name, 40));
    if (report_.slice_devices > 1) text += fmt::format(", slice {}", report_.slice);
    if (report_.replicas * report_.partitions > 1)
      text += fmt::format(", {} x {} (replicas x partitions)", report_.replicas, report_.partitions);
    out_ += options_.paint.strong(text) + "\n";
  }

  void time() {
    std::string interval;
    if (report_.time_range)
      interval = fmt::format("  ({:.0f} % interval {} to {})", 100 * kRangeShare,
                             to_text(report_.time_range->low), to_text(report_.time_range->high));
    line("time", "{}{}", options_.paint.strong(to_text(makespan())), interval);
  }

  /// "MXU 45.9 % | HBM 41.1 % | overhead 4.9 %": by what bounds the instruction that runs.
  std::string shares(const BoundTimes& bound, Picoseconds whole) const {
    std::vector<size_t> order;
    for (size_t i = 0; i < bound.size(); ++i)
      if (share(bound[i], whole) >= kWorthATable) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bound[a] > bound[b]; });
    std::string out;
    for (const size_t i : order)
      out += fmt::format("{}{} {}", out.empty() ? "" : " | ", report_.unit_names[i],
                         percent_text(share(bound[i], whole)));
    return out;
  }

  void bottleneck() {
    if (makespan().count() == 0) return line("bottleneck", "none: the module takes no time");
    std::string limit;
    if (!report_.limiting_key.empty() &&
        !(report_.limiting_key.starts_with("memory.") && report_.limiting_key.ends_with(".bandwidth")))
      limit = fmt::format("; {} limited by {} ({})", report_.unit_name(report_.totals().bound_by),
                          report_.limiting_key, report_.limiting_rate);
    line("bottleneck", "{}{}", shares(report_.bound_time, makespan()), limit);
  }

  void utilization() {
    std::string text;
    if (const std::optional<double> flops = report_.flops_utilisation(); flops && *flops > 0)
      text = fmt::format("{}{} of the bf16 peak of {}", report_.unknown_work > 0 ? "at least " : "",
                         percent_text(*flops), to_text(*report_.peak_flops));
    if (const std::optional<double> hbm = report_.hbm_utilisation())
      text += fmt::format("{}{} of HBM's {}", text.empty() ? "" : ", ", percent_text(*hbm),
                          to_text(*report_.peak_hbm_bandwidth));
    if (!text.empty()) line("utilization", "{}", text);
  }

  void memory() {
    for (const ReportSpace& space : report_.spaces) {
      if (!space.is_used || space.peak.count() == 0 || !space.capacity) continue;
      const std::string peak = fmt::format(
          "{} of {} ({}) at {}", to_text(space.peak), to_text(*space.capacity),
          percent_text(space.peak / *space.capacity), shortened(space.peak_instruction, kBriefNameWidth));
      const std::string classes = space.peak / *space.capacity >= kWorthATable ? main_classes(space) : "";
      const bool fits = kLabelWidth + peak.size() + 2 + classes.size() <= kScreenWidth;
      line(fmt::format("{} peak", space.name), "{}{}{}", peak, classes.empty() || !fits ? "" : ": ",
           fits ? classes : "");
      if (!fits) line("", "{}", classes);
    }
  }

  /// "activations 18.18 GiB, parameters 1.87 GiB, other 304 MiB": the largest classes of the peak.
  static std::string main_classes(const ReportSpace& space) {
    BytesByClass main{};
    std::vector<size_t> order(main.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return space.by_class[a] > space.by_class[b]; });
    Bytes other{};
    for (size_t i = 0; i < order.size(); ++i)
      (i < kMostClasses ? main[order[i]] : other) += space.by_class[order[i]];
    return classes_text(main) + (other.count() > 0 ? fmt::format(", other {}", to_text(other)) : "");
  }

  void bound() {
    if (makespan().count() > 0)
      line("perfect overlap", "{} ({}): the time of the busiest unit", to_text(report_.totals().lower_bound),
           change(report_.totals().lower_bound));
  }

  void flags() {
    for (const FlagNotGiven& flag : report_.flags_not_given) {
      if (!flag.time || makespan().count() == 0 || std::abs(share(*flag.time, makespan()) - 1) < kWorthALine)
        continue;
      line("assumed flag", "--{}={}; with {}: {} ({})", flag.name, flag.value, flag.other,
           to_text(*flag.time), change(*flag.time));
    }
  }

  void custom_calls() {
    const Picoseconds unsure = report_.custom_calls_by_bytes;
    if (unsure.count() > 0)
      line("custom calls", "{} ({}) are bytes-only estimates; --custom-call-costs=FILE sets costs",
           to_text(unsure), percent(unsure));
  }

  void module() {
    const std::string size = fmt::format("{} {}, {}", report_.instruction_count,
                                         report_.instruction_count == 1 ? "instruction" : "instructions",
                                         report_.scheduled ? "scheduled" : "not scheduled");
    const std::string device = shortened(report_.device_file, 40);
    const size_t rest = kLabelWidth + size.size() + device.size() + std::string_view(", ; ").size();
    const size_t width = std::clamp(kScreenWidth - std::min(rest, kScreenWidth), size_t{24}, size_t{50});
    line("module", "{}{}; {}", size,
         report_.module_file.empty() ? "" : fmt::format(", {}", shortened(report_.module_file, width)),
         device);
  }

  void overflows() {
    for (const ReportSpace* space : report_.overflows()) {
      out_ += fmt::format("\n{}\n", options_.paint.bad(overflow_message(*space)));
      out_ += fmt::format("  {}; the largest are\n", misfit_text(*space));
      for (const ReportBuffer& buffer : space->largest)
        out_ += fmt::format("  {:>10}  {} {}  ({})\n", oom_size(buffer.size),
                            shortened(buffer.name, kBriefNameWidth), shortened(buffer.shape, 60),
                            to_text(buffer.kind));
    }
  }

  void keys() {
    for (const UnusedKey& key : report_.unused_keys.keys)
      line("without effect", "{}{} = {}{}", key.from_set ? "--set " : "", key.path, key.text,
           key.previous ? fmt::format(": the same result as with {}", *key.previous) : "");
    if (report_.unused_keys.unchecked > 0)
      line("not checked", "{} changed keys for an effect: the module is too large",
           report_.unused_keys.unchecked);
  }

  void scopes() {
    const std::vector<ScopeTime> rows = times_by_scope(report_);
    if (rows.size() < 2) return;
    title("Time by scope");
    Table table({{"scope", Align::kLeft, 48}, {"time"}, {"share"}, {"bottleneck", Align::kLeft}});
    Picoseconds rest{};
    for (size_t i = 0; i < rows.size(); ++i)
      if (i < kMostScopes)
        table.add({rows[i].name, to_text(rows[i].time), percent(rows[i].time),
                   shares(rows[i].bound, rows[i].time)});
      else
        rest += rows[i].time;
    if (rest.count() > 0)
      table.add({fmt::format("{} others", rows.size() - kMostScopes), to_text(rest), percent(rest), ""});
    out_ += table.text("  ");
  }

  void operations() {
    std::vector<const ReportInstruction*> rows;
    for (const ReportInstruction& row : report_.instructions)
      if (row->self_time.count() > 0) rows.push_back(&row);
    if (rows.empty()) return;
    title("Longest operations");
    const size_t count = options_.top == 0 ? rows.size() : std::min(rows.size(), options_.top);
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                      [](auto* a, auto* b) {
                        return (*a)->self_time != (*b)->self_time ? (*a)->self_time > (*b)->self_time : a < b;
                      });
    size_t name_width = 0;
    for (size_t i = 0; i < count; ++i) name_width = std::max(name_width, rows[i]->name.size());
    const size_t rest = kScreenWidth - kNumberColumns - std::min(name_width, kBriefNameWidth);
    const size_t place_width = std::clamp(rest, kLeastPlaceWidth, kMostPlaceWidth);
    Table table({{"instruction", Align::kLeft, kBriefNameWidth},
                 {"time"},
                 {"share"},
                 {"bound by", Align::kLeft, 12},
                 {"runs"},
                 {"where", Align::kLeft, place_width}});
    for (size_t i = 0; i < count; ++i) {
      const ReportInstruction& row = *rows[i];
      const Unit unit = row->exposed * 2 > row->self_time ? Unit::kWait : row->bound_by;
      std::string place = place_of(row, place_width);
      if (place.empty() && row.line > 0) place = fmt::format("line {}", row.line);
      table.add({std::string(row.name), to_text(row->self_time), percent(row->self_time),
                 report_.unit_name(unit), fmt::format("{}", row->executions), std::move(place)});
    }
    out_ += table.text("  ");
    if (rows.size() > count) out_ += fmt::format("  and {} more\n", rows.size() - count);
  }

  /// Transfers that the core waits for, all their runs together, the longest first.
  void transfers() {
    std::vector<const ReportTransfer*> rows;
    Picoseconds sum{};
    for (const ReportTransfer& row : report_.transfers)
      if (row->exposed.count() > 0) {
        rows.push_back(&row);
        sum += row->exposed * row->executions;
      }
    if (share(sum, makespan()) < kWorthATable) return;
    title("Exposed transfers (the TensorCore stalls on them)");
    std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) {
      return (*a)->exposed * (*a)->executions > (*b)->exposed * (*b)->executions;
    });
    Table table({{"start", Align::kLeft, kBriefNameWidth},
                 {"exposed"},
                 {"share"},
                 {"hidden"},
                 {"runs"},
                 {"bytes"},
                 {"kind", Align::kLeft}});
    const size_t count = std::min(rows.size(), kMostTransfers);
    for (size_t i = 0; i < count; ++i) {
      const ReportTransfer& row = *rows[i];
      const Picoseconds exposed = row->exposed * row->executions;
      table.add({std::string(row.start_name), to_text(exposed), percent(exposed),
                 to_text(row->hidden * row->executions), fmt::format("{}", row->executions),
                 to_text(row->bytes), std::string(to_text(row->kind))});
    }
    out_ += table.text("  ");
    if (rows.size() > count) out_ += fmt::format("  and {} more\n", rows.size() - count);
  }

  void section_of(std::string_view label, TransferKind kind, Picoseconds exposed, std::string_view extra) {
    const auto count = std::count_if(report_.transfers.begin(), report_.transfers.end(),
                                     [&](const ReportTransfer& row) { return row->kind == kind; });
    if (count > 0) line(label, "{}, exposed {} ({}){}", count, to_text(exposed), percent(exposed), extra);
  }

  void sections() {
    const Totals& totals = report_.totals();
    section_of("copies", TransferKind::kCopy, totals.exposed_copies, "");
    section_of("collectives", TransferKind::kCollective, totals.all_exposed_collectives(),
               fmt::format("; one device sends {}", to_text(totals.sent + totals.scalar_sent)));
    if (report_.spread && !report_.spread->mesh.empty())
      line("mesh", "{}; {} reshardings, {} replicated operations", report_.spread->mesh,
           report_.spread->reshardings.size(), report_.spread->replicated.size());
    const auto unknown = std::count_if(report_.loops.begin(), report_.loops.end(),
                                       [](const ReportLoop& l) { return !l->known; });
    if (!report_.loops.empty())
      line("loops", "{}{}", report_.loops.size(),
           unknown > 0 ? fmt::format(", {} with an assumed trip count (--while-trip-count=N)", unknown) : "");
    if (report_.padded_arrays > 0)
      line("padding", "{:.2f}x, {} in {} {}", report_.padding_total.expansion,
           to_text(report_.padding_total.extra), report_.padded_arrays,
           report_.padded_arrays == 1 ? "array" : "arrays");
    if (!report_.energy.empty() && makespan().count() > 0)
      line("energy", "{}, {:.4g} W on average (switching alone)", to_text(report_.total_energy()),
           report_.total_energy().count() / static_cast<double>(makespan().count()));
    line("confidence", "{}", confidence());
  }

  /// "58 % published, 41 % calibrated": the time by the provenance of the device numbers that determine it.
  std::string confidence() const {
    std::string out;
    for (size_t i = 0; i < kProvenanceCount; ++i)
      if (const Picoseconds time = report_.totals().by_provenance[i]; share(time, makespan()) >= kWorthALine)
        out += fmt::format("{}{:.0f} % {}", out.empty() ? "" : ", ", 100 * share(time, makespan()),
                           to_text(static_cast<Provenance>(i)));
    return out.empty() ? "no instruction takes time" : out + " device parameters";
  }

  void assumptions() {
    if (report_.assumptions.empty()) return;
    title("Assumptions");
    const size_t count = std::min(report_.assumptions.size(), kMostAssumptions);
    for (size_t i = 0; i < count; ++i) {
      const ReportAssumption& item = report_.assumptions[i];
      out_ +=
          fmt::format("  - {}{}\n", item.text, item.count > 1 ? fmt::format(" ({} times)", item.count) : "");
    }
    if (report_.assumptions.size() > count)
      out_ += fmt::format("  and {} more (--full)\n", report_.assumptions.size() - count);
  }

  void more() {
    out_ +=
        "\n--full has all sections, --format=html -o r.html a page, `hlosim explain FILE NAME` one time,\n"
        "--advise=10s the largest saving\n";
  }

  const Report& report_;
  const ReportTextOptions& options_;
  std::string out_;
};

}  // namespace

std::string brief_text(const Report& report, const ReportTextOptions& options) {
  return printable(BriefReport(report, options).text(), options.paint.on);
}

}  // namespace hlosim
