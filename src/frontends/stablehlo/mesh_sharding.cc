#include "stablehlo/mesh_sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

namespace hlosim::stablehlo {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 24;

/// Reads the texts of sdy's attributes; the first fault counts.
class MeshReader {
 public:
  MeshReader(std::string_view text, const FindMesh* find) : text_(text), find_(find) {}

  bool failed() const { return !error_.empty(); }
  Diagnostic error() const {
    Diagnostic diagnostic;
    diagnostic.message = error_;
    return diagnostic;
  }

  Mesh mesh() {
    Mesh mesh;
    need('<');
    need('[');
    while (!failed() && !eat(']')) {
      std::string axis = string();
      need('=');
      mesh.axes.emplace_back(std::move(axis), integer());
      if (!eat(',') && !at(']')) fail("expects ',' or ']' in a mesh");
    }
    if (eat(',')) {
      word("device_ids");
      need('=');
      need('[');
      while (!failed() && !eat(']')) {
        mesh.device_ids.push_back(integer());
        if (!eat(',') && !at(']')) fail("expects ',' or ']' after a device's number");
      }
    }
    need('>');
    if (failed()) return mesh;
    if (std::string problem = mesh_problem(mesh); !problem.empty()) return fail(std::move(problem)), Mesh();
    return mesh;
  }

  MeshSharding sharding() {
    MeshSharding sharding;
    need('<');
    if (eat('@')) {
      const std::string name = at('"') ? string() : bare();
      const std::optional<Mesh> found = find_ ? (*find_)(name) : std::nullopt;
      if (!found) return fail(fmt::format("there is no mesh @{}", name)), sharding;
      sharding.mesh = *found;
    } else {
      word("mesh");
      sharding.mesh = mesh();
    }
    need(',');
    need('[');
    while (!failed() && !eat(']')) {
      sharding.dimensions.push_back(axes());
      if (eat('p')) integer();  // a priority
      if (!eat(',') && !at(']')) fail("expects ',' or ']' between the axes of dimensions");
    }
    while (!failed() && eat(',')) {
      const std::string key = bare();
      need('=');
      bare();  // how partial results are put together: unreduced=max{"x"}
      const std::vector<AxisPart> parts = axes();
      if (key == "unreduced") sharding.unreduced = parts;
    }
    need('>');
    return sharding;
  }

  std::vector<MeshSharding> shardings() {
    std::vector<MeshSharding> all;
    need('<');
    need('[');
    while (!failed() && !eat(']')) {
      if (eat('#')) word("sdy.sharding");  // the name may stand before each
      all.push_back(sharding());
      if (!eat(',') && !at(']')) fail("expects ',' or ']' between shardings");
    }
    need('>');
    return all;
  }

  std::vector<AxisPart> bracketed_axes() {
    need('<');
    std::vector<AxisPart> parts = axes();
    need('>');
    return parts;
  }

 private:
  std::vector<AxisPart> axes() {
    std::vector<AxisPart> parts;
    need('{');
    while (!failed() && !eat('}')) {
      if (!eat('?')) {
        AxisPart part;
        part.axis = string();
        if (eat(':')) {
          need('(');
          part.pre = integer();
          need(')');
          part.size = integer();
          if (part.pre < 1 || part.size < 1) fail("a part of an axis has a size below 1");
        }
        parts.push_back(std::move(part));
      }
      if (!eat(',') && !at('}')) fail("expects ',' or '}' between axes");
    }
    return parts;
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool at(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool eat(char c) {
    if (failed() || !at(c)) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!eat(c)) fail(fmt::format("expects '{}' in {}", c, text_));
  }
  void word(std::string_view expected) {
    if (bare() != expected) fail(fmt::format("expects {} in {}", expected, text_));
  }
  std::string bare() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.' || text_[at_] == '$'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string string() {
    need('"');
    const size_t end = text_.find('"', at_);
    if (failed() || end == std::string_view::npos) return fail("expects a name in quotes"), "";
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  int64_t integer() {
    skip();
    int64_t value = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_)
      if (value > kMostDevices)
        fail("a number is too large");
      else
        value = value * 10 + (text_[at_] - '0');
    if (at_ == begin) fail(fmt::format("expects a number in {}", text_));
    return value;
  }
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  std::string_view text_;
  const FindMesh* find_;
  size_t at_ = 0;
  std::string error_;
};

/// Axes cut where any part in use begins or ends, in the order of the mesh.
class CutMesh {
 public:
  struct Part {
    size_t axis;
    int64_t pre, size;
  };

