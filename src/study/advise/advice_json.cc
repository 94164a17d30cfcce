#include "advise/advice_text.h"
#include "model/version.h"
#include "text/json.h"

namespace hlosim {
namespace {

constexpr int kAdviceSchema = 1;

Json number_or_null(int64_t number) { return number == 0 ? Json(nullptr) : Json(number); }
Json time_or_null(const std::optional<Picoseconds>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

Json place_json(const AdvicePlace& place) {
  return {{"instruction", Json::text_or_null(place.instruction)},
          {"op_name", Json::text_or_null(place.op_name)},
          {"source_file", Json::text_or_null(place.source_file)},
          {"source_line", number_or_null(place.source_line)},
          {"line", number_or_null(place.line)}};
}

Json advice_row(const Advice& advice) {
  return {{"kind", std::string(advice.kind->name)},
          {"name", advice.proposal.name},
          {"saved_ps", advice.saved().count()},
          {"saved_low_ps", time_or_null(advice.saved_low)},
          {"saved_high_ps", time_or_null(advice.saved_high)},
          {"share", advice.share()},
          {"before_ps", advice.before.count()},
          {"after_ps", advice.after.count()},
          {"work", advice.proposal.work},
          {"hbm_peak_before_bytes", advice.peak_before.count()},
          {"hbm_peak_after_bytes", advice.peak_after.count()},
          {"fits_before", advice.fits_before},
          {"fits_after", advice.fits_after},
          {"place", place_json(advice.proposal.place)},
          {"problem", advice.proposal.problem},
          {"change", advice.proposal.change},
          {"reason", advice.proposal.reason},
          {"proof", Json{{"state", std::string(to_text(advice.proof.state))}, {"text", advice.proof.text}}}};
}

Json attempt_row(const AdviceAttempt& attempt) {
  return {{"kind", std::string(attempt.kind->name)},
          {"name", attempt.name},
          {"outcome", std::string(to_text(attempt.outcome))},
          {"before_ps", number_or_null(attempt.before.count())},
          {"after_ps", number_or_null(attempt.after.count())},
          {"note", Json::text_or_null(attempt.note)}};
}

}  // namespace

std::string advice_json(const AdviceReport& report) {
  Json advice = Json::array(), attempts = Json::array(), worth = Json::array(), together(nullptr);
  for (const Advice& one : report.advice) advice.push_back(advice_row(one));
  for (const AdviceAttempt& one : report.attempts) attempts.push_back(attempt_row(one));
  for (const LineWorth& one : report.worth)
    worth.push_back({{"what", one.what},
                     {"op_name", Json::text_or_null(one.op_name)},
                     {"instructions", one.instructions},
                     {"time_ps", one.time.count()},
                     {"step_without_ps", one.without.count()}});
  if (report.together) {
    Json numbers = Json::array();
    for (const size_t i : report.together->advice) numbers.push_back(i + 1);
    together = Json{{"advice", std::move(numbers)}, {"after_ps", report.together->after.count()}};
  }
  return Json{
             {"schema", kAdviceSchema},
             {"model_version", kModelVersion},
             {"module", Json{{"name", report.module_name}, {"file", Json::text_or_null(report.module_file)}}},
             {"device", report.device_name},
             {"time_ps", report.time.count()},
             {"time_low_ps", report.range ? Json(report.range->low.count()) : Json(nullptr)},
             {"time_high_ps", report.range ? Json(report.range->high.count()) : Json(nullptr)},
             {"hbm_peak_bytes", report.peak.count()},
             {"fits", report.fits},
             {"advice", std::move(advice)},
             {"together", std::move(together)},
             {"attempts", std::move(attempts)},
             {"worth", std::move(worth)},
             {"complete", !report.cut}}
             .dump(1) +
         "\n";
}

}  // namespace hlosim
