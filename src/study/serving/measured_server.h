// A published run of a model server: what was served, how, and how fast.
//
//   const MeasuredServer measured = read_measured_server(entry, problems);   // an object of a JSON file
//   const ServerPrediction prediction = predict_server(measured, device);
//   prediction.ms                                   // beside measured.ms; or prediction.reason
//
// Keys: docs/accuracy.md. What the entry does not say, or says without effect here, is a line of
// `assumptions`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "model/device.h"
#include "serving/server.h"
#include "serving/serving_setup.h"

namespace hlosim {

/// Which latency a source gives.
enum class ServedTime : uint8_t {
  kNone,
  kItlMedian,
  kItlMean,
  kTpotMedian,
  kTpotMean,
  kTtftMedian,
  kTtftMean
};
/// "itl", "tpot", "ttft"; "token" where only throughput is given.
std::string_view kind_of(ServedTime time);

struct MeasuredServer {
  std::string device;   // as --device takes it
  int64_t devices = 1;  // as JAX counts them
  ServingSetup setup;   // without the device's own: quantization, host time
  ElementType weights = ElementType::kInvalid;
  RequestMix mix;
  ServedTime time = ServedTime::kNone;
  double ms = 0;                  // measured; 0: none
  double rate = 0;                // tokens a second, of all chips; 0: none
  bool rate_has_prompts = false;  // the rate counts prompts' tokens, too
  std::vector<std::string> assumptions;

  bool is_dense() const { return !setup.model.moe; }
};

struct ServerPrediction {
  std::optional<double> ms, rate;  // of what was measured
  std::string reason;              // why there is neither
  std::vector<std::string> assumptions;
};

/// Reads one entry. Errors, with their place: keys that are missing or of a wrong type, models and meshes
/// that are not modelled.
MeasuredServer read_measured_server(const Value& entry, DiagnosticList& problems);

/// Simulates the server on a slice of as many devices.
ServerPrediction predict_server(const MeasuredServer& measured, const Device& device);

}  // namespace hlosim
