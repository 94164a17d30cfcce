#include "measured/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>

#include "base/text.h"

namespace hlosim {
namespace {

constexpr double kMoves = 0.01;             // a case moves when 1 % of a constant makes 0.01 % of it
constexpr double kLeastImprovement = 0.01;  // of the error of cases left out
constexpr double kLeastSignificance = 3.5;  // standard errors from where it was
constexpr double kTwins = 0.999;            // cosine of two constants that can't be told apart
constexpr size_t kFolds = 5;

/// 0: no unit of time.
double picoseconds_of_unit(std::string_view unit) {
  return unit == "ps" ? 1 : unit == "ns" ? 1e3 : unit == "us" ? 1e6 : unit == "ms" ? 1e9 : 0;
}

/// Which units scale, and which mean counts and sizes.
bool is_fittable(std::string_view path, std::string_view unit) {
  if (path.ends_with(".energy") || path.starts_with("p_states")) return false;
  if (path == "clock" || unit.ends_with("/s") || unit == "B/cycle" || unit == "Gbps") return true;
  if (picoseconds_of_unit(unit) > 0) return true;
  if (!unit.empty()) return false;
  return path.starts_with("vpu.ops.") || path.starts_with("vpu.convert.") || path.ends_with(".convert") ||
         path == "vmem.tile_move";
}

/// A hash that doesn't depend on the machine: which fold a case is in.
size_t fold_of(std::string_view id) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<size_t>((hash >> 17) % kFolds);
}

class Calibrator {
 public:
  Calibrator(const std::vector<Constant>& constants, std::span<const CalibrationCase> cases,
             const PartedPredictor& predict, const LogPredictor& exact, const CalibrateOptions& options)
      : constants_(constants),
        cases_(cases),
        exact_(exact),
        options_(options),
        kept_(predict, constants.size()),
        fit_(times_of(cases), [this](std::span<const double> factors) { return kept_.times(factors); }) {}

  Result<Calibration> run() {
    const std::vector<double> none(constants_.size());
    kept_.learn(none);
    start_ = fit_.solve(std::vector<bool>(constants_.size()), none);
    for (size_t i = 0; i < cases_.size(); ++i) {
      if (std::isfinite(start_.residuals[i]))
        ++out_.cases;
      else
        out_.unpredicted.push_back(cases_[i].id);
    }
    if (out_.cases < 3)
      return failure(fmt::format("{} {} with a prediction: too few to fit to", out_.cases,
                                 out_.cases == 1 ? "case" : "cases"));
    folds_ = make_folds();
    moves_.assign(constants_.size(), false);
    now_ = start_;
    screen(true);
    if (!options_.keys.empty()) {
      for (size_t j = 0; j < constants_.size(); ++j) moves_[j] = reach_[j] > 0;
      now_ = fit_.solve(moves_, now_.factors);
    } else {
      select();
    }
    finish();
    return std::move(out_);
  }

 private:
  static std::vector<double> times_of(std::span<const CalibrationCase> cases) {
    std::vector<double> times;
    for (const CalibrationCase& one : cases) times.push_back(one.measured_us);
    return times;
  }

  /// By case; with few cases each is a fold of its own.
  std::vector<size_t> make_folds() {
    std::vector<size_t> folds(cases_.size());
    const bool few = out_.cases < 2 * kFolds;
    for (size_t i = 0; i < folds.size(); ++i) folds[i] = few ? i : fold_of(cases_[i].id);
    out_.folds = few ? out_.cases : kFolds;
    return folds;
  }

  /// Never more constants than the data can carry: three cases each.
  size_t most() const { return std::min(options_.most, out_.cases / 3); }

  // ── sensitivities ──

  /// Those that moved nothing when last tried are left out unless `all`.
  void screen(bool all) {
    if (all && now_.factors != start_.factors) kept_.learn(now_.factors);
    columns_.resize(constants_.size());
    reach_.resize(constants_.size());
    for (size_t j = 0; j < constants_.size(); ++j) {
      if (!all && reach_[j] == 0) continue;
      reach_[j] = 0;
      columns_[j] = fit_.sensitivity(now_.factors, j);
      for (const double slope : columns_[j]) reach_[j] += std::abs(slope) > kMoves;
    }
  }

  double cosine(size_t a, size_t b) const {
    double both = 0, one = 0, other = 0;
    for (size_t i = 0; i < cases_.size(); ++i) {
      if (!std::isfinite(now_.residuals[i])) continue;
      both += columns_[a][i] * columns_[b][i];
      one += columns_[a][i] * columns_[a][i];
      other += columns_[b][i] * columns_[b][i];
    }
    return one > 0 && other > 0 ? std::abs(both) / std::sqrt(one * other) : 0;
  }

  // ── choosing ──

