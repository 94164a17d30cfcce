#include "sharding/mesh_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hlosim {
namespace {

constexpr std::string_view kDimensionNames = "xyzw";

/// What is left of the torus while axes take from it.
class TorusDivision {
 public:
  TorusDivision(const Mesh& mesh, const std::vector<int64_t>& topology, int64_t cores)
      : mesh_(mesh), left_(topology), taken_(topology.size(), 1), cores_left_(cores) {
    made_.axes.resize(mesh.axes.size());
    wanted_.resize(mesh.axes.size());
    for (size_t i = 0; i < wanted_.size(); ++i) wanted_[i] = mesh.axes[i].size;
  }

  /// As much of dimension `d` for axis `axis` as both have in common.
  int64_t take(size_t axis, size_t d) {
    const int64_t size = std::gcd(wanted_[axis], left_[d]);
    if (size == 1) return 1;
    made_.axes[axis].push_back({d, taken_[d], size});
    taken_[d] *= size;
    left_[d] /= size;
    wanted_[axis] /= size;
    return size;
  }

  /// The fastest axis has the cores of a chip; then those that are whole dimensions; then what is left, from
  /// the largest rest.
  bool finish() {
    for (size_t axis = mesh_.axes.size(); axis-- > 0 && cores_left_ > 1;) {
      const int64_t size = std::gcd(wanted_[axis], cores_left_);
      if (size == 1) continue;
      cores_.push_back({axis, size});
      cores_left_ /= size;
      wanted_[axis] /= size;
    }
    for (size_t axis = mesh_.axes.size(); axis-- > 0;) take_whole(axis);
    for (size_t axis = mesh_.axes.size(); axis-- > 0;)
      while (wanted_[axis] > 1) {
        size_t best = left_.size();
        for (size_t d = 0; d < left_.size(); ++d)
          if (std::gcd(wanted_[axis], left_[d]) > 1 &&
              (best == left_.size() ||
               std::gcd(wanted_[axis], left_[d]) > std::gcd(wanted_[axis], left_[best])))
            best = d;
        if (best == left_.size()) return false;
        take(axis, best);
      }
    return cores_left_ == 1 && std::all_of(left_.begin(), left_.end(), [](int64_t n) { return n == 1; });
  }

  MeshOnTorus made(const std::vector<int64_t>& topology, int64_t cores) {
    made_.device_order.resize(static_cast<size_t>(mesh_.devices()));
    for (int64_t place = 0; place < mesh_.devices(); ++place)
      made_.device_order[static_cast<size_t>(place)] = device(place, topology, cores);
    bool in_order = true;
    for (size_t i = 0; i < made_.device_order.size(); ++i)
      in_order &= made_.device_order[i] == static_cast<int64_t>(i);
    if (in_order) made_.device_order.clear();
    return std::move(made_);
  }

  int64_t wanted(size_t axis) const { return wanted_[axis]; }

 private:
  struct CorePart {
    size_t axis;
    int64_t size;
  };

  /// The untouched dimensions whose product is what the axis wants, as few as can be, the first ones first: x
  /// is the fastest part.
  void take_whole(size_t axis) {
    const size_t sets = size_t{1} << left_.size();
    size_t best = 0;
    for (size_t set = 1; set < sets; ++set) {
      int64_t product = 1;
      for (size_t d = 0; d < left_.size(); ++d)
        if ((set >> d & 1) != 0) product *= taken_[d] == 1 && left_[d] > 1 ? left_[d] : 0;
      if (product != wanted_[axis]) continue;
      const int count = __builtin_popcountll(set), known = __builtin_popcountll(best);
      if (best == 0 || count < known || (count == known && set < best)) best = set;
    }
    for (size_t d = left_.size(); d-- > 0;)
      if ((best >> d & 1) != 0) take(axis, d);
  }

