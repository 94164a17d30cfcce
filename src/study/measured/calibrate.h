// Constants of a device fitted to measured times: which of them the data determine, to what, and how well.
//
//   const std::vector<Constant> constants = fittable_constants(device);
//   const Calibration found = calibrate(constants, cases, predict, {});
//   for (const FittedConstant& one : found.fitted)
//     std::cout << one.constant.path << " = " << one.value_text() << '\n';
//   // "dma.bandwidth = 702.1 GB/s"
//
// Constants are taken up one by one, each time the one that makes cases left out of the fit come out best,
// and dropped again where they don't matter any more. One that moves no case, or that can't be told from
// another, stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measured/log_fit.h"
#include "measured/prediction_cache.h"
#include "model/device.h"
#include "study/accuracy.h"

namespace hlosim {

/// A number of a device file that may be scaled.
struct Constant {
  std::string path;
  double value = 0;
  std::string unit;  // "GB/s"; may be empty
  SourceClass source_class = SourceClass::kGuess;
  std::string source;
  /// As device files write it.
  std::string text(double factor = 1) const;
};

/// Rates, times, clocks, and what operations take: numbers that are no counts, sizes or energies, and not 0.
std::vector<Constant> fittable_constants(const Device& device);

struct CalibrationCase {
  std::string id;
  double measured_us = 0;
};

struct FittedConstant {
  Constant constant;
  double factor = 1;          // of what it was
  double standard_error = 0;  // of the factor, relative
  size_t cases = 0;           // that it moves
  std::string value_text() const { return constant.text(factor); }
};

/// A constant that stays as it is.
struct UndeterminedConstant {
  Constant constant;
  double sensitivity = 0;  // the most that 1 % of it moves a case, in %
  size_t cases = 0;        // that it moves
  std::string reason;
};

struct CalibrateOptions {
  std::vector<std::string> keys;  // the constants to fit, all of them; empty: those that the data determine
  size_t most = 8;                // constants at most
};

struct Calibration {
  size_t cases = 0;  // with a prediction
  std::vector<std::string> unpredicted;
  std::vector<FittedConstant> fitted;
  std::vector<UndeterminedConstant> undetermined;
  ErrorSummary before, after, cross_validated;
  size_t folds = 0;
};

/// Errors: fewer than three cases with a prediction, a key that isn't among the constants.
Result<Calibration> calibrate(const std::vector<Constant>& constants, std::span<const CalibrationCase> cases,
                              const LogPredictor& predict, const CalibrateOptions& options);
/// The same, simulating no part of the cases again without need. `exact`: what the errors after the fit rest
/// on, where the parts' predictions may be a little off; null: these too.
Result<Calibration> calibrate(const std::vector<Constant>& constants, std::span<const CalibrationCase> cases,
                              const PartedPredictor& predict, const LogPredictor& exact,
                              const CalibrateOptions& options);

struct CalibrationSource {
  std::string device;   // that the file extends: "v5e.yaml"
  std::string name;     // of the device
  std::string data;     // what it was fitted on: "cases.json"
  std::string command;  // that made it
};

std::string to_text(const Calibration& calibration, const CalibrationSource& source);
/// The device file.
std::string to_yaml(const Calibration& calibration, const CalibrationSource& source);

}  // namespace hlosim
