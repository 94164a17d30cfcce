// Along what shardings move: for each instruction the dimensions of its operands and its result that are one
// range (loop_factors/factors.h), and those of calls, loops and branches.
//
//   const Links links = find_links(module, table, computations, stated, arrays);
//   for (const LinkedInstruction& step : links.steps)
//     for (const Link& link : links.of(step)) …
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/op_def.h"
#include "propagate/arrays.h"

namespace hlosim {

/// A dimension of an array, or the part of it that a range is: the dimension's size is `before` x `size` x
/// what is behind.
struct Place {
  int32_t array = 0;
  int32_t dimension = 0;
  int64_t before = 1, size = 1;
  bool alone = true;  // the whole dimension is that range
};

inline constexpr uint8_t kNever = 255;  // a level that is not reached

/// Places that are one range: the first `operands` of them are operands'.
struct Link {
  int32_t first = 0, operands = 0, count = 0;
  uint8_t forward = 0, backward = 0;  // levels (loop_factors/sharding_trust.h)
  bool parts = false;  // places are parts of a range: all axes of a cut, or those that cut evenly
};

struct LinkedInstruction {
  InstructionId id;
  int32_t first_link = 0, count = 0;
};

struct Links {
  std::vector<LinkedInstruction> steps;  // in the order of instructions; none without links
  std::vector<Link> links;
  std::vector<Place> places;

  std::span<const Link> of(const LinkedInstruction& step) const {
    return std::span(links).subspan(static_cast<size_t>(step.first_link), static_cast<size_t>(step.count));
  }
  std::span<const Place> operands(const Link& link) const {
    return std::span(places).subspan(static_cast<size_t>(link.first), static_cast<size_t>(link.operands));
  }
  std::span<const Place> results(const Link& link) const {
    return std::span(places).subspan(static_cast<size_t>(link.first + link.operands),
                                     static_cast<size_t>(link.count - link.operands));
  }
};

/// Unites what is one array, then says how the others hang together.
Links find_links(const Module& module, const OpTable& table, std::span<const ComputationId> computations,
                 const StatedTilings& stated, Arrays& arrays);

}  // namespace hlosim
