#include "measured/calibrate_data.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "measured/comparison.h"
#include "model/device_overrides.h"
#include "study/repeated_predictions.h"

namespace hlosim {
namespace {

double microseconds(Picoseconds time) { return static_cast<double>(time.count()) / 1e6; }

/// An operation that is short beside the profiler's clock says little.
constexpr Picoseconds kShortest{200'000};

}  // namespace

std::vector<DeviceOverride> overrides_of(const std::vector<Constant>& constants,
                                         std::span<const double> factors) {
  std::vector<DeviceOverride> overrides;
  for (size_t j = 0; j < constants.size(); ++j)
    if (factors[j] != 0) {
      Constant exact = constants[j];
      exact.value *= std::exp(factors[j]);
      overrides.push_back({exact.path, exact.text()});
    }
  return overrides;
}

std::vector<CalibrationCase> CaseData::cases() const {
  std::vector<CalibrationCase> all;
  for (const MeasuredCase& one : measured) all.push_back({one.id, one.time_us});
  return all;
}

PartedPredictor CaseData::predictor(const std::vector<Constant>& constants) const {
  PartedPredictor predictor;
  for (size_t i = 0; i < measured.size(); ++i) predictor.part_of.push_back(i);
  const auto again = std::make_shared<const RepeatedPredictions>(measured, file, options);
  predictor.predict = [again, &constants](std::span<const double> factors, std::span<const size_t> which) {
    return again->times(overrides_of(constants, factors), which);
  };
  return predictor;
}

LogPredictor CaseData::exact(const std::vector<Constant>& constants) const {
  return [this, &constants](std::span<const double> factors) {
    PredictOptions changed = options;
    for (DeviceOverride& one : overrides_of(constants, factors)) changed.overrides.push_back(std::move(one));
    std::vector<std::optional<double>> times;
    for (const Prediction& one : predict(measured, file, changed)) times.push_back(one.us);
    return times;
  };
}

ProfileData::ProfileData(Device device, EstimateOptions options)
    : device_(std::move(device)), options_(std::move(options)) {
  options_.simulate.keep_timeline = false;
}

Result<void> ProfileData::add(const ProfiledProgram& program, const Module& module, const OpTable& table) {
  const Result<Estimate> estimate = hlosim::estimate(module, table, device_, options_);
  if (!estimate) return tl::unexpected(estimate.error());
  const Report report = make_report(module, table, device_, *estimate);
  const ComparedProgram compared = compare_program(program, Profile{}, *estimate, report, table);
  Program added{estimate->module, {}};
  std::map<std::string_view, const InstructionRecord*> records;
  for (const ReportInstruction& record : report.instructions) records[record.name] = record.record;
  for (const ComparedOperation& row : compared.operations) {
    if (!row.measured || !row.simulated || row.measured->beside || row.measured->mean() < kShortest) continue;
    const auto record = records.find(row.simulated->name);
    if (record == records.end() || record->second->exposed.count() > 0) continue;
    const OpDef& def = table[(*estimate->module)[record->second->id].opcode];
    if (def.has(kAsyncStart) || def.has(kAsyncDone) || def.has(kAsyncUpdate)) continue;
    cases_.push_back(
        {fmt::format("{}/{}", program.name, row.measured->name),
         microseconds(row.measured->self_time) / static_cast<double>(row.measured->occurrences)});
    added.names.push_back(row.simulated->name);
  }
  programs_.push_back(std::move(added));
  return {};
}

PartedPredictor ProfileData::predictor(const std::vector<Constant>& constants, const OpTable& table) const {
  PartedPredictor predictor;
  for (size_t i = 0; i < programs_.size(); ++i)
    predictor.part_of.insert(predictor.part_of.end(), programs_[i].names.size(), i);
  predictor.predict = [this, &constants, &table](std::span<const double> factors,
                                                 std::span<const size_t> which) {
    DiagnosticList problems;
    const std::optional<Device> device = with_overrides(device_, overrides_of(constants, factors), problems);
    std::vector<std::optional<double>> times;
    for (const size_t part : which) {
      const Program& program = programs_[part];
      std::map<std::string_view, double> means;
      const Module& ran = *program.module;
      const Result<Simulation> simulation =
          device ? simulate(ran, table, *device, options_.simulate) : failure("no such device");
      if (simulation)
        for (const InstructionRecord& record : simulation->instructions)
          if (record.executions > 0)
            means[ran[record.id].name] =
                microseconds(record.self_time) / static_cast<double>(record.executions);
      for (const std::string& name : program.names) {
        const auto found = means.find(name);
        times.push_back(found == means.end() ? std::nullopt : std::optional(found->second));
      }
    }
    return times;
  };
  return predictor;
}

}  // namespace hlosim
