#include "study/accuracy_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/hash.h"

namespace hlosim {
namespace {

constexpr size_t kFewestOfGeneration = 20, kFewestOfAll = 10;
/// What a generation counts for at most among all.
constexpr double kMostOfAll = 30;
constexpr uint64_t kParts = 20;
/// Rows lean on each other, as programs consist of several kinds of work.
constexpr int kRounds = 6;
constexpr double kLeastFactor = 0.5, kMostFactor = 4;

constexpr std::string_view kAll = "all";

/// A case, in picoseconds.
struct Sample {
  std::string_view generation;
  CostCategory kind = CostCategory::kControl;  // that takes most of its time
  TimeByKind kinds{};
  double simulated = 0;
  double measured = 0;  // without what is beside the simulated time, such as the launch
  uint64_t part = 0;
};

std::vector<Sample> samples_of(const Accuracy& accuracy) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    const MeasuredCase& one = accuracy.cases[i];
    const Prediction& predicted = accuracy.predictions[i];
    if (!predicted.us || !predicted.kinds) continue;
    Sample sample;
    sample.generation = predicted.generation;
    sample.kinds = *predicted.kinds;
    sample.kind = static_cast<CostCategory>(std::ranges::max_element(sample.kinds) - sample.kinds.begin());
    for (const Picoseconds time : sample.kinds) sample.simulated += static_cast<double>(time.count());
    sample.measured = one.time_us * 1e6 - (*predicted.us * 1e6 - sample.simulated);
    sample.part = Fnv1a().add_text(one.id).value() % kParts;
    if (sample.simulated > 0) samples.push_back(sample);
  }
  return samples;
}

/// Values that count differently much.
struct Weighted {
  double value = 0, weight = 1;
};

/// The least value that `share` of the values and one more reach at most, the one more being beyond them all.
double upper_rank(std::vector<Weighted> values, double share) {
  std::ranges::sort(values, {}, &Weighted::value);
  double all = 0, most = 0, sum = 0;
  for (const Weighted& one : values) all += one.weight, most = std::max(most, one.weight);
  for (const Weighted& one : values)
    if ((sum += one.weight) >= share * (all + most) * (1 - 1e-9)) return one.value;
  return values.back().value;
}

double lower_rank(std::vector<Weighted> values, double share) {
  for (Weighted& one : values) one.value = -one.value;
  return -upper_rank(std::move(values), 1 - share);
}

/// Rows of errors made from some of the cases.
class Rows {
 public:
  explicit Rows(std::vector<const Sample*> samples) : samples_(std::move(samples)) {
    for (const Sample* sample : samples_) {
      groups_[{sample->generation, sample->kind}].push_back(sample);
      groups_[{kAll, sample->kind}].push_back(sample);
    }
    for (const auto& [key, cases] : groups_) {
      if (cases.size() < (key.first == kAll ? kFewestOfAll : kFewestOfGeneration)) continue;
      rows_.push_back({key.first, key.second, static_cast<int64_t>(cases.size()), 1, 1});
      begin(rows_.back());
    }
    for (int round = 0; round < kRounds; ++round)
      for (MeasuredError& row : rows_) draw(row);
  }

  const std::vector<MeasuredError>& rows() const { return rows_; }

 private:
  using Key = std::pair<std::string_view, CostCategory>;

  /// Of all, a generation with many cases counts no more than one with some.
  double weight(const MeasuredError& row, const Sample& sample) const {
    if (row.generation != kAll) return 1;
    const auto there = static_cast<double>(groups_.at({sample.generation, sample.kind}).size());
    return std::min(there, kMostOfAll) / there;
  }

  std::span<const Sample* const> group(const MeasuredError& row) const {
    return groups_.at({row.generation, row.category});
  }

  void begin(MeasuredError& row) {
    std::vector<Weighted> ratios;
    for (const Sample* sample : group(row))
      ratios.push_back({sample->measured / sample->simulated, weight(row, *sample)});
    row.low = lower_rank(ratios, (1 - kRangeShare) / 2);
    row.high = upper_rank(ratios, (1 + kRangeShare) / 2);
    begun_[{row.generation, row.category}] = {row.low, row.high};
  }

