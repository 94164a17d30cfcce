// How often a while loop runs.
//
//   const TripCount trips = trip_count(module, loop);
//   const int64_t runs = trips.known() ? trips.count : 1;
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/module.h"

namespace hlosim {

struct TripCount {
  enum class Source : uint8_t {
    kStated,   // known_trip_count in backend_config
    kDerived,  // from the induction variable: constant start, constant step, constant bound
    kUnknown,
  };
  Source source = Source::kUnknown;
  int64_t count = 0;  // of body runs; meaningless when unknown

  bool known() const { return source != Source::kUnknown; }
};

/// Requires: `loop` is a while of a verified module. The derivation sees through tuples, copies, bitcasts,
/// integer conversions, calls and fusions; a loop that would not end counts as unknown.
TripCount trip_count(const Module& module, const Instruction& loop);

}  // namespace hlosim