  int64_t device(int64_t place, const std::vector<int64_t>& topology, int64_t cores) const {
    std::vector<int64_t> chip(topology.size(), 0);
    int64_t core = 0;
    for (size_t axis = 0; axis < mesh_.axes.size(); ++axis) {
      int64_t coordinate = place / mesh_.stride(axis) % mesh_.axes[axis].size;
      for (const CorePart& part : cores_)  // the fastest part of its axis
        if (part.axis == axis) {
          core = core * part.size + coordinate % part.size;
          coordinate /= part.size;
        }
      const std::vector<TorusPart>& parts = made_.axes[axis];
      for (size_t i = parts.size(); i-- > 0;) {
        const TorusPart& part = parts[i];
        const int64_t behind = topology[part.dimension] / (part.before * part.size);
        chip[part.dimension] += coordinate % part.size * behind;
        coordinate /= part.size;
      }
    }
    int64_t number = 0;
    for (size_t d = topology.size(); d-- > 0;) number = number * topology[d] + chip[d];
    return number * cores + core;
  }

  const Mesh& mesh_;
  std::vector<int64_t> left_, taken_, wanted_;
  int64_t cores_left_;
  std::vector<CorePart> cores_;
  MeshOnTorus made_;
};

tl::unexpected<Diagnostic> fail_at(std::string_view text, const std::string& name, size_t at,
                                   std::string message, std::string hint = {}) {
  Diagnostic problem{Severity::kError, std::move(message), std::move(hint), nullptr,
                     static_cast<uint32_t>(at)};
  problem.source = std::make_shared<SourceFile>(name, std::string(text));
  return tl::unexpected(std::move(problem));
}

/// `model=y,data=xz`.
Result<void> take_named(const Mesh& mesh, size_t dimensions, std::string_view order, const std::string& name,
                        TorusDivision& division) {
  for (size_t at = 0; at < order.size();) {
    const size_t end = std::min(order.find(',', at), order.size()), equals = order.find('=', at);
    if (equals >= end) return fail_at(order, name, at, "expects axis=dimensions, as in model=y");
    const std::string_view axis_name = order.substr(at, equals - at);
    const auto axis = std::find_if(mesh.axes.begin(), mesh.axes.end(),
                                   [&](const MeshAxis& known) { return known.name == axis_name; });
    if (axis == mesh.axes.end()) {
      std::vector<std::string_view> all;
      for (const MeshAxis& known : mesh.axes) all.push_back(known.name);
      return fail_at(order, name, at, fmt::format("the mesh has no axis {}", axis_name),
                     fmt::format("it has {}", fmt::join(all, ", ")));
    }
    const auto number = static_cast<size_t>(axis - mesh.axes.begin());
    for (size_t i = equals + 1; i < end; ++i) {
      const size_t dimension = kDimensionNames.find(order[i]);
      if (dimension >= dimensions)
        return fail_at(order, name, i, fmt::format("the torus has no dimension {}", order[i]),
                       fmt::format("it has {}", kDimensionNames.substr(0, dimensions)));
      if (division.wanted(number) > 1 && division.take(number, dimension) == 1)
        return fail_at(order, name, i,
                       fmt::format("dimension {} has nothing left for axis {}", order[i], axis_name));
    }
    if (division.wanted(number) > 1)
      return fail_at(order, name, equals + 1,
                     fmt::format("axis {} has {} devices, the dimensions give {}", axis_name, axis->size,
                                 axis->size / division.wanted(number)));
    at = end + 1;
  }
  return {};
}

}  // namespace

bool MeshOnTorus::is_whole(size_t axis, const std::vector<int64_t>& topology) const {
  return std::all_of(axes[axis].begin(), axes[axis].end(),
                     [&](const TorusPart& part) { return part.size == topology[part.dimension]; });
}

Result<MeshOnTorus> mesh_order(const Mesh& mesh, const std::vector<int64_t>& topology, int64_t cores,
                               std::string_view order, std::string name) {
  int64_t devices = cores;
  for (const int64_t side : topology) devices *= side;
  if (Result<void> fits = check_mesh(mesh, devices); !fits) return tl::unexpected(fits.error());
  if (topology.size() > kDimensionNames.size())
    return failure(fmt::format("a torus of {} dimensions, expected at most {}", topology.size(),
                               kDimensionNames.size()));
  TorusDivision division(mesh, topology, cores);
  if (Result<void> taken = take_named(mesh, topology.size(), order, name, division); !taken)
    return tl::unexpected(taken.error());
  if (!division.finish())
    return failure(
        fmt::format("the axes of the mesh can't be laid over a torus of {}", fmt::join(topology, "x")));
  return division.made(topology, cores);
}

}  // namespace hlosim