  explicit CutMesh(const Mesh& mesh) : mesh_(mesh), borders_(mesh.axes.size()) {
    for (size_t i = 0; i < mesh.axes.size(); ++i) borders_[i] = {1, mesh.axes[i].second};
  }

  /// What the mesh hasn't got of them; empty: it has all.
  std::string use(const std::vector<AxisPart>& wanted) {
    for (const AxisPart& part : wanted) {
      const size_t axis = find(part.axis);
      if (axis == mesh_.axes.size()) return fmt::format("the mesh has no axis \"{}\"", part.axis);
      const int64_t whole = mesh_.axes[axis].second;
      const int64_t size = part.size == 0 ? whole : part.size;
      if (size > whole || part.pre > whole || whole % (part.pre * size) != 0)
        return fmt::format("axis \"{}\" of size {} has no part ({}){}", part.axis, whole, part.pre, size);
      borders_[axis].insert(part.pre);
      borders_[axis].insert(part.pre * size);
    }
    return {};
  }

  void cut() {
    for (size_t axis = 0; axis < borders_.size(); ++axis) {
      int64_t before = 0;
      for (const int64_t border : borders_[axis]) {
        if (before > 0 && border % before == 0) parts.push_back({axis, before, border / before});
        before = border;
      }
    }
    used.assign(parts.size(), false);
  }

  /// Appends the parts that `part` covers, and marks them.
  void take(const std::vector<AxisPart>& wanted, std::vector<size_t>& order, int64_t& product) {
    for (const AxisPart& part : wanted) {
      const size_t axis = find(part.axis);
      const int64_t size = part.size == 0 ? mesh_.axes[axis].second : part.size;
      for (size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].axis != axis || parts[i].pre < part.pre ||
            parts[i].pre * parts[i].size > part.pre * size)
          continue;
        if (used[i]) continue;
        used[i] = true;
        order.push_back(i);
        product *= parts[i].size;
      }
    }
  }

  std::vector<Part> parts;
  std::vector<bool> used;

 private:
  size_t find(std::string_view axis) const {
    size_t i = 0;
    while (i < mesh_.axes.size() && mesh_.axes[i].first != axis) ++i;
    return i;
  }

  const Mesh& mesh_;
  std::vector<std::set<int64_t>> borders_;
};

/// `<=[8,4]T(1,0)`: parts of size 1 are dropped, those that stay neighbours joined.
std::string iota_text(const std::vector<CutMesh::Part>& parts, const std::vector<size_t>& order) {
  struct Run {
    size_t first, last;
    int64_t size;
  };
  std::vector<size_t> dense(parts.size());  // positions among the parts larger than 1
  size_t next = 0;
  for (size_t i = 0; i < parts.size(); ++i) dense[i] = parts[i].size > 1 ? next++ : next;
  std::vector<Run> runs;
  int64_t devices = 1;
  for (const size_t part : order) {
    if (parts[part].size == 1) continue;
    devices *= parts[part].size;
    if (!runs.empty() && dense[part] == runs.back().last + 1)
      runs.back().last = dense[part], runs.back().size *= parts[part].size;
    else
      runs.push_back({dense[part], dense[part], parts[part].size});
  }
  if (runs.size() <= 1) return fmt::format("<=[{}]", devices);
  std::vector<size_t> by_mesh(runs.size());
  std::iota(by_mesh.begin(), by_mesh.end(), size_t{0});
  std::sort(by_mesh.begin(), by_mesh.end(),
            [&](size_t a, size_t b) { return runs[a].first < runs[b].first; });
  std::vector<int64_t> sizes;
  std::vector<size_t> transposed(runs.size());
  for (size_t i = 0; i < by_mesh.size(); ++i) {
    sizes.push_back(runs[by_mesh[i]].size);
    transposed[by_mesh[i]] = i;
  }
  return fmt::format("<=[{}]T({})", fmt::join(sizes, ","), fmt::join(transposed, ","));
}

/// The devices one by one; those of a replicated group ascending.
std::string listed_devices(const Mesh& mesh, const std::vector<CutMesh::Part>& parts,
                           const std::vector<size_t>& order, int64_t replicated) {
  std::vector<int64_t> strides(parts.size(), 1);
  for (size_t i = parts.size(); i-- > 1;) strides[i - 1] = strides[i] * parts[i].size;
  std::vector<int64_t> devices = {0};
  for (const size_t part : order) {
    std::vector<int64_t> more;
    for (const int64_t base : devices)
      for (int64_t k = 0; k < parts[part].size; ++k) more.push_back(base + k * strides[part]);
    devices = std::move(more);
  }
  for (int64_t& device : devices) device = mesh.device_ids[static_cast<size_t>(device)];
  for (size_t i = 0; i + static_cast<size_t>(replicated) <= devices.size();
       i += static_cast<size_t>(replicated))
    std::sort(devices.begin() + static_cast<std::ptrdiff_t>(i),
              devices.begin() + static_cast<std::ptrdiff_t>(i) + replicated);
  return fmt::format("{}", fmt::join(devices, ","));
}

