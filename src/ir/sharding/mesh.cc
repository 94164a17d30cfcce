#include "sharding/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/saturating.h"
#include "base/text.h"
#include "sharding/device_axes.h"
#include "sharding/most_devices.h"
#include "sharding/tiling.h"

namespace hlosim {
namespace {

/// Reads a short text from the command line; the first fault counts.
class NameReader {
 public:
  NameReader(std::string_view text, std::string name)
      : source_(std::make_shared<SourceFile>(std::move(name), std::string(text))), text_(source_->text()) {}

  bool failed() const { return error_.has_value(); }
  tl::unexpected<Diagnostic> error() const { return tl::unexpected(*error_); }
  size_t at() const { return at_; }

  bool eat(char c) {
    skip();
    if (failed() || at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c, std::string_view where) {
    if (!eat(c)) fail(at_, fmt::format("expects '{}' {}", c, where));
  }
  bool done() {
    skip();
    return at_ >= text_.size();
  }
  /// Up to the next sign that divides names.
  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view("=,:[]{}() \t").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// A positive number that counts devices.
  int64_t count(std::string_view what) {
    skip();
    const size_t begin = at_;
    const std::string_view digits = word();
    int64_t value = 0;
    const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc() || stop != digits.data() + digits.size() || value < 1 || value > kMostDevices)
      fail(begin,
           fmt::format("{} is \"{}\", expected a number from 1 to {}", what, shown(digits), kMostDevices));
    return std::max<int64_t>(value, 1);
  }
  void fail(size_t at, std::string message, std::string hint = {}) {
    if (failed()) return;
    error_ =
        Diagnostic{Severity::kError, std::move(message), std::move(hint), source_, static_cast<uint32_t>(at)};
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  SourcePtr source_;
  std::string_view text_;
  size_t at_ = 0;
  std::optional<Diagnostic> error_;
};

std::vector<std::string_view> names(const Mesh& mesh) {
  std::vector<std::string_view> all;
  for (const MeshAxis& axis : mesh.axes) all.push_back(axis.name);
  return all;
}

bool overlap(const AxisPart& a, const AxisPart& b) {
  return a.axis == b.axis && a.before < b.before * b.size && b.before < a.before * a.size;
}

class AxesReader {
 public:
  AxesReader(std::string_view text, const Mesh& mesh, std::string name)
      : reader_(text, std::move(name)), mesh_(mesh) {}

  Result<AxisSharding> read() {
    AxisSharding sharding;
    reader_.need('[', "before the axes of the dimensions, as in [data,_]");
    if (!reader_.eat(']')) do {
        sharding.dimensions.push_back(dimension());
      } while (reader_.eat(','));
    if (!sharding.dimensions.empty()) reader_.need(']', "behind the axes of the dimensions");
    if (!reader_.done()) reader_.fail(reader_.at(), "expects nothing behind the axes");
    if (reader_.failed()) return reader_.error();
    return sharding;
  }

 private:
  std::vector<AxisPart> dimension() {
    std::vector<AxisPart> parts;
    if (!reader_.eat('{')) {
      part(parts);
      return parts;
    }
    while (!reader_.failed() && !reader_.eat('}')) {
      part(parts);
      if (!reader_.eat(',')) {
        reader_.need('}', "behind the axes of a dimension");
        break;
      }
    }
    return parts;
  }

  void part(std::vector<AxisPart>& parts) {
    reader_.eat(' ');  // blanks
    const size_t begin = reader_.at();
    const std::string_view name = reader_.word();
    if (reader_.failed() || name == "_" || name == "None") return;
    const auto found = std::find_if(mesh_.axes.begin(), mesh_.axes.end(),
                                    [&](const MeshAxis& axis) { return axis.name == name; });
    if (found == mesh_.axes.end()) return unknown(begin, name);
    AxisPart made{static_cast<size_t>(found - mesh_.axes.begin()), 1, found->size};
    if (reader_.eat(':')) {
      reader_.need('(', "before what precedes a part of an axis, as in model:(2)4");
      made.before = reader_.count("what precedes the part");
      reader_.need(')', "behind what precedes a part of an axis, as in model:(2)4");
      made.size = reader_.count("the size of the part");
      if (!reader_.failed() && found->size % saturating_multiply(made.before, made.size) != 0)
        reader_.fail(begin, fmt::format("axis {} has {} devices, which are not a multiple of {} times {}",
                                        name, found->size, made.before, made.size));
    }
    for (const AxisPart& other : used_)
      if (overlap(made, other)) reader_.fail(begin, fmt::format("axis {} is used twice", name));
    if (reader_.failed()) return;
    used_.push_back(made);
    parts.push_back(made);
  }