  /// Error of cases that a fit of the others predicts, near the present fit: mean |residual|, outliers
  /// capped.
  double left_out_error(const std::vector<size_t>& moving) const {
    std::vector<double> b = now_.residuals;
    for (double& value : b)
      if (!std::isfinite(value)) value = 0;
    std::vector<std::vector<double>> columns;
    for (const size_t j : moving) columns.push_back(columns_[j]);
    const double limit = 6 * std::max(start_.scatter, 1e-4);
    double sum = 0;
    const size_t folds = *std::max_element(folds_.begin(), folds_.end()) + 1;
    for (size_t fold = 0; fold < folds; ++fold) {
      std::vector<double> weights = robust_weights(now_.residuals, now_.scatter, {});
      for (size_t i = 0; i < weights.size(); ++i)
        if (folds_[i] == fold) weights[i] = 0;
      std::optional<std::vector<double>> step = std::vector<double>();
      if (!moving.empty()) step = least_squares(columns, b, weights);
      if (!step) return HUGE_VAL;
      for (size_t i = 0; i < b.size(); ++i) {
        if (folds_[i] != fold || !std::isfinite(now_.residuals[i])) continue;
        double left = b[i];
        for (size_t k = 0; k < moving.size(); ++k) left -= columns[k][i] * (*step)[k];
        sum += std::min(std::abs(left), limit);
      }
    }
    return sum / static_cast<double>(out_.cases);
  }

  std::vector<size_t> moving() const {
    std::vector<size_t> all;
    for (size_t j = 0; j < moves_.size(); ++j)
      if (moves_[j]) all.push_back(j);
    return all;
  }

  /// The constant that helps cases left out the most; of equal ones the one that rests on the least.
  std::optional<size_t> best_addition() const {
    std::vector<size_t> with = moving();
    const double now = left_out_error(with);
    std::optional<size_t> best;
    double best_error = now * (1 - kLeastImprovement);
    with.push_back(0);
    for (size_t j = 0; j < constants_.size(); ++j) {
      if (moves_[j] || rejected_.contains(j) || reach_[j] < least_cases()) continue;
      with.back() = j;
      const double error = left_out_error(with);
      const bool weaker = best && constants_[j].source_class > constants_[*best].source_class;
      const bool alike = best && cosine(j, *best) > kTwins;
      if (alike ? !weaker || error > best_error * 1.01 : error >= best_error) continue;
      best = j;
      best_error = std::min(error, best_error);
    }
    return best;
  }

  size_t least_cases() const { return std::min<size_t>(3, out_.cases); }

  double significance(size_t j) const {
    const double error = now_.standard_errors[j];
    return error > 0 ? std::abs(now_.factors[j]) / error : HUGE_VAL;
  }

  void select() {
    while (moving().size() < most()) {
      std::optional<size_t> next = best_addition();
      if (!next) {  // what moved nothing at first may do so now
        screen(true);
        next = best_addition();
      }
      if (!next) return;
      const FitResult before = now_;
      const std::vector<bool> moved_before = moves_;
      const double error_before = error_of(now_);
      moves_[*next] = true;
      now_ = fit_.solve(moves_, now_.factors);
      drop_idle();
      if (!moves_[*next] || error_of(now_) > error_before * (1 - kLeastImprovement)) {
        rejected_.insert(*next);
        moves_ = moved_before;
        now_ = before;
      }
      screen(false);
    }
  }

  double error_of(const FitResult& result) const {
    const double limit = 6 * std::max(start_.scatter, 1e-4);
    double sum = 0;
    for (const double one : result.residuals)
      if (std::isfinite(one)) sum += std::min(std::abs(one), limit);
    return sum;
  }

  /// Those that ended up where they were go back there.
  void drop_idle() {
    while (true) {
      std::optional<size_t> least;
      for (const size_t j : moving())
        if (significance(j) < kLeastSignificance && (!least || significance(j) < significance(*least)))
          least = j;
      if (!least) return;
      moves_[*least] = false;
      std::vector<double> factors = now_.factors;
      factors[*least] = 0;
      now_ = fit_.solve(moves_, factors);
    }
  }

  // ── results ──

  ErrorSummary summary(const std::vector<double>& residuals) const {
    std::vector<double> predicted, measured;
    for (size_t i = 0; i < residuals.size(); ++i) {
      if (!std::isfinite(residuals[i])) continue;
      measured.push_back(cases_[i].measured_us);
      predicted.push_back(cases_[i].measured_us * std::exp(-residuals[i]));
    }
    return summarize_errors(predicted, measured);
  }

  ErrorSummary cross_validated() const {
    std::vector<double> left(cases_.size(), std::nan(""));
    const size_t folds = *std::max_element(folds_.begin(), folds_.end()) + 1;
    for (size_t fold = 0; fold < folds; ++fold) {
      std::vector<bool> mask(cases_.size());
      bool any = false;
      for (size_t i = 0; i < mask.size(); ++i) mask[i] = folds_[i] != fold, any = any || !mask[i];
      if (!any) continue;
      const FitResult one = fit_.solve(moves_, std::vector<double>(constants_.size()), mask);
      for (size_t i = 0; i < mask.size(); ++i)
        if (!mask[i]) left[i] = one.residuals[i];
    }
    return summary(left);
  }