template <class T>
Result<T> checked(const MeshReader& reader, T value) {
  if (reader.failed()) return tl::unexpected(reader.error());
  return value;
}

}  // namespace

std::string mesh_problem(const Mesh& mesh) {
  int64_t devices = 1;
  for (const auto& [axis, size] : mesh.axes) {
    if (size < 1) return "an axis of a mesh has a size below 1";
    if (__builtin_mul_overflow(devices, size, &devices) || devices > kMostDevices)
      return "the mesh has too many devices";
  }
  if (!mesh.axes.empty() && !mesh.device_ids.empty() &&
      static_cast<int64_t>(mesh.device_ids.size()) != devices)
    return "device_ids has another number of devices than the mesh";
  return {};
}

Result<Mesh> read_mesh(std::string_view text) {
  MeshReader reader(text, nullptr);
  Mesh mesh = reader.mesh();
  return checked(reader, std::move(mesh));
}

Result<MeshSharding> read_mesh_sharding(std::string_view text, const FindMesh& find) {
  MeshReader reader(text, &find);
  MeshSharding sharding = reader.sharding();
  return checked(reader, std::move(sharding));
}

Result<std::vector<MeshSharding>> read_mesh_shardings(std::string_view text, const FindMesh& find) {
  MeshReader reader(text, &find);
  std::vector<MeshSharding> shardings = reader.shardings();
  return checked(reader, std::move(shardings));
}

Result<std::vector<AxisPart>> read_axes(std::string_view text) {
  MeshReader reader(text, nullptr);
  std::vector<AxisPart> axes = reader.bracketed_axes();
  return checked(reader, std::move(axes));
}

Result<std::string> hlo_sharding(const MeshSharding& sharding, const std::vector<AxisPart>& manual) {
  const Mesh& mesh = sharding.mesh;
  if (mesh.axes.empty())
    return mesh.device_ids.size() == 1 ? fmt::format("{{maximal device={}}}", mesh.device_ids[0])
                                       : std::string("{replicated}");
  CutMesh cut(mesh);
  std::string problem = cut.use(manual);
  if (problem.empty()) problem = cut.use(sharding.unreduced);
  for (const auto& dimension : sharding.dimensions)
    if (problem.empty()) problem = cut.use(dimension);
  if (!problem.empty()) return failure(std::move(problem));
  cut.cut();
  std::vector<size_t> order;
  std::vector<int64_t> tiles;
  std::vector<std::string_view> rest;
  const auto take = [&](const std::vector<AxisPart>& parts) {
    int64_t product = 1;
    cut.take(parts, order, product);
    return product;
  };
  int64_t tiled = 1;
  for (const auto& dimension : sharding.dimensions) tiles.push_back(take(dimension)), tiled *= tiles.back();
  const int64_t manual_tiles = take(manual);
  if (!manual.empty()) tiles.push_back(manual_tiles), rest.push_back("manual");
  const int64_t unreduced = take(sharding.unreduced);
  if (!sharding.unreduced.empty()) tiles.push_back(unreduced), rest.push_back("unreduced");
  int64_t replicated = 1;
  for (size_t i = 0; i < cut.parts.size(); ++i)
    if (!cut.used[i]) order.push_back(i), replicated *= cut.parts[i].size;
  if (replicated > 1) tiles.push_back(replicated), rest.push_back("replicated");
  if (tiled == 1 && manual.empty() && sharding.unreduced.empty()) return std::string("{replicated}");
  if (tiled == 1 && unreduced == 1 && replicated == 1 && !manual.empty()) return std::string("{manual}");
  std::string text = fmt::format("{{devices=[{}]", fmt::join(tiles, ","));
  text += mesh.device_ids.empty() ? iota_text(cut.parts, order)
                                  : listed_devices(mesh, cut.parts, order, replicated);
  if (rest.size() == 1 && rest[0] == "replicated")
    text += " last_tile_dim_replicate";
  else if (!rest.empty())
    text += fmt::format(" last_tile_dims={{{}}}", fmt::join(rest, ", "));
  return text + "}";
}

}  // namespace hlosim::stablehlo
