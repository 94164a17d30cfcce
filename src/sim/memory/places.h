// Numbers for the places of a module: every instruction and every index in its shape, tables of tuples
// included, outermost first. The places of an instruction are consecutive, those of an element lie together.
//
//   const Places places(module);
//   const Place whole = places.first(tuple);       // {}; its elements come behind
//   places.parts(tuple).child(0, 1)                // the part {1}
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

using Place = int32_t;
inline constexpr Place kNoPlace = -1;

/// The parts of one shape.
struct ShapeParts {
  struct Part {
    ShapeRef shape = nullptr;
    int32_t parent = -1;
    int32_t element = 0;   // of the parent
    int32_t end = 0;       // one past the last part inside
    int32_t children = 0;  // where its elements begin in `children`
  };
  std::vector<Part> parts;
  std::vector<int32_t> children;  // the elements of each table, one after another

  int32_t size() const { return static_cast<int32_t>(parts.size()); }
  /// Part `element` of part `of`; -1: none.
  int32_t child(int32_t of, int64_t element) const;
  /// -1: none.
  int32_t find(std::span<const int64_t> index) const;
  std::vector<int64_t> index(int32_t part) const;
};

class Places {
 public:
  explicit Places(const Module& module);

  Place size() const { return static_cast<Place>(instruction_.size()); }
  Place first(InstructionId id) const { return first_[id]; }
  const ShapeParts& parts(InstructionId id) const { return *parts_[id]; }

  InstructionId instruction(Place place) const { return instruction_[static_cast<size_t>(place)]; }
  int32_t part(Place place) const { return place - first_[instruction(place)]; }
  ShapeRef shape(Place place) const { return part_of(place).shape; }
  std::vector<int64_t> index(Place place) const { return parts(instruction(place)).index(part(place)); }
  /// One past the places inside `place`.
  Place end(Place place) const { return place - part(place) + part_of(place).end; }
  Place child(Place place, int64_t element) const;
  Place find(InstructionId id, std::span<const int64_t> index) const;

 private:
  const ShapeParts::Part& part_of(Place place) const {
    return parts(instruction(place)).parts[static_cast<size_t>(part(place))];
  }
  std::deque<ShapeParts> owned_;
  IdMap<InstructionId, const ShapeParts*> parts_;
  IdMap<InstructionId, Place> first_;
  std::vector<InstructionId> instruction_;  // by place
};

/// `{1,0}`
std::string index_text(std::span<const int64_t> index);

}  // namespace hlosim
