#include "stablehlo/shardings.h"

#include <algorithm>

#include "hlo/attr_reader.h"
#include "mlir/write_text.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

/// HLO's grammar has the text.
bool is_hlo_sharding(std::string_view text) {
  Cursor in(text, 0, text.size());
  return scan_sharding(in) && in.at_end() && !in.failed();
}

/// Entry `name` of the frontend attributes in `attrs`; empty: there is none.
std::string_view frontend_entry(const mlir::Attribute* frontend, std::string_view name) {
  const mlir::Attribute* entry = frontend ? frontend->find(name) : nullptr;
  return entry ? entry->text : std::string_view();
}

/// The mesh `name` of `{a = #sdy.mesh<["x"=2]>, b = #sdy.mesh<…>}`, from its bracket on; empty: there is
/// none.
std::string_view listed_mesh(std::string_view meshes, std::string_view name) {
  constexpr std::string_view kMesh = "#sdy.mesh<";
  for (size_t at = meshes.find(kMesh); at != std::string_view::npos; at = meshes.find(kMesh, at + 1)) {
    size_t end = at;
    while (end > 0 && (meshes[end - 1] == ' ' || meshes[end - 1] == '=' || meshes[end - 1] == '"')) --end;
    size_t begin = end;
    while (begin > 0 && std::string_view("{, \"").find(meshes[begin - 1]) == std::string_view::npos) --begin;
    if (meshes.substr(begin, end - begin) != name) continue;
    const std::string_view mesh = meshes.substr(at + kMesh.size() - 1);
    return mesh.substr(0, std::min(mesh.find('>'), mesh.size() - 1) + 1);
  }
  return {};
}

}  // namespace

FindMesh mesh_finder(Lowering& lowering) {
  return [&lowering](std::string_view name) -> std::optional<Mesh> {
    const mlir::Operation* op = lowering.symbols().mesh(name);
    const mlir::Attribute* mesh = op ? op->find("mesh") : nullptr;
    const mlir::Operation* module = lowering.symbols().module;
    const std::string_view text =
        mesh ? mesh->text
             : listed_mesh(frontend_entry(module->find("mhlo.frontend_attributes"), "xla.sdy.meshes"), name);
    if (text.empty()) return std::nullopt;
    Result<Mesh> read = read_mesh(text);
    return read ? std::optional(std::move(*read)) : std::nullopt;
  };
}

std::optional<std::string> sharding_of_frontend(Lowering& lowering, const mlir::Attribute* attrs,
                                                int64_t rank) {
  const mlir::Attribute* frontend = attrs ? attrs->find("mhlo.frontend_attributes") : nullptr;
  std::string_view text = frontend_entry(frontend, "xla.sdy.sharding");
  const FindMesh find = mesh_finder(lowering);
  for (const std::string_view name : {"#sdy.sharding_per_value", "#sdy.sharding"}) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    break;
  }
  MeshSharding sharding;
  if (text.starts_with("<[")) {
    Result<std::vector<MeshSharding>> all = read_mesh_shardings(text, find);
    if (!all || all->size() != 1) return std::nullopt;
    sharding = std::move(all->front());
  } else {
    Result<MeshSharding> one = read_mesh_sharding(text, find);
    if (!one) return std::nullopt;
    sharding = std::move(*one);
  }
  if (static_cast<int64_t>(sharding.dimensions.size()) != rank) return std::nullopt;
  Result<std::string> made = hlo_sharding(sharding);
  return made ? std::optional(std::move(*made)) : std::nullopt;
}

std::optional<std::string> sharding_text(Lowering& lowering, std::string_view given, uint32_t offset) {
  if (!given.empty() && given[0] == '{' && is_hlo_sharding(given)) return std::string(given);
  Result<std::string> text = hlo_sharding_of_proto(given);
  if (text && is_hlo_sharding(*text)) return std::move(*text);
  lowering.builder().fail(
      offset,
      fmt::format("\"{}\" is not a sharding, expected HLO's text or its protocol buffer", escaped(given)));
  return std::nullopt;
}

std::optional<std::string> sharding_text(Lowering& lowering, const mlir::Attribute& sdy, uint32_t offset,
                                         const std::vector<AxisPart>& manual) {
  const FindMesh find = mesh_finder(lowering);
  const auto complain = [&](const Diagnostic& problem) {
    lowering.builder().fail(offset, problem.message);
    return std::nullopt;
  };
  if (!sdy.text.starts_with("<[")) {
    const Result<MeshSharding> sharding = read_mesh_sharding(sdy.text, find);
    if (!sharding) return complain(sharding.error());
    Result<std::string> text = hlo_sharding(*sharding, manual);
    return text ? std::optional(std::move(*text)) : complain(text.error());
  }
  const Result<std::vector<MeshSharding>> shardings = read_mesh_shardings(sdy.text, find);
  if (!shardings) return complain(shardings.error());
  std::string all;
  for (const MeshSharding& sharding : *shardings) {
    Result<std::string> text = hlo_sharding(sharding, manual);
    if (!text) return complain(text.error());
    all += (all.empty() ? "" : ",") + *text;
  }
  if (shardings->empty()) return std::nullopt;
  return shardings->size() == 1 ? all : fmt::format("{{{}}}", all);
}