  const MeasuredError* row_of(std::string_view generation, CostCategory kind) const {
    const MeasuredError* found = nullptr;
    for (const MeasuredError& row : rows_) {
      if (row.category != kind) continue;
      if (row.generation == generation) return &row;
      if (row.generation == kAll) found = &row;
    }
    return found;
  }

  /// By how much `row` has to be wider for the range of a case to end at what was measured.
  double needed(const MeasuredError& row, const Sample& sample) const {
    const bool is_below = sample.measured < sample.simulated;
    double by_row = 0, by_others = 0;
    for (size_t i = 0; i < sample.kinds.size(); ++i) {
      const MeasuredError* used = row_of(row.generation, static_cast<CostCategory>(i));
      if (!used || sample.kinds[i].count() == 0) continue;
      const double wide = std::max(is_below ? 1 - used->low : used->high - 1, 0.0);
      (used == &row ? by_row : by_others) += wide * static_cast<double>(sample.kinds[i].count());
    }
    const double missing = std::abs(sample.measured - sample.simulated) - by_others;
    return missing <= 0 ? 0 : by_row <= 0 ? kMostFactor : std::min(missing / by_row, kMostFactor);
  }

  void draw(MeasuredError& row) {
    std::vector<Weighted> factors;
    for (const Sample* sample : group(row)) factors.push_back({needed(row, *sample), weight(row, *sample)});
    double& drawn = drawn_[{row.generation, row.category}];
    const auto& [low, high] = begun_.at({row.generation, row.category});
    if (drawn == 0) drawn = 1;
    drawn = std::clamp(drawn * upper_rank(std::move(factors), kRangeShare), kLeastFactor, kMostFactor);
    row.low = std::max(1 - drawn * std::max(1 - low, 0.0), 0.0);
    row.high = 1 + drawn * std::max(high - 1, 0.0);
  }

  std::vector<const Sample*> samples_;
  std::map<Key, std::vector<const Sample*>> groups_;
  std::map<Key, std::pair<double, double>> begun_;  // the ends that rows began with,
  std::map<Key, double> drawn_;                     // and how far they were drawn out or in since
  std::vector<MeasuredError> rows_;
};

/// Errors of all cases but those of `left_out`; of every case where that is kParts.
std::vector<MeasuredError> errors_without(std::span<const Sample> samples, uint64_t left_out) {
  std::vector<const Sample*> taken;
  for (const Sample& sample : samples)
    if (sample.part != left_out) taken.push_back(&sample);
  return Rows(std::move(taken)).rows();
}

/// What a device file of the generation says: its own rows, those of all for kinds that it has none of.
ErrorsConfig errors_of(std::span<const MeasuredError> rows, std::string_view generation) {
  ErrorsConfig errors;
  for (const std::string_view from : {kAll, generation})
    for (const MeasuredError& row : rows)
      if (row.generation == from) error_of(errors, row.category) = ErrorConfig{row.cases, row.low, row.high};
  return errors;
}

bool holds(std::span<const MeasuredError> errors, const Sample& sample) {
  const std::optional<TimeRange> range = time_range(errors_of(errors, sample.generation), sample.kinds);
  return range && static_cast<double>(range->low.count()) <= sample.measured &&
         sample.measured <= static_cast<double>(range->high.count());
}

/// A published run.
struct StepSample {
  std::string_view source, generation;
  double ratio = 1;  // measured over simulated
};

std::vector<StepSample> step_samples_of(const Accuracy& accuracy) {
  std::vector<StepSample> samples;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    const MeasuredCase& one = accuracy.cases[i];
    const Prediction& predicted = accuracy.predictions[i];
    if (one.run && predicted.us && *predicted.us > 0)
      samples.push_back({one.run->source, predicted.generation, one.time_us / *predicted.us});
  }
  return samples;
}

