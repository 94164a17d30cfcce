// Values that have to share memory: the state of loops, results of conditionals, donated parameters, updates
// in place. A buffer is a set of such values; what else may share is up to the assignment.
//
//   const AliasedBuffers buffers(graph, places, values, Era::k2026);
//   buffers.of(state) == buffers.of(result)        // of a loop
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/hlo_values.h"

namespace hlosim {

using BufferIndex = int32_t;

class AliasedBuffers {
 public:
  AliasedBuffers(const ModuleGraph& graph, const Places& places, const Values& values, Era era);

  BufferIndex size() const { return static_cast<BufferIndex>(first_member_.size() - 1); }
  /// By number.
  std::span<const ValueIndex> values(BufferIndex buffer) const {
    const auto b = static_cast<size_t>(buffer);
    return std::span(members_).subspan(first_member_[b], first_member_[b + 1] - first_member_[b]);
  }
  BufferIndex of(ValueIndex value) const { return buffer_[static_cast<size_t>(value)]; }
  /// Holds a part of the entry's result.
  bool is_output(BufferIndex buffer) const { return is_output_[static_cast<size_t>(buffer)] != 0; }
  /// A leaf of an entry parameter that a part of the result takes over.
  bool is_donated(ValueIndex value) const { return is_donated_[static_cast<size_t>(value)] != 0; }

 private:
  std::vector<ValueIndex> members_;         // buffer by buffer
  std::vector<size_t> first_member_ = {0};  // by buffer, and one past the last
  std::vector<BufferIndex> buffer_;         // by value
  std::vector<uint8_t> is_output_;
  std::vector<uint8_t> is_donated_;  // by value
};

}  // namespace hlosim
