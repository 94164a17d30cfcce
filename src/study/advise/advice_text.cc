#include "advise/advice_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/number_text.h"
#include "base/text.h"

namespace hlosim {
namespace {

using AttemptOutcome = AdviceAttempt::Outcome;
constexpr double kLeastShownShare = 0.005;

std::string saving_text(const Advice& advice) {
  if (!advice.fits_before && advice.fits_after)
    return fmt::format("makes it fit ({} to {} of HBM), step {} to {}", to_text(advice.peak_before),
                       to_text(advice.peak_after), to_text(advice.before), to_text(advice.after));
  if (advice.proposal.for_memory && advice.share() < kLeastShownShare)
    return fmt::format("saves {} of HBM ({:.1f} %)", to_text(advice.peak_before - advice.peak_after),
                       100.0 * static_cast<double>((advice.peak_before - advice.peak_after).count()) /
                           static_cast<double>(std::max<int64_t>(1, advice.peak_before.count())));
  std::string text = fmt::format("saves {} ({})", to_text(advice.saved()), percent_text(advice.share()));
  if (advice.proposal.work != 1) text += " for the same work";
  return text;
}

std::string interval_text(const Advice& advice) {
  if (!advice.saved_low || !advice.saved_high || advice.saved().count() <= 0) return {};
  const Picoseconds low = std::max(Picoseconds(0), *advice.saved_low);
  return fmt::format(", 80 % interval {} to {}", to_text(low), to_text(*advice.saved_high));
}

std::string place_text(const AdvicePlace& place) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (place.source_line > 0) add(fmt::format("{}:{}", place.source_file, place.source_line));
  add(place.op_name);
  if (!place.instruction.empty())
    add(place.line > 0 ? fmt::format("{} (line {})", place.instruction, place.line) : place.instruction);
  return text;
}

class AdviceWriter {
 public:
  AdviceWriter(const AdviceReport& report, const AdviceTextOptions& options)
      : report_(report), options_(options) {}

  std::string text() {
    head();
    const size_t shown =
        options_.top == 0 ? report_.advice.size() : std::min(options_.top, report_.advice.size());
    for (size_t i = 0; i < shown; ++i) piece(i);
    if (shown < report_.advice.size())
      line("\nand {} more (--top=0 shows all)", report_.advice.size() - shown);
    attempts();
    worth();
    return printable(std::move(out_), options_.paint.on);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void head() {
    line("{}",
         options_.paint.strong(fmt::format("Advice for {} on {}", report_.module_name, report_.device_name)));
    std::string range;
    if (report_.range)
      range =
          fmt::format(", 80 % interval {} to {}", to_text(report_.range->low), to_text(report_.range->high));
    line("step {}{}; HBM peak {}{}", to_text(report_.time), range, to_text(report_.peak),
         report_.fits ? "" : ", which does not fit");
    if (report_.advice.empty()) {
      line("no change that was tried pays");
    } else if (report_.together) {
      std::string numbers;
      for (const size_t i : report_.together->advice)
        numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", i + 1);
      line("{} changes pay; {} together, simulated: {} ({} less)", report_.advice.size(), numbers,
           to_text(report_.together->after),
           percent_text(static_cast<double>((report_.time - report_.together->after).count()) /
                        static_cast<double>(std::max<int64_t>(1, report_.time.count()))));
    } else {
      line("{}", report_.advice.size() == 1 ? "1 change pays"
                                            : fmt::format("{} changes pay", report_.advice.size()));
    }
  }

  void piece(size_t i) {
    const Advice& advice = report_.advice[i];
    line("\n{}  {}{}", options_.paint.strong(fmt::format("{}", i + 1)),
         options_.paint.good(saving_text(advice)), interval_text(advice));
    const std::string place = place_text(advice.proposal.place);
    if (!place.empty()) line("   where   {}", place);
    line("   what    {}", advice.proposal.problem);
    line("   change  {}", advice.proposal.change);
    line("   why     {}", advice.proposal.reason);
    line("   tried   {}: {}; step {} to {}{}", advice.kind->name, advice.proposal.name,
         to_text(advice.before), to_text(advice.after), memory_text(advice));
    if (advice.proof.state != Proof::State::kNotTried || !advice.proof.text.empty())
      line("   proof   {}: {}", to_text(advice.proof.state), advice.proof.text);
  }

  static std::string memory_text(const Advice& advice) {
    if (advice.peak_before == advice.peak_after) return {};
    return fmt::format(", HBM peak {} to {}", to_text(advice.peak_before), to_text(advice.peak_after));
  }

  void attempts() {
    std::map<AttemptOutcome, std::vector<const AdviceAttempt*>> by_outcome;
    for (const AdviceAttempt& attempt : report_.attempts) by_outcome[attempt.outcome].push_back(&attempt);
    if (!by_outcome.empty()) out_ += '\n';
    for (const auto& [outcome, list] : by_outcome) {
      std::string names;
      constexpr size_t kMostNames = 12;
      for (size_t i = 0; i < std::min(list.size(), kMostNames); ++i)
        names += fmt::format("{}{}", i ? ", " : "", attempt_text(*list[i]));
      if (list.size() > kMostNames) names += fmt::format(", and {} more", list.size() - kMostNames);
      line("tried, {}: {}", outcome == AttemptOutcome::kNoTime ? "no time left" : to_text(outcome), names);
    }
  }

  static std::string attempt_text(const AdviceAttempt& attempt) {
    std::string text = attempt.name;
    if (attempt.after.count() > 0 && attempt.before.count() > 0)
      text += fmt::format(" ({:+.1f} %)", 100 * (static_cast<double>(attempt.after.count()) /
                                                     static_cast<double>(attempt.before.count()) -
                                                 1));
    if (!attempt.note.empty()) text += fmt::format(" ({})", shortened_note(attempt.note));
    return text;
  }
  static std::string shortened_note(const std::string& note) {
    constexpr size_t kMost = 80;
    return note.size() <= kMost ? note : note.substr(0, kMost) + "...";
  }

  void worth() {
    if (report_.worth.empty()) return;
    line("\n{}", options_.paint.strong("Worth of source lines: the step if the line took nothing"));
    for (const LineWorth& one : report_.worth)
      line("  {:>10}  ({:+.1f} %)  {}{}", to_text(one.without),
           100 * (static_cast<double>(one.without.count()) /
                      static_cast<double>(std::max<int64_t>(1, report_.time.count())) -
                  1),
           one.what, one.op_name.empty() || one.op_name == one.what ? "" : fmt::format("  {}", one.op_name));
  }

  const AdviceReport& report_;
  const AdviceTextOptions& options_;
  std::string out_;
};

}  // namespace

std::string advice_text(const AdviceReport& report, const AdviceTextOptions& options) {
  return AdviceWriter(report, options).text();
}

std::vector<ReportAdvice> advice_of_report(const AdviceReport& report) {
  std::vector<ReportAdvice> rows;
  for (const Advice& one : report.advice)
    rows.push_back({saving_text(one) + interval_text(one), one.proposal.problem, one.proposal.change,
                    place_text(one.proposal.place), one.saved()});
  return rows;
}

}  // namespace hlosim