std::optional<std::string> sharding_text(Lowering& lowering, const mlir::ExportedSharding& given,
                                         int64_t rank, uint32_t offset) {
  if (given.mesh.empty()) return sharding_text(lowering, given.proto, offset);
  const auto complain = [&](std::string problem) {
    lowering.builder().fail(offset, "the file around the artifact: " + problem);
    return std::nullopt;
  };
  if (static_cast<int64_t>(given.dimensions.size()) > rank)
    return complain(
        fmt::format("{} dimensions are sharded of an array of {}", given.dimensions.size(), rank));
  MeshSharding sharding;
  sharding.mesh.axes = given.mesh;
  sharding.dimensions.resize(static_cast<size_t>(rank));
  for (size_t i = 0; i < given.dimensions.size(); ++i)
    for (const std::string& axis : given.dimensions[i]) sharding.dimensions[i].push_back({axis});
  if (const std::string problem = mesh_problem(sharding.mesh); !problem.empty()) return complain(problem);
  Result<std::string> text = hlo_sharding(sharding);
  return text ? std::optional(std::move(*text)) : complain(text.error().message);
}

std::optional<std::string> sharding_of(Lowering& lowering, const mlir::Attribute* attrs, uint32_t offset) {
  if (!attrs) return std::nullopt;
  if (const mlir::Attribute* given = attrs->find("mhlo.sharding"))
    return sharding_text(lowering, given->text, offset);
  if (const mlir::Attribute* sdy = attrs->find("sdy.sharding")) return sharding_text(lowering, *sdy, offset);
  return std::nullopt;
}

std::string frontend_text(const mlir::Attribute& dictionary) {
  std::string text;
  for (const mlir::NamedAttribute& entry : dictionary.entries) {
    const std::string value = entry.value->kind == mlir::AttributeKind::kString
                                  ? std::string(entry.value->text)
                                  : attribute_text(*entry.value);
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", entry.name, escaped(value));
  }
  return fmt::format("{{{}}}", text);
}

std::optional<std::string> frontend_attributes(const mlir::Attribute* given, const mlir::Attribute* sdy) {
  std::string text = given && !given->entries.empty() ? frontend_text(*given) : "{}";
  const bool says_more = sdy && (sdy->text.find('?') != std::string_view::npos ||
                                 sdy->text.find("}p") != std::string_view::npos);
  if (says_more && text.find("xla.sdy.sharding=") == std::string::npos) {
    const std::string note =
        fmt::format("xla.sdy.sharding=\"{}\"", escaped(fmt::format("#{}{}", sdy->name, sdy->text)));
    text.insert(text.size() - 1, (text.size() > 2 ? "," : "") + note);
  }
  return text.size() > 2 ? std::optional(std::move(text)) : std::nullopt;
}

std::vector<Attr> discardable_attrs(OpLowering& op) {
  std::vector<Attr> attrs;
  std::optional<std::string> sharding;
  if (const mlir::Attribute* given = op.find("mhlo.sharding"))
    sharding = sharding_text(op.lowering(), given->text, op.mlir().offset);
  else if (const mlir::Attribute* sdy = op.find("sdy.sharding"))
    sharding = sharding_text(op.lowering(), *sdy, op.mlir().offset);
  if (sharding) attrs.push_back(op.word(AttrKey::kSharding, *sharding));
  const mlir::Attribute* sdy = sharding ? op.find("sdy.sharding") : nullptr;
  if (const auto frontend = frontend_attributes(op.find("mhlo.frontend_attributes"), sdy))
    attrs.push_back(op.word(AttrKey::kFrontendAttributes, *frontend));
  return attrs;
}

namespace {

std::string list_text(const auto& items, auto&& one) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + one(item);
  return text;
}

std::string entries_text(const mlir::Attribute& attribute) {
  return list_text(attribute.entries, [](const mlir::NamedAttribute& entry) {
    return entry.value->kind == mlir::AttributeKind::kUnit
               ? std::string(entry.name)
               : fmt::format("{} = {}", entry.name, attribute_text(*entry.value));
  });
}

std::string typed(std::string text, const mlir::Attribute& attribute) {
  return attribute.type ? fmt::format("{} : {}", text, type_text(*attribute.type)) : text;
}

}  // namespace

std::string attribute_text(const mlir::Attribute& attribute) {
  using mlir::AttributeKind;
  switch (attribute.kind) {
    case AttributeKind::kUnit:
      return "unit";
    case AttributeKind::kBool:
      return attribute.integer ? "true" : "false";
    case AttributeKind::kInteger:
      return attribute.type ? typed(fmt::to_string(attribute.integer), attribute)
                            : fmt::format("{} : i64", attribute.integer);
    case AttributeKind::kFloat:
      return typed(fmt::format("{:.9g}", attribute.number), attribute);
    case AttributeKind::kString:
      return fmt::format("\"{}\"", escaped(attribute.text));
    case AttributeKind::kSymbol:
      return fmt::format("@{}", attribute.text);
    case AttributeKind::kType:
      return attribute.type ? type_text(*attribute.type) : std::string();
    case AttributeKind::kArray:
      return fmt::format("[{}]", list_text(attribute.items, [](const mlir::Attribute* item) {
                           return attribute_text(*item);
                         }));
    case AttributeKind::kDictionary:
      return fmt::format("{{{}}}", entries_text(attribute));
    case AttributeKind::kIntegers:
      return fmt::format("array<{}{}{}>", attribute.type ? type_text(*attribute.type) : "i64",
                         attribute.integers.empty() ? "" : ": ",
                         list_text(attribute.integers, [](int64_t value) { return fmt::to_string(value); }));
    case AttributeKind::kDense:
    case AttributeKind::kFloats:
      return mlir::to_text(attribute);
    case AttributeKind::kStruct:
      return fmt::format("#{}<{}>", attribute.name, entries_text(attribute));
    case AttributeKind::kEnum:
      return fmt::format("#{}<{}>", attribute.name, attribute.text);
    case AttributeKind::kDenseResource:
    case AttributeKind::kAffineMap:
    case AttributeKind::kSharding:
    case AttributeKind::kLocation:
    case AttributeKind::kOpaque:
      break;
  }
  return fmt::format("#{}{}", attribute.name, attribute.text);
}

}  // namespace hlosim::stablehlo
