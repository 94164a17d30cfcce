#include "hlo/replica_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>

#include "base/text.h"
#include "hlo/cursor.h"

namespace hlosim {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 24;

using Groups = std::vector<std::vector<int64_t>>;

/// Product of positive sizes, or nothing when a size is not positive or the product is too large.
std::optional<int64_t> device_count(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size <= 0 || size > kMostDevices / product) return std::nullopt;
    product *= size;
  }
  return product;
}

bool is_permutation_of_indices(std::span<const int64_t> values) {
  std::vector<bool> seen(values.size());
  for (const int64_t value : values) {
    if (value < 0 || value >= static_cast<int64_t>(values.size()) || seen[static_cast<size_t>(value)])
      return false;
    seen[static_cast<size_t>(value)] = true;
  }
  return true;
}

struct LoopDimension {
  int64_t size = 1, stride = 1;
};

/// Every value of Σ index·stride, the last dimension fastest.
std::vector<int64_t> enumerate(std::span<const LoopDimension> dimensions) {
  std::vector<int64_t> values{0};
  for (const LoopDimension& dimension : dimensions) {
    std::vector<int64_t> next;
    next.reserve(values.size() * static_cast<size_t>(dimension.size));
    for (const int64_t value : values)
      for (int64_t i = 0; i < dimension.size; ++i) next.push_back(value + i * dimension.stride);
    values = std::move(next);
  }
  return values;
}

/// 0..N-1 as an array of `sizes`, its dimensions taken in the order `order` (empty: as they are).
Result<std::vector<int64_t>> transposed_iota(std::span<const int64_t> sizes, std::span<const int64_t> order) {
  if (!device_count(sizes))
    return failure(fmt::format("[{}] has to hold positive sizes with a product of at most {}",
                               fmt::join(sizes, ","), kMostDevices));
  if (!order.empty() && (order.size() != sizes.size() || !is_permutation_of_indices(order)))
    return failure(fmt::format("T({}) is not a permutation of the {} dimensions of [{}]",
                               fmt::join(order, ","), sizes.size(), fmt::join(sizes, ",")));
  std::vector<LoopDimension> loops(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) loops[i] = {sizes[i], stride};
  if (!order.empty()) {
    std::vector<LoopDimension> permuted;
    for (const int64_t i : order) permuted.push_back(loops[static_cast<size_t>(i)]);
    loops = std::move(permuted);
  }
  return enumerate(loops);
}

Result<Groups> cut(std::span<const int64_t> ids, int64_t group_size) {
  Groups groups;
  for (size_t at = 0; at < ids.size(); at += static_cast<size_t>(group_size))
    groups.emplace_back(ids.begin() + static_cast<std::ptrdiff_t>(at),
                        ids.begin() + static_cast<std::ptrdiff_t>(at) + group_size);
  return groups;
}

Result<Groups> list_iota(const ReplicaGroups& groups) {
  if (groups.iota_dimensions.size() != 2)
    return failure(fmt::format("[{}]<= has to hold the number of groups and their size",
                               fmt::join(groups.iota_dimensions, ",")));
  const auto total = device_count(groups.iota_dimensions);
  if (!total || total != device_count(groups.iota_reshape))
    return failure(fmt::format("[{}]<=[{}]: both sides have to hold the same positive number of devices",
                               fmt::join(groups.iota_dimensions, ","), fmt::join(groups.iota_reshape, ",")));
  auto ids = transposed_iota(groups.iota_reshape, groups.iota_transpose);
  if (!ids) return tl::unexpected(ids.error());
  return cut(*ids, groups.iota_dimensions[1]);
}

/// Reader of the mesh form. After an error everything else fails, and the first error stays.
class MeshReader {
 public:
  explicit MeshReader(std::string_view text) : text_(text) {}

  struct Axis {
    std::string_view name;
    int64_t size = 1;
    std::vector<int64_t> cuts{};  // products of leading parts at which the axis is divided
  };
  struct AxisPart {
    size_t axis = 0;
    int64_t before = 1, size = 1;  // `before` devices of more major parts
  };

  std::vector<Axis> axes;
  std::vector<int64_t> device_ids;  // empty: 0..N-1
  std::vector<AxisPart> parts;      // the axes that groups vary over
  std::string problem;

