// How far simulated times are from measured ones.
//
//   const std::vector<Prediction> predicted = predict(cases, "cases.json", {});
//   if (predicted[0].us) …                         // else predicted[0].reason
//   summarize_errors(predicted_us, measured_us).median
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "estimate/estimate.h"
#include "estimate/time_range.h"
#include "model/device.h"
#include "published/predict_run.h"
#include "serving/measured_server.h"
#include "study/measured_cases.h"

namespace hlosim {

/// What the model says of one case; microseconds.
struct Prediction {
  std::optional<double> us;
  std::string reason;  // why there is no time
  /// max(FLOPs of matrix products / bf16 peak, bytes of the entry's arguments and results / HBM bandwidth).
  std::optional<double> roofline_us;
  std::string generation{};           // of the device
  std::optional<TimeByKind> kinds{};  // of the simulated time; without what is beside it, such as the launch
  std::shared_ptr<const RunPrediction> run{};  // of a model's step: categories, parts, assumptions
  std::shared_ptr<const ServerPrediction> server{};
};

struct PredictOptions {
  DeviceSearch search;
  std::vector<DeviceOverride> overrides;  // of every case's device, after those of the case's own flags
  Lowering lowering = Lowering::kPlain;   // of modules that are plain and not said to be optimized
  Limits limits;                          // of the modules
};

/// Simulates all cases, in parallel. The same for any number of threads.
std::vector<Prediction> predict(std::span<const MeasuredCase> cases, const std::string& file,
                                const PredictOptions& options);

/// Errors of a group of cases, relative to the measured time. All zero where count is 0.
struct ErrorSummary {
  size_t count = 0;   // with a prediction
  double median = 0;  // of |predicted / measured - 1|
  double p90 = 0;
  double bias = 0;  // median of predicted / measured - 1
  double q = 0;     // median of max(predicted / measured, measured / predicted)
  double worst_q = 0;
};

/// Requires: as many predicted as measured, all measured > 0.
ErrorSummary summarize_errors(std::span<const double> predicted, std::span<const double> measured);

/// The value below which `part` (0 to 1) of the values lie, between neighbours linearly; 0 of none.
double quantile(std::vector<double> values, double part);

struct AccuracyRow {
  std::string device, kind, scope, dtype_class;  // "all" where a row spans them
  size_t cases = 0;
  ErrorSummary model, roofline;
};

struct Accuracy {
  std::vector<MeasuredCase> cases;
  std::vector<Prediction> predictions;  // by case
  std::vector<AccuracyRow> headlines;   // native and core, by scope; native, emulated; everything
  std::vector<AccuracyRow> kinds;       // by kind, scope and dtype class, all devices
  std::vector<AccuracyRow> rows;        // by device, kind, scope and dtype class
};

/// Requires: a prediction per case.
Accuracy make_accuracy(std::vector<MeasuredCase> cases, std::vector<Prediction> predictions);

/// Cases with a prediction, the largest q first, at most `count`.
std::vector<size_t> worst_cases(const Accuracy& accuracy, size_t count);

struct AccuracyOutput {
  size_t worst = 10;
  bool roofline = false;
  std::string date;     // of the Markdown
  std::string command;  // that made it
  std::string steps;    // steps_text() or steps_markdown() (accuracy_steps.h); empty: not asked for
  std::string program;  // of programs, steps, ladders and servers: accuracy_program.h and others
};

std::string to_text(const Accuracy& accuracy, const AccuracyOutput& output);
std::string to_markdown(const Accuracy& accuracy, const AccuracyOutput& output);
/// {"schema_version", "groups": […], "cases": [{"id", "device", "kind", "scope", "dtype_class",
/// "measured_us", "predicted_us", "reason", "roofline_us"}]}; with --steps also "steps" (accuracy_steps.h);
/// ends in '\n'.
std::string to_json(const Accuracy& accuracy, bool with_steps = false);
/// Predicted over measured time, both logarithmic.
std::string to_svg(const Accuracy& accuracy);

}  // namespace hlosim
