#include "propagate/sdy_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/bracketed_text.h"
#include "hlo/module_editor.h"
#include "sharding/sharding_calls.h"

namespace hlosim {
namespace {

/// The quoted text behind `key=`, its escapes taken away; empty: it isn't there.
std::string attribute(const Instruction& instruction, std::string_view key) {
  const Attr* attr = instruction.find(AttrKey::kFrontendAttributes);
  const std::string_view text = attr ? attr->text() : std::string_view();
  const std::string word = fmt::format("{}=\"", key);
  const size_t at = text.find(word);
  std::string made;
  if (at == std::string_view::npos) return made;
  for (size_t i = at + word.size(); i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\') ++i;
    if (i < text.size()) made += text[i];
  }
  return made;
}

/// One of `<mesh<["a"=2]>, [{"a"}, {}], replicated={…}>`.
struct ValueSharding {
  std::string_view axes;                     // "a"=2
  std::vector<std::string_view> dimensions;  // {"a"}
  std::string_view rest;                     // [{"a"}, {}], replicated={…}
};

/// Between `<` and the `>` that belongs to it, which is taken too.
std::optional<std::string_view> take_angles(std::string_view& text) {
  if (!text.starts_with('<')) return std::nullopt;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '<') - (text[i] == '>');
    if (depth > 0) continue;
    const std::string_view inside = text.substr(1, i - 1);
    text.remove_prefix(i + 1);
    return inside;
  }
  return std::nullopt;
}

std::optional<ValueSharding> value_sharding(std::string_view text) {
  if (!take_word(text, "mesh")) return std::nullopt;
  const auto mesh = take_angles(text);
  if (!mesh || !mesh->starts_with('[') || !mesh->ends_with(']') || !take_word(text, ", ["))
    return std::nullopt;
  ValueSharding made;
  made.axes = mesh->substr(1, mesh->size() - 2);
  made.rest = std::string_view(text.data() - 1, text.size() + 1);
  const auto parts = split_outside_brackets(made.rest, ",");
  if (parts.empty() || !parts[0].ends_with(']')) return std::nullopt;
  made.dimensions = split_outside_brackets(parts[0].substr(1, parts[0].size() - 2), ",");
  return made;
}

/// Of all values; empty: something else stands there.
std::vector<ValueSharding> value_shardings(std::string_view text) {
  std::vector<ValueSharding> made;
  const size_t begin = text.find("<[");
  if (begin == std::string_view::npos) return made;
  for (text.remove_prefix(begin + 2); text.starts_with('<');) {
    const auto one = take_angles(text);
    const auto sharding = one ? value_sharding(*one) : std::nullopt;
    if (!sharding) return {};
    made.push_back(*sharding);
    if (!take_word(text, ", ")) take_word(text, ",");
  }
  return made;
}

std::vector<std::string_view> manual_axes(std::string_view text) {
  const size_t begin = text.find('{'), end = text.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  return split_outside_brackets(text.substr(begin + 1, end - begin - 1), ",");
}

/// Outside of the region.
std::string outside(const ValueSharding& sharding) {
  return fmt::format("{{mesh[{}], {}}}", sharding.axes, sharding.rest);
}

/// Inside, where only the axes that are not manual cut anything.
std::string inside(const ValueSharding& sharding, const std::vector<std::string_view>& manual) {
  if (split_outside_brackets(sharding.axes, ",").size() == manual.size()) return "{manual}";
  std::string dimensions;
  for (const std::string_view dimension : sharding.dimensions) {
    std::string kept;
    for (const std::string_view axis : split_outside_brackets(dimension.substr(1, dimension.size() - 2), ","))
      if (std::find(manual.begin(), manual.end(), axis) == manual.end())
        kept += fmt::format("{}{}", kept.empty() ? "" : ",", axis);
    dimensions += fmt::format("{}{{{}}}", dimensions.empty() ? "" : ", ", kept);
  }
  return fmt::format("{{mesh[{}], [{}], manual={{{}}}}}", sharding.axes, dimensions, fmt::join(manual, ","));
}

class Opener {
 public:
  explicit Opener(Module& module) : editor_(module), module_(module) {}

  bool run() {
    bool any = false;
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const ComputationId computation{static_cast<int32_t>(c)};
      const std::vector<InstructionId> before = module_[computation].instructions;
      bool changed = false;
      for (const InstructionId id : before) changed = open(computation, id) || changed;
      if (changed) editor_.sort(computation);
      any = any || changed;
    }
    return any;
  }

 private:
  bool open(ComputationId computation, InstructionId id) {
    const Instruction border = module_[id];
    const ShardingCall call = sharding_call(border);
    const bool enters = call == ShardingCall::kIntoManual;
    if ((!enters && call != ShardingCall::kOutOfManual) || border.find(AttrKey::kSharding)) return false;
    const std::string text = attribute(border, enters ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"),
                      axes = attribute(border, "xla.sdy.manual_axes");
    const std::vector<ValueSharding> shardings = value_shardings(text);
    const std::vector<std::string_view> manual = manual_axes(axes);
    const bool is_tuple = border.shape->is_tuple();
    const size_t results = is_tuple ? border.shape->elements.size() : 1;
    if (shardings.size() != border.operands.size() || shardings.size() != results || manual.empty())
      return false;
    std::vector<InstructionId> made;
    for (size_t i = 0; i < results; ++i) {
      const ShapeRef shape = is_tuple ? border.shape->elements[i] : border.shape;
      const auto rank = static_cast<size_t>(shape->is_array() ? shape->rank() : -1);
      if (shardings[i].dimensions.size() != rank || !module_[border.operands[i]].shape->is_array())
        return false;
    }
    for (size_t i = 0; i < results; ++i) {
      const std::string out = outside(shardings[i]), in = inside(shardings[i], manual);
      const ShapeRef shape = is_tuple ? border.shape->elements[i] : border.shape;
      const InstructionId stated = add(computation, border, module_[border.operands[i]].shape,
                                       border.operands[i], "\"Sharding\"", enters ? out : in);
      made.push_back(add(computation, border, shape, stated,
                         enters ? "\"SPMDFullToShardShape\"" : "\"SPMDShardToFullShape\"",
                         enters ? in : out));
    }
    const InstructionId result = is_tuple ? editor_.tuple(id, made) : made[0];
    editor_.replace_everywhere(computation, id, result);
    std::erase(module_.computations[computation].instructions, id);
    return true;
  }

  InstructionId add(ComputationId computation, const Instruction& border, ShapeRef shape,
                    InstructionId operand, std::string_view target, std::string_view sharding) {
    const Attr attrs[] = {
        Attr::make_text(AttrKey::kCustomCallTarget, AttrSyntax::kString, target),
        Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding, module_.arena().copy(sharding))};
    const InstructionId operands[] = {operand};
    const InstructionId id = editor_.add(computation, border.opcode, border.name, shape, operands, attrs);
    editor_.place_like(id, border);
    module_.computations[computation].instructions.push_back(id);
    return id;
  }

  ModuleEditor editor_;
  Module& module_;
};

}  // namespace

bool open_sdy_borders(Module& module) { return Opener(module).run(); }

}  // namespace hlosim
