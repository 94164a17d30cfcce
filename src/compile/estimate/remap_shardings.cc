#include "estimate/remap_shardings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "hlo/module_editor.h"

namespace hlosim {
namespace {

/// The shardings of a tuple's leaves, each with its braces; of an array's alone.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  const bool is_tuple = text.starts_with("{{");
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && ++depth == (is_tuple ? 2 : 1)) begin = i;
    if (text[i] == '}' && depth-- == (is_tuple ? 2 : 1)) parts.push_back(text.substr(begin, i + 1 - begin));
  }
  return parts;
}

class Rebinder {
 public:
  Rebinder(const Module& module, const Mesh& from, const Mesh& to)
      : made_(module.copy()), from_(from), to_(to), editor_(made_) {
    for (const MeshAxis& axis : from.axes) {
      const auto found = std::find_if(to.axes.begin(), to.axes.end(),
                                      [&](const MeshAxis& other) { return other.name == axis.name; });
      axis_.push_back(found != to.axes.end() ? found - to.axes.begin() : -1);
    }
  }

  Result<Module> rebind() {
    for (const Computation& computation : made_.computations)
      for (const InstructionId id : computation.instructions)
        if (const Attr* attr = made_[id].find(AttrKey::kSharding))
          if (Result<void> done = rewrite(id, std::string(attr->text())); !done)
            return tl::unexpected(done.error());
    return std::move(made_);
  }

 private:
  Result<void> rewrite(InstructionId id, const std::string& text) {
    std::vector<std::string> parts;
    for (const std::string_view part : parts_of(text)) {
      Result<std::string> made = rebound(id, std::string(part));
      if (!made) return tl::unexpected(made.error());
      parts.push_back(std::move(*made));
    }
    const std::string all = text.starts_with("{{") ? fmt::format("{{{}}}", fmt::join(parts, ", "))
                            : parts.empty()        ? text
                                                   : parts[0];
    editor_.set_attr(id, Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding,
                                         made_.arena().copy(std::string_view(all))));
    return {};
  }

  Result<std::string> rebound(InstructionId id, const std::string& text) {
    if (const auto known = known_.find(text); known != known_.end()) return known->second;
    if (text.starts_with("{maximal") || text.starts_with("{unknown") || text.starts_with("{replicated"))
      return text;
    std::optional<AxisSharding> sharding = axes_of(from_, text);
    if (!sharding)
      return wrong(id, fmt::format("{} doesn't shard the devices along axes of the mesh", shown(text)));
    if (!sharding->manual.empty())
      return wrong(id, "the shapes of a manual region are those of the mesh that it was written for");
    for (std::vector<AxisPart>& dimension : sharding->dimensions)
      if (!take_over(dimension)) return wrong(id, fmt::format("{} shards a part of an axis", shown(text)));
    if (!take_over(sharding->unreduced))
      return wrong(id, fmt::format("{} shards a part of an axis", shown(text)));
    return known_[text] = sharding_text(to_, *sharding);
  }

  /// The same axes, as long as they are now. False: a part of one.
  bool take_over(std::vector<AxisPart>& parts) const {
    std::vector<AxisPart> made;
    for (const AxisPart& part : parts) {
      if (part.before != 1 || part.size != from_.axes[part.axis].size) return false;
      if (axis_[part.axis] < 0) continue;
      const auto axis = static_cast<size_t>(axis_[part.axis]);
      if (to_.axes[axis].size > 1) made.push_back({axis, 1, to_.axes[axis].size});
    }
    parts = std::move(made);
    return true;
  }

  tl::unexpected<Diagnostic> wrong(InstructionId id, std::string message) const {
    Diagnostic problem;
    problem.message = fmt::format("{}: {}", made_[id].name, message);
    problem.source = made_.source;
    problem.offset = made_[id].offset;
    return tl::unexpected<Diagnostic>(std::move(problem));
  }

  Module made_;
  const Mesh& from_;
  const Mesh& to_;
  ModuleEditor editor_;
  std::vector<int64_t> axis_;  // of `to` by axis of `from`; -1: none
  std::map<std::string, std::string> known_;
};

}  // namespace

Result<Module> remap_shardings_to_mesh(const Module& module, const Mesh& from, const Mesh& to) {
  for (const MeshAxis& axis : from.axes)
    if (axis.size < 2)
      return failure(fmt::format("axis {} of the mesh that the module was written for has size {}", axis.name,
                                 axis.size),
                     "axes are recognized by their sizes: at least 2 each");
  return Rebinder(module, from, to).rebind();
}

}  // namespace hlosim