/// Of all sources but one.
ErrorConfig step_error_without(std::span<const StepSample> samples, std::string_view source) {
  std::vector<Weighted> ratios;
  for (const StepSample& sample : samples)
    if (sample.source != source) ratios.push_back({sample.ratio});
  if (ratios.empty()) return {};
  return {static_cast<int64_t>(ratios.size()), std::min(lower_rank(ratios, (1 - kRangeShare) / 2), 1.0),
          std::max(upper_rank(ratios, (1 + kRangeShare) / 2), 1.0)};
}

std::optional<StepErrors> study_steps(const Accuracy& accuracy) {
  const std::vector<StepSample> samples = step_samples_of(accuracy);
  if (samples.size() < kFewestOfAll) return std::nullopt;
  StepErrors study{step_error_without(samples, {}), {}};
  std::map<std::pair<int, std::string_view>, HeldSteps> held;
  for (const StepSample& sample : samples) {
    const ErrorConfig others = step_error_without(samples, sample.source);
    const bool is_held = others.low <= sample.ratio && sample.ratio <= others.high;
    for (const auto& key :
         {std::pair(0, kAll), std::pair(1, sample.generation), std::pair(2, sample.source)}) {
      HeldSteps& row = held[key];
      row.name = key.second, ++row.runs, row.held += is_held;
    }
  }
  for (auto& [key, row] : held) study.held.push_back(std::move(row));
  return study;
}

}  // namespace

ErrorStudy study_errors(const Accuracy& accuracy) {
  const std::vector<Sample> samples = samples_of(accuracy);
  ErrorStudy study;
  study.errors = errors_without(samples, kParts);
  study.steps = study_steps(accuracy);
  // Held, of how many: first of whole generations, then by kind of work.
  std::map<std::pair<std::optional<CostCategory>, std::string_view>, std::pair<size_t, size_t>> counts;
  for (uint64_t part = 0; part < kParts; ++part) {
    const std::vector<MeasuredError> errors = errors_without(samples, part);
    for (const Sample& sample : samples) {
      if (sample.part != part) continue;
      const bool held = holds(errors, sample);
      for (const std::string_view generation : {sample.generation, kAll})
        for (const std::optional<CostCategory> kind :
             {std::optional<CostCategory>(), std::optional(sample.kind)}) {
          auto& [in, of] = counts[{kind, generation}];
          in += held, ++of;
        }
    }
  }
  for (const auto& [key, count] : counts)
    study.held.push_back({std::string(key.second), key.first, count.second,
                          static_cast<double>(count.first) / static_cast<double>(count.second)});
  return study;
}

std::string to_text(const ErrorStudy& study) {
  std::string out;
  for (const HeldRanges& held : study.held)
    out += fmt::format("# {}{}{}: {:.1f} % of {} cases are in the range that other cases gave\n",
                       held.generation, held.kind ? ", " : "", held.kind ? error_key(*held.kind) : "",
                       100 * held.share, held.cases);
  std::string_view generation;
  for (const MeasuredError& error : study.errors) {
    if (error.generation != generation)
      out += fmt::format("\n# {}.yaml\nerrors:\n", error.generation == kAll ? "tpu" : error.generation);
    generation = error.generation;
    out += fmt::format("  {}: {{cases: {}, low: {:.3f}, high: {:.3f}}}\n", error_key(error.category),
                       error.cases, error.low, error.high);
  }
  if (!study.steps) return out;
  out += '\n';
  for (const HeldSteps& held : study.steps->held)
    out += fmt::format("# steps, {}: {} of {} are in the range that all other sources gave\n", held.name,
                       held.held, held.runs);
  const ErrorConfig& step = study.steps->error;
  out += fmt::format("\n# tpu.yaml\nerrors:\n  step: {{cases: {}, low: {:.3f}, high: {:.3f}}}\n", step.cases,
                     step.low, step.high);
  return out;
}

}  // namespace hlosim
