#include "report/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/number_text.h"
#include "base/text.h"
#include "hlo/frontend.h"
#include "text/table.h"

namespace hlosim {
namespace {

constexpr size_t kNameWidth = 34;

std::string share_of(Picoseconds part, Picoseconds whole) {
  if (whole.count() <= 0) return "unknown";
  return percent_text(static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}
std::string exact(Bytes bytes) { return grouped(bytes.count()) + " B"; }
std::string optional_bytes(const std::optional<Bytes>& bytes) { return bytes ? to_text(*bytes) : "unknown"; }

// "60.13 G": a count of operations with a decimal prefix.
std::string count_text(const std::optional<int64_t>& count) {
  if (!count) return "unknown";
  constexpr std::string_view kPrefix[] = {"", " k", " M", " G", " T", " P", " E"};
  double value = static_cast<double>(*count);
  size_t step = 0;
  for (; value >= 999.95 && step + 1 < std::size(kPrefix); ++step) value /= 1000;
  return step == 0 ? fmt::format("{}", *count) : fmt::format("{:.4g}{}", value, kPrefix[step]);
}

class TextReport {
 public:
  TextReport(const Report& report, const ReportTextOptions& options) : report_(report), options_(options) {}

  std::string text() {
    heading();
    summary();
    findings();
    timeline();
    memory();
    roofline();
    energy();
    categories();
    units();
    longest();
    copies();
    collectives();
    if (report_.spread) out_ += spread_text(*report_.spread, makespan(), options_.top);
    other_transfers();
    loops();
    padding();
    assumptions();
    coverage();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void section(std::string_view title) { line("\n{}", options_.paint.strong(title)); }
  size_t shown(size_t count) const { return options_.top == 0 ? count : std::min(count, options_.top); }
  void rest(size_t count) {
    if (count > shown(count))
      line("  and {} more (--top=0 shows all)", grouped(static_cast<int64_t>(count - shown(count))));
  }
  Picoseconds makespan() const { return report_.totals().makespan; }

  void heading() {
    line("{}", options_.paint.strong(fmt::format("{} on {}", shortened(report_.module_name, 80),
                                                 shortened(report_.device_name, 80))));
  }

  void summary() {
    const Totals& totals = report_.totals();
    line("time              {}  ({} cycles @ {})", to_text(totals.makespan), grouped(totals.cycles.count()),
         to_text(report_.clock));
    if (report_.time_range)
      line("interval          {} to {} ({:.0f} % prediction interval)", to_text(report_.time_range->low),
           to_text(report_.time_range->high), 100 * kRangeShare);
    if (makespan().count() > 0)
      line("bound by          {} for {} of the time{}", report_.unit_name(totals.bound_by),
           share_of(report_.bound_time[index_of(totals.bound_by)], makespan()), limit());
    else
      line("bound by          nothing: the module takes no time");
    summary_flops();
    const Traffic& hbm = report_.hbm_traffic();
    line("HBM traffic       {} ({}): {} read, {} written", to_text(hbm.total()), exact(hbm.total()),
         exact(hbm.read), exact(hbm.written));
    const std::optional<double> share = report_.hbm_utilisation();
    if (share)
      line("HBM bandwidth     {}, {} of {}", to_text(*report_.peak_hbm_bandwidth * *share),
           percent_text(*share), to_text(*report_.peak_hbm_bandwidth));
    else
      line("HBM bandwidth     unknown");
    line("perfect overlap   {}  (the time of the busiest unit)", to_text(totals.lower_bound));
    summary_custom_calls();
    summary_flags();
    if (options_.advice) line("advice            {}", advice_headline(*options_.advice));
    line("module            {} {}, {}{}", grouped(report_.instruction_count),
         report_.instruction_count == 1 ? "instruction" : "instructions",
         report_.scheduled ? "scheduled" : "not scheduled",
         report_.module_file.empty() ? "" : fmt::format(", from {}", shortened(report_.module_file, 60)));
    summary_results();
    line("device            {}; slice {}, {} x {} (replicas x partitions)",
         shortened(report_.device_file, 40), report_.slice, report_.replicas, report_.partitions);
  }

  /// What the program's author calls the results, where the module says so.
  void summary_results() {
    if (!report_.module) return;
    const auto names = frontend_attribute(*report_.module, kResultNames);
    if (names && !names->empty()) line("results           {}", shortened(*names, 100));
  }

  /// What is known of them, the most trustworthy first; what the user says is an assumption of its own.
  void summary_custom_calls() {
    std::string text;
    const auto add = [&](Picoseconds time, std::string_view how) {
      if (time.count() > 0)
        text += fmt::format("{}{} by {} ({})", text.empty() ? "" : ", ", to_text(time), how,
                            share_of(time, makespan()));
    };
    add(report_.custom_calls_by_blocks, "their blocks");
    add(report_.custom_calls_by_estimate, "their cost_estimate");
    add(report_.custom_calls_by_bytes, "their bytes only");
    if (text.empty()) return;
    const bool could_be_better =
        report_.custom_calls_by_estimate.count() > 0 || report_.custom_calls_by_bytes.count() > 0;
    line("custom calls      {}{}", text, could_be_better ? "; --custom-call-costs=FILE sets costs" : "");
  }

  /// Unspecified flags that would change the time.
  void summary_flags() {
    constexpr double kWorthALine = 0.005;
    for (const FlagNotGiven& flag : report_.flags_not_given) {
      if (!flag.time || makespan().count() == 0) continue;
      const double difference =
          static_cast<double>(flag.time->count()) / static_cast<double>(makespan().count()) - 1;
      if (std::abs(difference) >= kWorthALine)
        line("assumed flag      --{}={}; with {}: {} ({:+.1f} %)", flag.name, flag.value, flag.other,
             to_text(*flag.time), 100 * difference);
    }
  }

  /// Of a memory space that another rate limits than its own bandwidth.
  std::string limit() const {
    if (report_.limiting_key.empty() ||
        (report_.limiting_key.starts_with("memory.") && report_.limiting_key.ends_with(".bandwidth")))
      return {};
    return fmt::format(", limited by {} ({})", report_.limiting_key, report_.limiting_rate);
  }

  void summary_flops() {
    const std::optional<double> share = report_.flops_utilisation();
    if (share)
      line("FLOP/s            {}{}, {} of the peak of {} (bf16); {} FLOP in matmuls",
           report_.unknown_work > 0 ? "at least " : "", to_text(*report_.peak_flops * *share),
           percent_text(*share), to_text(*report_.peak_flops), count_text(report_.totals().flops.count()));
    else
      line("FLOP/s            unknown");
  }

  void findings() {
    for (const ReportSpace* space : report_.overflows()) {
      line("\n{}", options_.paint.bad(overflow_message(*space)));
      line("  {} needed at step {}{}, {} there", exact(space->peak), space->peak_step,
           space->peak_instruction.empty()
               ? ""
               : fmt::format(" ({})", shortened(space->peak_instruction, kNameWidth)),
           exact(*space->capacity));
      line("  {}; the largest are", misfit_text(*space));
      for (const ReportBuffer& buffer : space->largest)
        line("  {:>10}  {} {}  ({})", oom_size(buffer.size), shortened(buffer.name, kNameWidth),
             shortened(buffer.shape, 60), to_text(buffer.kind));
    }
    if (report_.unused_keys.keys.empty() && report_.unused_keys.unchecked == 0) return;
    section("Device keys without effect on this module");
    for (const UnusedKey& key : report_.unused_keys.keys)
      line("  {}{} = {}{}", key.from_set ? "--set " : "", key.path, key.text,
           key.previous ? fmt::format(": the same result as with {}", *key.previous) : "");
    if (report_.unused_keys.unchecked > 0)
      line("  {} keys were not checked: the module is too large", report_.unused_keys.unchecked);
  }

  void timeline() {
    if (!report_.timeline.empty()) out_ += "\n" + report_.timeline;
  }

  void energy() {
    if (report_.energy.empty()) return;
    section("Energy (switching; without clocks, leakage, control and host)");
    const Picojoules total = report_.total_energy();
    Table table({{"part", Align::kLeft}, {"amount"}, {"each"}, {"energy"}, {"share"}});
    for (const auto& [part, source] : report_.energy)
      table.add({part.what, fmt::format("{:.4g} {}", part.amount, part.unit),
                 fmt::format("{:.4g} pJ/{}", part.each, part.unit), to_text(part.energy),
                 total.count() > 0 ? percent_text(part.energy / total) : "-"});
    out_ += table.text("  ");
    const double seconds = static_cast<double>(makespan().count()) / 1e12;
    line("  total {}{}", to_text(total),
         seconds > 0 ? fmt::format(", {:.4g} W on average", total.count() / 1e12 / seconds) : "");
  }

  void roofline() {
    if (report_.roofline.empty() || report_.totals().flops.count() == 0) return;
    section("Roofline of matmuls");
    Table table({{"space", Align::kLeft, 12}, {"bytes"}, {"FLOP/byte"}, {"ridge"}, {"rate"}, {"attainable"}});
    for (const ReportRoofline& row : report_.roofline)
      table.add({row.space, to_text(row.bytes), fmt::format("{:.4g}", row.intensity),
                 fmt::format("{:.4g}", row.ridge), to_text(row.rate), to_text(row.attainable)});
    out_ += table.text("  ");
  }

  void memory() {
    section("Memory spaces");
    Table table({{"space", Align::kLeft, 12},
                 {"read"},
                 {"written"},
                 {"peak"},
                 {"mean"},
                 {"capacity"},
                 {"used"},
                 {"scratch"},
                 {"peak at", Align::kLeft, kNameWidth}});
    for (const ReportSpace& space : report_.spaces) {
      const std::string name = space.number < 0 || space.name == fmt::format("S({})", space.number)
                                   ? space.name
                                   : fmt::format("{} S({})", space.name, space.number);
      table.add({name, to_text(space.read), to_text(space.written),
                 space.is_used ? to_text(space.peak) : "nothing", space.is_used ? to_text(space.mean) : "-",
                 optional_bytes(space.capacity),
                 space.is_used && space.capacity && space.capacity->count() > 0
                     ? percent_text(space.peak / *space.capacity)
                 : space.is_used ? "unknown"
                                 : "-",
                 space.reserved ? to_text(*space.reserved) : "-",
                 space.is_used ? fmt::format("step {} ({})", space.peak_step, space.peak_instruction) : "-"});
    }
    out_ += table.empty() ? "  none: the module holds no arrays\n" : table.text("  ");
    if (report_.spread || report_.replicas * report_.partitions > 1) memory_classes();
  }

  /// What a device of several holds.
  void memory_classes() {
    for (const ReportSpace& space : report_.spaces)
      if (space.is_used && space.peak.count() > 0)
        line("  {} at its peak: {}", space.name, classes_text(space.by_class));
  }

  void categories() {
    section("Time by category");
    Table table({{"category", Align::kLeft}, {"time"}, {"share"}});
    for (size_t i = 0; i < kCostCategoryCount; ++i)
      add_time(table, std::string(to_text(static_cast<CostCategory>(i))), report_.totals().by_category[i]);
    add_time(table, "waiting", report_.totals().idle);
    out_ += table.empty() ? "  none: no instruction takes time\n" : table.text("  ");
  }

  void add_time(Table& table, std::string name, Picoseconds time) {
    if (time.count() > 0) table.add({std::move(name), to_text(time), share_of(time, makespan())});
  }

  void units() {
    section("Time by unit");
    Table table({{"unit", Align::kLeft}, {"busy"}, {"share"}, {"bounds"}, {"share"}});
    for (size_t i = 0; i < report_.bound_time.size(); ++i) {
      const Picoseconds busy = i < kUnitCount ? report_.totals().busy[i] : Picoseconds(0);
      const Picoseconds bounds = report_.bound_time[i];
      if (busy.count() == 0 && bounds.count() == 0) continue;
      table.add({report_.unit_names[i], i < kUnitCount ? to_text(busy) : "-",
                 i < kUnitCount ? share_of(busy, makespan()) : "-", to_text(bounds),
                 share_of(bounds, makespan())});
    }
    out_ += table.empty() ? "  none: no unit is ever busy\n" : table.text("  ");
  }

  void longest() {
    section("Longest instructions (time, FLOP and bytes of all their runs)");
    std::vector<const ReportInstruction*> rows;
    for (const ReportInstruction& row : report_.instructions)
      if (row->self_time.count() > 0) rows.push_back(&row);
    if (rows.empty()) return line("  none: no instruction takes time");
    const size_t count = shown(rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                      [](auto* a, auto* b) {
                        return (*a)->self_time != (*b)->self_time ? (*a)->self_time > (*b)->self_time : a < b;
                      });
    Table table({{"instruction", Align::kLeft, kNameWidth},
                 {"line"},
                 {"runs"},
                 {"time"},
                 {"share"},
                 {"bound by", Align::kLeft, 12},
                 {"FLOP"},
                 {"bytes"},
                 {"padding"}});
    for (size_t i = 0; i < count; ++i) {
      const ReportInstruction& row = *rows[i];
      const InstructionWork work = report_.work(row);
      const double waste = work.padded_bytes.count() > 0 ? 1 - work.logical_bytes / work.padded_bytes : 0;
      table.add({std::string(row.name), row.line > 0 ? fmt::format("{}", row.line) : "-",
                 grouped(row->executions), to_text(row->self_time), share_of(row->self_time, makespan()),
                 row->exposed * 2 > row->self_time ? report_.unit_name(Unit::kWait)
                                                   : report_.unit_name(row->bound_by),
                 count_text(work.flops), to_text(work.padded_bytes),
                 work.padded_bytes.count() > 0 ? percent_text(std::max(waste, 0.0)) : "-"});
    }
    out_ += table.text("  ");
    rest(rows.size());
  }

  std::vector<const ReportTransfer*> transfers_of(bool (*wanted)(TransferKind)) const {
    std::vector<const ReportTransfer*> rows;
    for (const ReportTransfer& row : report_.transfers)
      if (wanted(row->kind)) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) {
      return (*a)->exposed != (*b)->exposed ? (*a)->exposed > (*b)->exposed : (*a)->duration > (*b)->duration;
    });
    return rows;
  }

  static std::string pair_name(const ReportTransfer& row) { return std::string(row.start_name); }

  void copies() {
    const auto rows = transfers_of([](TransferKind kind) { return kind == TransferKind::kCopy; });
    section(rows.empty() ? "Asynchronous copies" : "Asynchronous copies (bytes and times of one run)");
    if (rows.empty()) return line("  none: the module has no copy-start");
    line("  stalls for copies: {} ({})", to_text(report_.totals().exposed_copies),
         share_of(report_.totals().exposed_copies, makespan()));
    Table table({{"start", Align::kLeft, kNameWidth},
                 {"runs"},
                 {"from", Align::kLeft},
                 {"to", Align::kLeft},
                 {"bytes"},
                 {"takes"},
                 {"hidden"},
                 {"exposed"},
                 {"", Align::kLeft}});
    for (size_t i = 0; i < shown(rows.size()); ++i) {
      const ReportTransfer& row = *rows[i];
      table.add({pair_name(row), grouped(row->executions), row.from_space_name, row.to_space_name,
                 to_text(row->bytes), to_text(row->duration), to_text(row->hidden), to_text(row->exposed),
                 row->cross_program      ? "cross-program"
                 : row.done_name.empty() ? "no done"
                                         : ""});
    }
    out_ += table.text("  ");
    rest(rows.size());
  }

  void collectives() {
    const auto rows = transfers_of([](TransferKind kind) { return kind == TransferKind::kCollective; });
    section(rows.empty() ? "Collectives" : "Collectives (in the table bytes and times of one run)");
    if (rows.empty()) return line("  none: the module has no collectives");
    const Picoseconds synchronous =
        report_.totals().by_category[static_cast<size_t>(CostCategory::kCollective)];
    line("  synchronous, with starts and dones: {} ({}); stalls for asynchronous ones: {} ({})",
         to_text(synchronous), share_of(synchronous, makespan()),
         to_text(report_.totals().exposed_collectives),
         share_of(report_.totals().exposed_collectives, makespan()));
    line("  sent by one device: {} ({}) in arrays, {} in scalars", to_text(report_.totals().sent),
         exact(report_.totals().sent), exact(report_.totals().scalar_sent));
    Table table({{"instruction", Align::kLeft, kNameWidth},
                 {"runs"},
                 {"groups"},
                 {"payload"},
                 {"sent"},
                 {"takes"},
                 {"queued"},
                 {"hidden"},
                 {"exposed"}});
    for (size_t i = 0; i < shown(rows.size()); ++i) {
      const ReportTransfer& row = *rows[i];
      const auto& cost = row->collective;
      table.add({pair_name(row), grouped(row->executions), groups_text(row), payload_text(row),
                 cost ? to_text(cost->sent) : "unknown", to_text(row->duration), to_text(row->queued),
                 to_text(row->hidden), to_text(row->exposed)});
    }
    out_ += table.text("  ");
    for (size_t i = 0; i < shown(rows.size()); ++i) about_collective(*rows[i]);
    rest(rows.size());
  }

  static std::string groups_text(const ReportTransfer& row) {
    if (!row->collective) return "unknown";
    if (row->collective->group_size > 0 && row->collective->group_count > 0)
      return fmt::format("{} of {}", row->collective->group_count, row->collective->group_size);
    return "several";
  }

  /// A collective of scalars alone has no arrays.
  static std::string payload_text(const ReportTransfer& row) {
    if (row->bytes.count() > 0 || !row->collective || row->collective->scalar_payload.count() == 0)
      return to_text(row->bytes);
    return to_text(row->collective->scalar_payload) + " scalar";
  }

  /// How it goes about it, and whom it waits for.
  void about_collective(const ReportTransfer& row) {
    const std::string name = shortened(row.start_name, kNameWidth);
    if (row->collective && !row->collective->algorithm.empty())
      line("  {}: {}", name, row->collective->algorithm);
    if (row->queued.count() > 0)
      line("  {}: {} in the queue for the links{}{}", name, to_text(row->queued),
           row.ahead_name.empty() ? "" : ", behind ", shortened(row.ahead_name, kNameWidth));
  }

  void other_transfers() {
    const auto rows = transfers_of(
        [](TransferKind kind) { return kind != TransferKind::kCollective && kind != TransferKind::kCopy; });
    if (rows.empty()) return;
    section("Host transfers and asynchronous computations (bytes and times of one run)");
    Table table({{"start", Align::kLeft, kNameWidth},
                 {"kind", Align::kLeft},
                 {"runs"},
                 {"bytes"},
                 {"takes"},
                 {"hidden"},
                 {"exposed"}});
    for (size_t i = 0; i < shown(rows.size()); ++i) {
      const ReportTransfer& row = *rows[i];
      table.add({pair_name(row), std::string(to_text(row->kind)), grouped(row->executions),
                 to_text(row->bytes), to_text(row->duration), to_text(row->hidden), to_text(row->exposed)});
    }
    out_ += table.text("  ");
    rest(rows.size());
  }

  void loops() {
    if (report_.loops.empty()) return;
    section("Loops");
    Table table({{"loop", Align::kLeft, kNameWidth},
                 {"line"},
                 {"iterations"},
                 {"one iteration"},
                 {"", Align::kLeft}});
    for (size_t i = 0; i < shown(report_.loops.size()); ++i) {
      const ReportLoop& loop = report_.loops[i];
      table.add({std::string(loop.name), loop.line > 0 ? fmt::format("{}", loop.line) : "-",
                 grouped(loop->trip_count), to_text(loop->iteration),
                 loop->known ? "" : "assumed: --while-trip-count=N"});
    }
    out_ += table.text("  ");
    rest(report_.loops.size());
  }

  void padding() {
    section("Padding");
    const Padding& total = report_.padding_total;
    if (report_.padded_arrays == 0) return line("  none: no array takes more memory than its elements");
    line("  {} arrays are padded. All arrays: {} unpadded, {} padded, {} of padding ({:.1f}x expansion)",
         grouped(report_.padded_arrays), to_text(total.unpadded), to_text(total.padded), to_text(total.extra),
         total.expansion);
    const size_t count =
        std::min<size_t>(shown(report_.padding.size()), options_.top == 0 ? report_.padding.size() : 5);
    for (size_t i = 0; i < count; ++i) padding_entry(i + 1, report_.padding[i]);
    const auto more = static_cast<size_t>(report_.padded_arrays) - count;
    if (more > 0)
      line("  and {} more{}", grouped(static_cast<int64_t>(more)),
           options_.top == 0 ? "" : " (--top=0 shows more)");
  }

  void padding_entry(size_t number, const ReportPadding& row) {
    const auto& padding = row.padding;
    line("  {}. Size: {}", number, oom_size(padding.padded));
    line("     Operator: {}", row.op_name.empty()
                                  ? std::string("unknown, the text has no metadata for it")
                                  : fmt::format("op_name=\"{}\"", shortened(row.op_name, 90)));
    line("     Shape: {}", shortened(row.shape, 100));
    line("     Unpadded size: {}", oom_size(padding.unpadded));
    line("     Extra memory due to padding: {} ({:.1f}x expansion)", oom_size(padding.extra),
         padding.expansion);
    line("     XLA label: {} = {}", shortened(row.name, 70), row.opcode);
    line("     Allocation type: {} in {}", row.allocation, row.space);
  }

  void assumptions() {
    section("Assumptions");
    if (report_.assumptions.empty()) return line("  none");
    for (const ReportAssumption& item : report_.assumptions) {
      std::string where;
      if (!item.example.empty()) where = fmt::format(" ({})", shortened(item.example, kNameWidth));
      if (item.count > 1)
        where = item.example.empty() ? fmt::format(" ({} times)", grouped(item.count))
                                     : fmt::format(" ({} times, first: {})", grouped(item.count),
                                                   shortened(item.example, kNameWidth));
      line("  - {}{}", item.text, where);
    }
  }

  void coverage() {
    section("Confidence: time by provenance of the device parameters that determine it");
    Table table({{"source", Align::kLeft}, {"time"}, {"share"}});
    for (size_t i = 0; i < kProvenanceCount; ++i)
      add_time(table, std::string(to_text(static_cast<Provenance>(i))), report_.totals().by_provenance[i]);
    out_ += table.empty() ? "  none: no instruction takes time\n" : table.text("  ");
    line("  device {}, module {}", report_.device_fingerprint, report_.module_fingerprint);
  }

  const Report& report_;
  const ReportTextOptions& options_;
  std::string out_;
};

}  // namespace

std::string to_text(const Report& report, const ReportTextOptions& options) {
  if (!options.full) return brief_text(report, options);
  return printable(TextReport(report, options).text(), options.paint.on);
}

}  // namespace hlosim