  void unknown(size_t begin, std::string_view name) {
    const std::vector<std::string_view> all = names(mesh_);
    std::string hint = did_you_mean(name, all);
    if (hint.empty()) hint = fmt::format("it has {}; _ leaves a dimension whole", fmt::join(all, ", "));
    if (name.empty())
      reader_.fail(begin, "expects the name of an axis, or _", std::move(hint));
    else
      reader_.fail(begin, fmt::format("the mesh has no axis {}", shown(name)), std::move(hint));
  }

  NameReader reader_;
  const Mesh& mesh_;
  std::vector<AxisPart> used_;
};

/// The axes of the devices, such that the mesh's are made of whole ones.
DeviceAxes device_axes(const Mesh& mesh, std::span<const AxisPart> parts) {
  TileAssignment tiles;
  tiles.kind = TileAssignment::Kind::kTiled;
  std::vector<TileAssignment> all;
  const auto add = [&](std::vector<int64_t> sizes) {
    tiles.dimensions = tiles.reshape = std::move(sizes);
    tiles.order.resize(tiles.reshape.size());
    for (size_t i = 0; i < tiles.order.size(); ++i) tiles.order[i] = static_cast<int64_t>(i);
    tiles.device_list = mesh.device_order;
    all.push_back(tiles);
  };
  std::vector<int64_t> whole;
  for (const MeshAxis& axis : mesh.axes) whole.push_back(axis.size);
  add(whole);
  for (const AxisPart& part : parts) {
    const int64_t stride = mesh.stride(part.axis);
    const int64_t behind = mesh.axes[part.axis].size / part.before / part.size * stride;
    add({mesh.devices() / behind / part.size, part.size, behind});
  }
  return DeviceAxes(mesh.devices(), all);
}

int64_t stride_of(const Mesh& mesh, const AxisPart& part) {
  return mesh.axes[part.axis].size / part.before / part.size * mesh.stride(part.axis);
}

/// Axes of the devices as parts of the mesh's, neighbours joined.
std::vector<AxisPart> parts_of(const Mesh& mesh, const DeviceAxes& axes, const AxisList& list) {
  std::vector<AxisPart> parts;
  for (const int number : list) {
    const int64_t size = axes.size(number), stride = axes.stride(number);
    for (size_t i = 0; i < mesh.axes.size(); ++i) {
      const int64_t unit = mesh.stride(i), end = unit * mesh.axes[i].size;
      if (stride < unit || stride >= end || mesh.axes[i].size == 1) continue;
      const AxisPart part{i, end / (stride * size), size};
      AxisPart* last = parts.empty() ? nullptr : &parts.back();
      if (last && last->axis == i && last->before * last->size == part.before)
        last->size *= size;
      else
        parts.push_back(part);
    }
  }
  return parts;
}

/// Do all axes of the devices lie within one of the mesh's?
bool lie_within(const Mesh& mesh, const DeviceAxes& axes) {
  for (int number = 0; number < axes.count(); ++number) {
    bool within = false;
    for (size_t i = 0; i < mesh.axes.size(); ++i)
      within |= axes.stride(number) >= mesh.stride(i) &&
                axes.stride(number) * axes.size(number) <= mesh.stride(i) * mesh.axes[i].size;
    if (!within) return false;
  }
  return true;
}

std::string part_text(const Mesh& mesh, const AxisPart& part) {
  const MeshAxis& axis = mesh.axes[part.axis];
  return part.size == axis.size ? axis.name : fmt::format("{}:({}){}", axis.name, part.before, part.size);
}

std::string list_text(const Mesh& mesh, const std::vector<AxisPart>& parts) {
  std::vector<std::string> texts;
  for (const AxisPart& part : parts) texts.push_back(part_text(mesh, part));
  return fmt::format("{{{}}}", fmt::join(texts, ","));
}

}  // namespace

int64_t Mesh::devices() const {
  int64_t product = 1;
  for (const MeshAxis& axis : axes) product = saturating_multiply(product, axis.size);
  return product;
}

int64_t Mesh::stride(size_t axis) const {
  int64_t product = 1;
  for (size_t i = axis + 1; i < axes.size(); ++i) product *= axes[i].size;
  return product;
}

int64_t AxisSharding::tiles(size_t i) const {
  int64_t product = 1;
  for (const AxisPart& part : dimensions[i]) product *= part.size;
  return product;
}

Result<Mesh> parse_mesh(std::string_view text, std::string name) {
  NameReader reader(text, std::move(name));
  Mesh mesh;
  do {
    reader.eat(' ');  // blanks
    const size_t begin = reader.at();
    const std::string_view axis = reader.word();
    if (axis.empty() || axis == "_")
      reader.fail(begin, "expects the name of an axis and its size, as in data=4,model=2");
    for (const MeshAxis& other : mesh.axes)
      if (other.name == axis) reader.fail(begin, fmt::format("axis {} is twice in the mesh", axis));
    reader.need('=', "and a size behind the name of an axis");
    mesh.axes.push_back({std::string(axis), reader.count(fmt::format("the size of axis {}", axis))});
    if (mesh.devices() > kMostDevices)
      reader.fail(begin, fmt::format("the mesh has more than {} devices", kMostDevices));
  } while (reader.eat(','));
  if (!reader.done()) reader.fail(reader.at(), "expects ',' and another axis, or the end");
  if (reader.failed()) return reader.error();
  return mesh;
}

Result<void> check_mesh(const Mesh& mesh, int64_t devices) {
  if (mesh.devices() == devices) return {};
  std::vector<std::string> sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.push_back(fmt::format("{}={}", axis.name, axis.size));
  std::string hint;
  const MeshAxis& last = mesh.axes.back();
  const int64_t others = mesh.devices() / last.size;
  if (devices % others == 0) hint = fmt::format("{}={} would", last.name, devices / others);
  return failure(fmt::format("the mesh {} has {} devices, which are not the {} that there are",
                             fmt::join(sizes, ","), mesh.devices(), devices),
                 std::move(hint));
}

Result<AxisSharding> parse_axes(std::string_view text, const Mesh& mesh, std::string name) {
  return AxesReader(text, mesh, std::move(name)).read();
}

std::string sharding_text(const Mesh& mesh, const AxisSharding& sharding) {
  std::vector<AxisPart> all = sharding.manual;
  all.insert(all.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  for (const std::vector<AxisPart>& dimension : sharding.dimensions)
    all.insert(all.end(), dimension.begin(), dimension.end());
  const DeviceAxes axes = device_axes(mesh, all);
  const auto list = [&](const std::vector<AxisPart>& parts) {
    AxisList made;
    for (const AxisPart& part : parts)
      for (const int axis : axes.axes_of(stride_of(mesh, part), part.size)) made.push_back(axis);
    return made;
  };
  Tiling tiling(static_cast<int64_t>(sharding.dimensions.size()));
  for (size_t i = 0; i < sharding.dimensions.size(); ++i) tiling.cuts[i] = list(sharding.dimensions[i]);
  tiling.manual = set_of(list(sharding.manual));
  tiling.partial = set_of(list(sharding.unreduced));
  return to_text(axes, tiling);
}

std::optional<AxisSharding> axes_of(const Mesh& mesh, std::string_view text) {
  const Result<std::vector<TileAssignment>> tiles = read_tile_assignments(text, 1);
  if (!tiles || tiles->size() != 1) return std::nullopt;
  const TileAssignment& only = tiles->front();
  AxisSharding sharding;
  if (only.kind == TileAssignment::Kind::kReplicated) return sharding;
  if (only.kind == TileAssignment::Kind::kManual) {
    for (size_t i = 0; i < mesh.axes.size(); ++i) sharding.manual.push_back({i, 1, mesh.axes[i].size});
    return sharding;
  }
  if (!only.is_tiled() || only.devices() != mesh.devices()) return std::nullopt;
  const DeviceAxes axes = device_axes(mesh, {});
  const Result<PlacedTiling> placed = tiling_of(axes, only, static_cast<int64_t>(only.dimensions.size()));
  if (!placed || !placed->device_at.empty() || !lie_within(mesh, axes)) return std::nullopt;
  for (const AxisList& cut : placed->tiling.cuts) sharding.dimensions.push_back(parts_of(mesh, axes, cut));
  sharding.manual = parts_of(mesh, axes, list_of(placed->tiling.manual));
  sharding.unreduced = parts_of(mesh, axes, list_of(placed->tiling.partial));
  return sharding;
}

std::string axis_names(const Mesh& mesh, const AxisSharding& sharding) {
  std::vector<std::string> dimensions;
  for (const std::vector<AxisPart>& dimension : sharding.dimensions)
    dimensions.push_back(dimension.empty()       ? std::string("_")
                         : dimension.size() == 1 ? part_text(mesh, dimension[0])
                                                 : list_text(mesh, dimension));
  std::string text = fmt::format("[{}]", fmt::join(dimensions, ","));
  if (!sharding.manual.empty()) text += " manual=" + list_text(mesh, sharding.manual);
  if (!sharding.unreduced.empty()) text += " unreduced=" + list_text(mesh, sharding.unreduced);
  return text;
}

}  // namespace hlosim