  void finish() {
    screen(true);
    for (size_t j = 0; j < constants_.size(); ++j) {
      if (moves_[j])
        out_.fitted.push_back({constants_[j], std::exp(now_.factors[j]), now_.standard_errors[j], reach_[j]});
      else
        out_.undetermined.push_back(left_alone(j));
    }
    out_.before = summary(start_.residuals);
    out_.after = summary(exact_ ? LogFit(times_of(cases_), exact_).residuals(now_.factors) : now_.residuals);
    out_.cross_validated = cross_validated();
  }

  UndeterminedConstant left_alone(size_t j) const {
    UndeterminedConstant one{constants_[j], 0, reach_[j], {}};
    for (const double slope : columns_[j]) one.sensitivity = std::max(one.sensitivity, std::abs(slope));
    if (reach_[j] == 0) {
      one.reason = "moves no case";
      return one;
    }
    if (reach_[j] < least_cases()) {
      one.reason = fmt::format("moves {} of the cases only", reach_[j]);
      return one;
    }
    for (const size_t other : moving())
      if (cosine(j, other) > kTwins) {
        one.reason = fmt::format("can't be distinguished from {}", constants_[other].path);
        return one;
      }
    one.reason =
        moving().size() >= most() ? "the cases carry no more constants" : "other values predict no better";
    return one;
  }

  const std::vector<Constant>& constants_;
  std::span<const CalibrationCase> cases_;
  const LogPredictor& exact_;
  const CalibrateOptions& options_;
  PredictionCache kept_;
  LogFit fit_;
  FitResult start_, now_;
  std::vector<size_t> folds_;
  std::vector<bool> moves_;
  std::set<size_t> rejected_;
  std::vector<std::vector<double>> columns_;
  std::vector<size_t> reach_;  // cases that each constant moves
  Calibration out_;
};

}  // namespace

std::string Constant::text(double factor) const {
  double scaled = value * factor;
  if (factor != 1) {
    const std::string short_text = fmt::format("{:.5g}", scaled);
    std::from_chars(short_text.data(), short_text.data() + short_text.size(), scaled);
  }
  // Times are whole picoseconds.
  if (const double unit_ps = picoseconds_of_unit(unit); unit_ps > 0)
    scaled = std::round(scaled * unit_ps) / unit_ps;
  return unit.empty() ? fmt::format("{}", scaled) : fmt::format("{} {}", scaled, unit);
}

std::vector<Constant> fittable_constants(const Device& device) {
  std::vector<Constant> constants;
  for (const DeviceValue& value : device.values) {
    if (!value.has_source) continue;
    double number = 0;
    const char* const end = value.text.data() + value.text.size();
    const auto [at, error] = std::from_chars(value.text.data(), end, number);
    if (error != std::errc() || !(number > 0)) continue;
    std::string unit(at, end);
    if (unit.starts_with(' ')) unit.erase(0, 1);
    if (!is_fittable(value.path, unit)) continue;
    constants.push_back({value.path, number, unit, value.source_class, value.source});
  }
  return constants;
}

Result<Calibration> calibrate(const std::vector<Constant>& constants, std::span<const CalibrationCase> cases,
                              const LogPredictor& predict, const CalibrateOptions& options) {
  PartedPredictor one{std::vector<size_t>(cases.size()), {}};
  one.predict = [&](std::span<const double> factors, std::span<const size_t>) { return predict(factors); };
  return calibrate(constants, cases, one, {}, options);
}

Result<Calibration> calibrate(const std::vector<Constant>& constants, std::span<const CalibrationCase> cases,
                              const PartedPredictor& predict, const LogPredictor& exact,
                              const CalibrateOptions& options) {
  if (options.keys.empty()) return Calibrator(constants, cases, predict, exact, options).run();
  // The predictors know all constants: those that aren't asked for stay where they are.
  std::vector<Constant> chosen;
  std::vector<size_t> places;
  for (const std::string& key : options.keys) {
    std::vector<std::string_view> paths;
    for (const Constant& one : constants) paths.push_back(one.path);
    const auto found = std::find(paths.begin(), paths.end(), key);
    if (found == paths.end())
      return failure(fmt::format("'{}' is not a constant that can be fitted", shown(key)),
                     did_you_mean(key, paths));
    places.push_back(static_cast<size_t>(found - paths.begin()));
    chosen.push_back(constants[places.back()]);
  }
  const auto all = [&](std::span<const double> factors) {
    std::vector<double> every(constants.size());
    for (size_t k = 0; k < places.size(); ++k) every[places[k]] = factors[k];
    return every;
  };
  PartedPredictor some{predict.part_of, {}};
  some.predict = [&](std::span<const double> factors, std::span<const size_t> which) {
    return predict.predict(all(factors), which);
  };
  LogPredictor exact_some;
  if (exact) exact_some = [&](std::span<const double> factors) { return exact(all(factors)); };
  return Calibrator(chosen, cases, some, exact_some, options).run();
}

}  // namespace hlosim
