// A new order where memory has room for it, and the one that was there elsewhere.
//
//   OrderInParts parts(before, wanted);
//   while (const auto tight = …; !tight.empty())
//     parts.split(tight), computation.instructions = parts.order();
#pragma once

#include <span>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

/// The order that was there, cut into parts: each holds the same instructions as before, in one of both
/// orders. So what is alive between two parts is what was alive there before, and no part changes what
/// another one needs.
class OrderInParts {
 public:
  /// Requires: the same instructions; both respect the dependencies. One part, in the order `wanted`.
  OrderInParts(std::vector<InstructionId> before, std::span<const InstructionId> wanted);

  /// Respects the dependencies too.
  std::vector<InstructionId> order() const;
  /// Parts with one of the instructions `tight` become two halves, small ones as they were. False: all of
  /// these are in parts that are as they were.
  bool split(std::span<const InstructionId> tight);
  /// Something is in the order that was wanted.
  bool has_new() const;

 private:
  struct Part {
    size_t begin = 0, end = 0;  // in before_
    bool is_new = true;
  };
  static constexpr size_t kSmall = 4;

  std::vector<InstructionId> before_;
  std::vector<size_t> wanted_at_;  // by position in before_
  std::vector<Part> parts_;
};

}  // namespace hlosim
