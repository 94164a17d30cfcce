// Training on growing numbers of chips: throughput, utilization, cost, and when more chips stop paying.
//
//   ScalePoint point{.chips = 64, .devices = 64, .batch = 512, .tokens = 512 * 4096, .model_flops = flops};
//   simulate_point(point, module, device, options);
//   const ScalePlan plan = plan_of({point, …}, {.tokens = 15e12, .price = 4.2, .worth = 0.5}, device.config);
//
// MFU = model FLOPs / (step time * devices * peak of bf16): 6 FLOPs a parameter and token in products, the
// part of attention that a causal mask leaves, three times; nothing that is computed twice. Hardware
// utilization has all products that run, recomputed ones too, and whole blocks of masked attention.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "estimate/estimate.h"
#include "model/device.h"

namespace hlosim {

/// What a step's time goes to: units that decide a part of it, and waiting.
inline constexpr size_t kScaleCauses = kUnitCount + 4;

/// One program on a number of chips. The caller sets the first six.
struct ScalePoint {
  int64_t chips = 0, devices = 0;  // of all slices
  int64_t slices = 1;
  int64_t batch = 0;
  double tokens = 0;       // of a step
  double model_flops = 0;  // of a step on all devices, causal, nothing computed twice
  std::string mesh, note;  // "fsdp=64"; "remat=full"
  // Set by simulate_point():
  double seconds = 0;         // of a step; 0: it could not be simulated
  double hardware_flops = 0;  // of a step on one device
  double peak_flops = 0;      // of one device, bf16, per second
  double exposed = 0;         // share of the step that the core waits for transfers
  Bytes hbm_peak{};
  std::string problem;                          // what does not fit or run; empty: nothing
  std::array<double, kScaleCauses> by_cause{};  // seconds of a step; see ScalePlan::causes

  bool ran() const { return seconds > 0; }
  bool fits() const { return ran() && problem.empty(); }
  double tokens_per_second() const { return ran() ? tokens / seconds : 0; }
  double tokens_per_chip() const { return tokens_per_second() / static_cast<double>(chips); }
  double mfu() const;
  double hardware_utilization() const;
};

/// Estimates the module. Errors become the point's problem.
void simulate_point(ScalePoint& point, const Module& module, const OpTable& table, const Device& device,
                    const EstimateOptions& options);

/// The faster per token of two programs on as many chips; one that fits before one that doesn't.
bool is_better(const ScalePoint& a, const ScalePoint& b);

struct ScaleQuestion {
  double tokens = 0;   // of the whole training; 0: not asked
  double price = 0;    // of a chip-hour; 0: not asked
  double worth = 0.5;  // more chips pay while additional throughput is this share of proportional
};

/// A row of the table.
struct ScaleRow {
  ScalePoint point;
  double efficiency = 0;           // tokens/s per chip, relative to the first row that fits
  std::optional<double> marginal;  // additional tokens/s for additional chips, 1: proportional
  std::optional<size_t> lost_to;   // the cause whose chip time per token grew most since the first row
  double lost = 0;                 // that growth, as a share of this row's step
  double days = 0, chip_hours = 0, cost = 0;
};

struct ScalePlan {
  std::vector<ScaleRow> rows;            // by chips
  std::optional<size_t> last_that_pays;  // the row before the first whose marginal is below `worth`
  ScaleQuestion question;
  std::vector<std::string> causes;  // their names: "MXU", ..., "latencies", "waiting for collectives"
};

/// Rows by chips.
ScalePlan plan_of(std::vector<ScalePoint> points, const ScaleQuestion& question, const DeviceConfig& device);

struct ScaleWords {
  std::string model, device;
  std::string meshes;  // how the meshes were chosen
  std::vector<std::string> assumptions;
};
std::string to_text(const ScalePlan& plan, const ScaleWords& words);
std::string to_json(const ScalePlan& plan, const ScaleWords& words);
std::string to_csv(const ScalePlan& plan);
/// Tokens/s against chips of the rows that fit, beside proportional growth from the first of them, with a
/// ring at the last that pays. SVG.
std::string to_svg(const ScalePlan& plan);

}  // namespace hlosim