  bool read() {
    if (take("maximal_mesh")) {
      device_ids.resize(1);
      if (!(need("[") && need("device_id=") && integer(device_ids[0]) && need("]"))) return false;
    } else if (!(need("mesh") && read_axes() && read_device_ids())) {
      return false;
    }
    return read_parts() && (at_end() || fail("the end"));
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool at_end() { return skip_blanks(), at_ == text_.size(); }
  bool fail(std::string_view expected) {
    if (problem.empty())
      problem = fmt::format("expected {} at \"{}\" of mesh \"{}\"", expected, shown(text_.substr(at_), 20),
                            shown(text_));
    return false;
  }
  bool take(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool need(std::string_view word) { return take(word) || fail(fmt::format("\"{}\"", word)); }
  bool integer(int64_t& value) {
    skip_blanks();
    const char* end = text_.data() + text_.size();
    const auto [stop, status] = std::from_chars(text_.data() + at_, end, value);
    if (status != std::errc() || value < 0) return fail("a number");
    at_ = static_cast<size_t>(stop - text_.data());
    return true;
  }
  bool integers(std::vector<int64_t>& values, std::string_view close) {
    if (take(close)) return true;
    do {
      if (!integer(values.emplace_back())) return false;
    } while (take(","));
    return need(close);
  }
  /// In quotes, or a word without them.
  bool axis_name(std::string_view& name) {
    skip_blanks();
    size_t word = at_;
    while (word < text_.size() && Cursor::continues_word(text_[word])) ++word;
    if (word > at_) {
      name = text_.substr(at_, word - at_);
      at_ = word;
      return true;
    }
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) return fail("the name of an axis");
    name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  bool read_axes() {
    if (!need("[")) return false;
    if (take("]")) return true;
    do {
      Axis& axis = axes.emplace_back();
      if (!(axis_name(axis.name) && need("=") && integer(axis.size))) return false;
    } while (take(","));
    return need("]");
  }

  bool read_device_ids() {
    const size_t before = at_;
    if (!take(",")) return true;
    if (!take("device_ids=")) return at_ = before, true;
    if (!need("(")) return false;
    if (!take("[")) return integers(device_ids, ")");
    std::vector<int64_t> sizes, order;
    if (!integers(sizes, "]")) return false;
    if (take("<=")) {
      sizes.clear();
      if (!(need("[") && integers(sizes, "]"))) return false;
    }
    if (take("T") && !(need("(") && integers(order, ")"))) return false;
    auto ids = transposed_iota(sizes, order);
    if (!ids) return problem = ids.error().message, false;
    device_ids = std::move(*ids);
    return need(")");
  }

  bool read_parts() {
    if (!need("{")) return false;
    if (take("}")) return true;
    do {
      if (!read_part()) return false;
    } while (take(","));
    return need("}");
  }

  bool read_part() {
    std::string_view name;
    if (!axis_name(name)) return false;
    AxisPart part;
    part.axis = static_cast<size_t>(
        std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == name; }) -
        axes.begin());
    if (part.axis == axes.size()) {  // an axis may also be named by its number
      const auto [stop, status] = std::from_chars(name.data(), name.data() + name.size(), part.axis);
      if (status != std::errc() || stop != name.data() + name.size() || part.axis >= axes.size()) {
        problem = fmt::format("mesh \"{}\" has no axis '{}'", shown(text_), shown(name));
        return false;
      }
    }
    part.size = axes[part.axis].size;
    if (take(":") && !(need("(") && integer(part.before) && need(")") && integer(part.size))) return false;
    parts.push_back(part);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Cuts each axis where a part begins or ends; false when parts do not nest.
bool cut_axes(MeshReader& mesh) {
  for (const auto& part : mesh.parts) {
    auto& axis = mesh.axes[part.axis];
    if (part.before < 1 || part.size < 1 || part.before > axis.size || part.size > axis.size) return false;
    if (axis.size % (part.before * part.size) != 0) return false;
    axis.cuts.push_back(part.before);
    axis.cuts.push_back(part.before * part.size);
  }
  for (auto& axis : mesh.axes) {
    axis.cuts.push_back(1);
    axis.cuts.push_back(axis.size);
    std::sort(axis.cuts.begin(), axis.cuts.end());
    axis.cuts.erase(std::unique(axis.cuts.begin(), axis.cuts.end()), axis.cuts.end());
    for (size_t i = 1; i < axis.cuts.size(); ++i)
      if (axis.cuts[i] % axis.cuts[i - 1] != 0) return false;
  }
  return true;
}

/// The loops over the parts no group varies over, then those over the named parts in their order;
/// `group_size` becomes the product of the latter. Null when a part is named twice.
std::optional<std::vector<LoopDimension>> mesh_loops(const MeshReader& mesh, int64_t& group_size) {
  struct LoopPiece {
    size_t axis;
    int64_t before, size, stride;
    bool used = false;
  };
  std::vector<LoopPiece> pieces;
  int64_t stride = 1;  // of the piece that is more major than those so far
  for (size_t axis = mesh.axes.size(); axis-- > 0;) {
    const auto& cuts = mesh.axes[axis].cuts;
    for (size_t i = cuts.size(); i-- > 1;) {
      const int64_t size = cuts[i] / cuts[i - 1];
      pieces.push_back({axis, cuts[i - 1], size, stride});
      stride *= size;
    }
  }
  std::reverse(pieces.begin(), pieces.end());
  std::vector<LoopDimension> inner, loops;
  group_size = 1;
  for (const auto& part : mesh.parts) {
    for (LoopPiece& piece : pieces) {
      const bool inside = piece.axis == part.axis && piece.before >= part.before &&
                          piece.before * piece.size <= part.before * part.size;
      if (!inside) continue;
      if (piece.used) return std::nullopt;
      piece.used = true;
      inner.push_back({piece.size, piece.stride});
      group_size *= piece.size;
    }
  }
  for (const LoopPiece& piece : pieces)
    if (!piece.used) loops.push_back({piece.size, piece.stride});
  loops.insert(loops.end(), inner.begin(), inner.end());
  return loops;
}

Result<Groups> list_mesh(const ReplicaGroups& groups) {
  MeshReader mesh(groups.text);
  if (!mesh.read()) return failure(mesh.problem);
  std::vector<int64_t> sizes;
  for (const auto& axis : mesh.axes) sizes.push_back(axis.size);
  const auto total = device_count(sizes);
  if (!total)
    return failure(fmt::format("mesh \"{}\" has to have axes of positive size and at most {} devices",
                               shown(groups.text), kMostDevices));
  if (!mesh.device_ids.empty() && static_cast<int64_t>(mesh.device_ids.size()) != *total)
    return failure(fmt::format("mesh \"{}\" lists {} device ids for {} devices", shown(groups.text),
                               mesh.device_ids.size(), *total));
  int64_t group_size = 1;
  const auto loops = cut_axes(mesh) ? mesh_loops(mesh, group_size) : std::nullopt;
  if (!loops)
    return failure(
        fmt::format("the axes at the end of mesh \"{}\" overlap or do not divide it", shown(groups.text)));
  std::vector<int64_t> ids = enumerate(*loops);
  if (!mesh.device_ids.empty())
    for (int64_t& id : ids) id = mesh.device_ids[static_cast<size_t>(id)];
  return cut(ids, group_size);
}

}  // namespace

Result<Groups> list_replica_groups(const ReplicaGroups& groups, int64_t everybody) {
  switch (groups.form) {
    case ReplicaGroups::Form::kIota:
      return list_iota(groups);
    case ReplicaGroups::Form::kMesh:
      return list_mesh(groups);
    case ReplicaGroups::Form::kList:
      break;
  }
  Groups listed;
  for (const auto& group : groups.groups) listed.emplace_back(group.begin(), group.end());
  if (listed.empty()) {
    if (everybody < 0 || everybody > kMostDevices)
      return failure(fmt::format("a group of {} devices is more than the {} that can be listed", everybody,
                                 kMostDevices));
    std::vector<int64_t>& all = listed.emplace_back(static_cast<size_t>(everybody));
    std::iota(all.begin(), all.end(), 0);
  }
  return listed;
}

Result<ReplicaGroupCounts> count_replica_groups(const ReplicaGroups& groups) {
  ReplicaGroupCounts counts;
  if (groups.form == ReplicaGroups::Form::kList) {
    counts.groups = static_cast<int64_t>(groups.groups.size());
    if (counts.groups > 0) counts.members = static_cast<int64_t>(groups.groups[0].size());
    for (const auto& group : groups.groups) {
      counts.total += static_cast<int64_t>(group.size());
      counts.uniform = counts.uniform && group.size() == groups.groups[0].size();
    }
    return counts;
  }
  if (groups.form == ReplicaGroups::Form::kIota && groups.iota_dimensions.size() == 2) {
    const auto total = device_count(groups.iota_dimensions);
    const bool in_order =
        groups.iota_transpose.empty() || (groups.iota_transpose.size() == groups.iota_reshape.size() &&
                                          is_permutation_of_indices(groups.iota_transpose));
    if (total && total == device_count(groups.iota_reshape) && in_order)
      return ReplicaGroupCounts{groups.iota_dimensions[0], groups.iota_dimensions[1], *total, true};
  }
  const auto listed = list_replica_groups(groups, 0);  // explains what is wrong with an iota
  if (!listed) return tl::unexpected(listed.error());
  counts.groups = static_cast<int64_t>(listed->size());
  counts.members = static_cast<int64_t>(listed->front().size());
  counts.total = counts.groups * counts.members;
  return counts;
}

std::vector<std::vector<int64_t>> expand_replica_groups(const ReplicaGroups& groups, int64_t everybody) {
  auto listed = list_replica_groups(groups, everybody);
  HLOSIM_CHECK(listed.has_value(), "{}", listed.error().message);
  return std::move(*listed);
}

}  // namespace hlosim
