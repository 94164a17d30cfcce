#include "estimate/axis_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hlosim {

AxisNames::AxisNames(const Mesh& mesh, const DeviceGrid& grid) : mesh_(mesh), grid_(grid) {
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) strides_.push_back(mesh.stride(axis));
  place_of_.resize(mesh.device_order.size());
  for (size_t place = 0; place < mesh.device_order.size(); ++place)
    place_of_[static_cast<size_t>(mesh.device_order[place])] = static_cast<int64_t>(place);
}

int64_t AxisNames::coordinate(int64_t member, size_t axis) const {
  if (axis == mesh_.axes.size()) return member / grid_.partitions;
  const int64_t device = member % grid_.partitions;
  const int64_t place = place_of_.empty() ? device : place_of_[static_cast<size_t>(device)];
  return place / strides_[axis] % mesh_.axes[axis].size;
}

AxisNames::Span AxisNames::span_of(const std::vector<int64_t>& group) const {
  Span span;
  int64_t box = 1;
  for (size_t axis = 0; axis <= mesh_.axes.size(); ++axis) {
    std::vector<int64_t> found;
    for (const int64_t member : group) found.push_back(coordinate(member, axis));
    std::sort(found.begin(), found.end());
    span.distinct.push_back(std::unique(found.begin(), found.end()) - found.begin());
    box *= span.distinct.back();
  }
  span.is_box = box == static_cast<int64_t>(group.size());
  return span;
}

std::string AxisNames::text(const Span& span) const {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ",") + name; };
  for (size_t axis = 0; axis < mesh_.axes.size(); ++axis) {
    if (span.distinct[axis] <= 1) continue;
    const MeshAxis& known = mesh_.axes[axis];
    add(span.distinct[axis] == known.size ? known.name
                                          : fmt::format("{}:{}", known.name, span.distinct[axis]));
  }
  if (span.distinct.back() > 1) add("replicas");
  if (names.empty()) return "none";
  return span.is_box ? names : names + " mixed";
}

std::string AxisNames::of(const CollectiveGroups& groups) const {
  if (mesh_.axes.empty()) return "";
  Span all{std::vector<int64_t>(mesh_.axes.size() + 1, 1), true};
  const auto add = [&](const Span& one) {
    for (size_t i = 0; i < all.distinct.size(); ++i)
      all.distinct[i] = std::max(all.distinct[i], one.distinct[i]);
    all.is_box &= one.is_box;
  };
  for (const std::vector<int64_t>& group : groups.groups) add(span_of(group));
  // Pairs say what differs between two devices; who sends to whom in the end is a line along these axes.
  for (const auto& [source, target] : groups.pairs)
    for (size_t axis = 0; axis <= mesh_.axes.size(); ++axis)
      if (coordinate(source, axis) != coordinate(target, axis))
        all.distinct[axis] = axis < mesh_.axes.size() ? mesh_.axes[axis].size : 2;
  return text(all);
}

std::vector<CollectiveGroups> groups_of(const Module& module, const OpTable& table,
                                        const Instruction& instruction, const DeviceGrid& grid) {
  std::vector<CollectiveGroups> found;
  if (table[instruction.opcode].has(kCollective)) {
    ShapePool shapes = module.shapes().copy();
    const OpContext op(module, shapes, instruction, table, nullptr);
    if (Result<CollectiveGroups> groups = collective_groups(op, grid)) found.push_back(std::move(*groups));
    return found;
  }
  for_each_called(instruction, [&](ComputationId id) {
    for (const InstructionId inner : module[id].instructions)
      std::ranges::move(groups_of(module, table, module[inner], grid), std::back_inserter(found));
  });
  return found;
}

}  // namespace hlosim
