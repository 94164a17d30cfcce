#include "memory/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hlosim {
namespace {

void add_parts(ShapeRef shape, int32_t parent, int32_t element, ShapeParts& out) {
  const auto self = out.parts.size();
  const auto children = out.children.size();
  out.parts.push_back({shape, parent, element, 0, static_cast<int32_t>(children)});
  if (shape->is_tuple()) {
    out.children.resize(children + shape->elements.size());
    for (size_t i = 0; i < shape->elements.size(); ++i) {
      out.children[children + i] = out.size();
      add_parts(shape->elements[i], static_cast<int32_t>(self), static_cast<int32_t>(i), out);
    }
  }
  out.parts[self].end = out.size();
}

}  // namespace

int32_t ShapeParts::child(int32_t of, int64_t element) const {
  const Part& parent = parts[static_cast<size_t>(of)];
  if (!parent.shape->is_tuple() || element < 0 ||
      element >= static_cast<int64_t>(parent.shape->elements.size()))
    return -1;
  return children[static_cast<size_t>(parent.children) + static_cast<size_t>(element)];
}

int32_t ShapeParts::find(std::span<const int64_t> index) const {
  int32_t at = 0;
  for (const int64_t element : index)
    if (at >= 0) at = child(at, element);
  return at;
}

std::vector<int64_t> ShapeParts::index(int32_t part) const {
  std::vector<int64_t> index;
  for (int32_t at = part; parts[static_cast<size_t>(at)].parent >= 0;
       at = parts[static_cast<size_t>(at)].parent)
    index.push_back(parts[static_cast<size_t>(at)].element);
  std::reverse(index.begin(), index.end());
  return index;
}

Places::Places(const Module& module)
    : parts_(module.instructions.size()), first_(module.instructions.size(), kNoPlace) {
  std::unordered_map<ShapeRef, const ShapeParts*> known;
  instruction_.reserve(module.instructions.size());
  ShapeRef last = nullptr;  // neighbours are often alike
  const ShapeParts* parts = nullptr;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    if (module[id].shape != last) {
      last = module[id].shape;
      const ShapeParts*& found = known[last];
      if (!found) {
        add_parts(last, -1, 0, owned_.emplace_back());
        found = &owned_.back();
      }
      parts = found;
    }
    parts_[id] = parts;
    first_[id] = size();
    instruction_.insert(instruction_.end(), static_cast<size_t>(parts->size()), id);
  }
}

Place Places::child(Place place, int64_t element) const {
  const int32_t found = parts(instruction(place)).child(part(place), element);
  return found < 0 ? kNoPlace : place - part(place) + found;
}

Place Places::find(InstructionId id, std::span<const int64_t> index) const {
  const int32_t found = parts(id).find(index);
  return found < 0 ? kNoPlace : first_[id] + found;
}

std::string index_text(std::span<const int64_t> index) {
  return fmt::format("{{{}}}", fmt::join(index, ","));
}

}  // namespace hlosim
