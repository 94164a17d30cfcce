#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/text.h"
#include "measured/comparison_output.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr size_t kNameWidth = 44, kListed = 30;

std::string share_text(Picoseconds part, Picoseconds whole) {
  return whole.count() > 0
             ? percent_text(static_cast<double>(part.count()) / static_cast<double>(whole.count()))
             : "-";
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

std::string amount_text(const std::optional<int64_t>& amount, bool bytes) {
  if (!amount) return "-";
  return bytes ? to_text(Bytes(*amount)) : fmt::format("{:.4g}", static_cast<double>(*amount));
}

std::string both(const std::string& measured, const std::string& simulated) {
  if (measured.empty() && simulated.empty()) return "-";
  return fmt::format("{} / {}", measured.empty() ? "-" : measured, simulated.empty() ? "-" : simulated);
}

std::string name_of(const ComparedOperation& row) {
  std::string name = row.name();
  if (row.renamed) name += " = " + row.simulated->name;
  if (row.measured && !row.measured->core.empty())
    name += fmt::format(" ({})", row.measured->core);
  else if (row.measured ? row.measured->beside : row.simulated->beside)
    name += " (concurrent)";
  return name;
}

std::vector<std::string> cells_of(const ComparedOperation& row, Picoseconds all) {
  const ProfiledOperation* measured = row.measured;
  const SimulatedOperation* simulated = row.simulated;
  const bool is_part = measured && !measured->beside;
  return {name_of(row),
          measured ? (measured->category.empty() ? "-" : measured->category) : simulated->category,
          measured ? grouped(measured->occurrences) : "-",
          measured ? to_text(measured->mean()) : "-",
          simulated ? to_text(simulated->mean()) : "-",
          ratio_text(row.ratio()),
          is_part ? share_text(measured->self_time, all) : "-",
          both(row.bound_by, simulated ? simulated->bound_by : ""),
          both(measured ? amount_text(measured->flops, false) : "",
               simulated ? amount_text(simulated->flops, false) : ""),
          both(measured ? amount_text(measured->bytes, true) : "",
               simulated ? amount_text(simulated->bytes, true) : "")};
}

class Writer {
 public:
  Writer(const ProfileComparison& comparison, const ComparisonTextOptions& options)
      : comparison_(comparison), options_(options), print_{out_} {}

  std::string write() {
    const Profile& profile = *comparison_.profile;
    print_("{}: {}", profile.file, profile.form);
    if (!profile.device_type.empty()) print_(", {}", shown(profile.device_type));
    if (profile.devices > 0) print_(", {} {}", profile.devices, profile.devices == 1 ? "device" : "devices");
    print_("\n");
    for (const std::string& note : profile.notes) print_("note: {}\n", note);
    steps(profile);
    for (const ComparedProgram& one : comparison_.programs) program(one);
    return std::move(out_);
  }

 private:
  void steps(const Profile& profile) {
    if (profile.steps.empty()) return;
    Picoseconds sum{}, shortest = kForever, longest{};
    int64_t count = 0;
    for (const ProfiledStep& step : profile.steps) {
      sum += step.time;
      count += step.occurrences;
      const Picoseconds each = step.time / std::max<int64_t>(step.occurrences, 1);
      shortest = std::min(shortest, each);
      longest = std::max(longest, each);
    }
    print_("{} {}: {} each ({} to {})\n", profile.steps.size(), profile.steps.size() == 1 ? "step" : "steps",
           to_text(sum / std::max<int64_t>(count, 1)), to_text(shortest), to_text(longest));
  }

  void program(const ComparedProgram& one) {
    const ProfiledProgram& program = *one.program;
    print_("\n{}", program.name.empty() ? std::string("program") : shown(program.name, 200));
    if (program.id) print_(" ({})", *program.id);
    if (program.runs > 0)
      print_(": {} {}, {} each ({} to {})", grouped(program.runs), program.runs == 1 ? "run" : "runs",
             to_text(program.time / program.runs), to_text(program.shortest), to_text(program.longest));
    print_("\n");
    if (!one.not_simulated.empty())
      print_("  not simulated: {}\n", one.not_simulated);
    else
      sums(one);
    categories(one);
    rows(one);
    unmatched(one, true);
    unmatched(one, false);
  }

  void sums(const ComparedProgram& one) {
    const Picoseconds all = one.measured_operations(), matched = one.matched_operations(),
                      simulated = one.matched_simulated();
    print_("  simulated on {}{}: {} each run", one.device,
           one.module_file.empty() ? "" : fmt::format(" ({})", one.module_file), to_text(one.simulated));
    if (one.program->runs > 0 && one.simulated.count() > 0)
      print_(", measured / simulated {:.3f}", static_cast<double>(one.program->time.count()) /
                                                  static_cast<double>(one.program->runs) /
                                                  static_cast<double>(one.simulated.count()));
    print_("\n  operations: {} measured, of it {} matched", to_text(all), share_text(matched, all));
    if (simulated.count() > 0)
      print_("; those {} simulated, measured / simulated {:.3f}", to_text(simulated),
             static_cast<double>(matched.count()) / static_cast<double>(simulated.count()));
    print_("\n");
  }

  void categories(const ComparedProgram& one) {
    if (one.categories.empty()) return;
    Table table({{"category", Align::kLeft}, {"operations"}, {"measured"}, {"simulated"}, {"ratio"}});
    for (const ComparedCategory& sum : one.categories)
      table.add({sum.name, grouped(sum.operations), to_text(sum.measured), to_text(sum.simulated),
                 sum.simulated.count() > 0
                     ? fmt::format("{:.3f}", static_cast<double>(sum.measured.count()) /
                                                 static_cast<double>(sum.simulated.count()))
                     : "-"});
    print_("\n{}", table.text("  "));
  }

  void rows(const ComparedProgram& one) {
    Table table({{"operation", Align::kLeft, kNameWidth},
                 {"category", Align::kLeft},
                 {"occurrences"},
                 {"measured"},
                 {"simulated"},
                 {"ratio"},
                 {"share"},
                 {"bound", Align::kLeft},
                 {"FLOPs", Align::kLeft},
                 {"bytes", Align::kLeft}});
    const Picoseconds all = one.measured_operations();
    size_t left = 0, written = 0;
    for (const ComparedOperation& row : one.operations) {
      if (!row.measured || (!row.simulated && one.not_simulated.empty())) continue;
      if (options_.top > 0 && written >= options_.top) {
        ++left;
        continue;
      }
      ++written;
      table.add(cells_of(row, all));
    }
    if (!table.empty())
      print_("\n  {}\n{}",
             one.not_simulated.empty() ? "the farthest off by time first:" : "the longest first:",
             table.text("  "));
    if (left > 0) print_("  and {} more (--top=0 shows all)\n", left);
  }

  void unmatched(const ComparedProgram& one, bool measured) {
    if (!one.not_simulated.empty()) return;
    std::vector<std::string> names;
    size_t more = 0;
    for (const ComparedOperation& row : one.operations) {
      if (measured ? !row.measured || row.simulated : row.measured != nullptr) continue;
      if (names.size() == kListed)
        ++more;
      else
        names.push_back(fmt::format("{} ({})", name_of(row),
                                    to_text(measured ? row.measured->self_time : row.simulated->mean())));
    }
    if (names.empty()) return;
    print_("  only {}: {}{}\n", measured ? "measured" : "simulated", fmt::join(names, ", "),
           more > 0 ? fmt::format(", and {} more", more) : "");
  }

  const ProfileComparison& comparison_;
  const ComparisonTextOptions& options_;
  std::string out_;
  TextBuilder print_;
};

}  // namespace

std::string to_text(const ProfileComparison& comparison, const ComparisonTextOptions& options) {
  return Writer(comparison, options).write();
}

}  // namespace hlosim
