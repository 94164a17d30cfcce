#include "sharding/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hlo/module_editor.h"

namespace hlosim {
namespace {

tl::unexpected<Diagnostic> fail_in(std::string_view text, const std::string& name, size_t at,
                                   std::string message, std::string hint = {}) {
  Diagnostic problem{Severity::kError, std::move(message), std::move(hint), nullptr,
                     static_cast<uint32_t>(at)};
  problem.source = std::make_shared<SourceFile>(name, std::string(text));
  return tl::unexpected(std::move(problem));
}

/// The `op_name` of an instruction's metadata; empty: none.
std::string op_name(const Instruction& instruction) {
  const Attr* metadata = instruction.find(AttrKey::kMetadata);
  const std::string_view text = metadata ? metadata->text() : std::string_view();
  constexpr std::string_view kKey = "op_name=\"";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return {};
  std::string name;  // params[\'kernel\'] is params['kernel']
  for (size_t i = at + kKey.size(); i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    name += text[i];
  }
  return name;
}

struct Leaf {
  ShapeRef shape;
  std::string path;  // ".0.1" behind the parameter's name
};

void add_leaves(ShapeRef shape, const std::string& path, std::vector<Leaf>& leaves) {
  if (!shape->is_tuple()) {
    leaves.push_back({shape, path});
    return;
  }
  for (size_t i = 0; i < shape->elements.size(); ++i)
    add_leaves(shape->elements[i], fmt::format("{}.{}", path, i), leaves);
}

/// One text per leaf of what an instruction states; empty ones where it states nothing.
std::vector<std::string> stated_leaves(const Instruction& instruction, size_t leaves) {
  std::vector<std::string> texts(leaves);
  const Attr* attr = instruction.find(AttrKey::kSharding);
  if (!attr) return texts;
  const std::string_view text = attr->text();
  if (!text.starts_with("{{")) return std::vector<std::string>(leaves, std::string(text));
  size_t begin = 0, leaf = 0;
  int depth = 0;
  for (size_t i = 1; i + 1 < text.size() && leaf < leaves; ++i) {
    if (text[i] == '{' && depth++ == 0) begin = i;
    if (text[i] == '}' && --depth == 0) texts[leaf++] = std::string(text.substr(begin, i + 1 - begin));
  }
  return texts;
}

class Stating {
 public:
  Stating(Module& module, const Mesh& mesh, const std::vector<ShardStatement>& statements)
      : module_(module),
        mesh_(mesh),
        statements_(statements),
        used_(statements.size(), false),
        editor_(module) {}

  Result<void> run() {
    for (const InstructionId id : module_.entry_computation().parameters)
      if (Result<void> done = state(id); !done) return done;
    return {};
  }
  std::vector<size_t> unused() const {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < used_.size(); ++i)
      if (!used_[i]) numbers.push_back(i);
    return numbers;
  }

 private:
  Result<void> state(InstructionId id) {
    const Instruction& parameter = module_[id];
    const std::string argument = op_name(parameter);
    std::vector<Leaf> leaves;
    add_leaves(parameter.shape, "", leaves);
    std::vector<std::string> texts = stated_leaves(parameter, leaves.size());
    bool any = false;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const ShardStatement* found = nullptr;
      for (size_t s = 0; s < statements_.size(); ++s) {
        const bool matches =
            statements_[s].names.matches(fmt::format("{}{}", parameter.name, leaves[i].path)) ||
            (!argument.empty() &&
             statements_[s].names.matches(fmt::format("{}{}", argument, leaves[i].path)));
        if (!matches) continue;
        used_[s] = true;
        found = &statements_[s];
      }
      if (!found) continue;
      if (Result<void> fits = check(parameter, leaves[i], *found); !fits) return fits;
      texts[i] = sharding_text(mesh_, found->sharding);
      any = true;
    }
    if (any) write(id, texts);
    return {};
  }

  void write(InstructionId id, std::vector<std::string>& texts) {
    for (std::string& text : texts)
      if (text.empty()) text = "{unknown}";
    const std::string all =
        module_[id].shape->is_tuple() ? fmt::format("{{{}}}", fmt::join(texts, ", ")) : texts[0];
    editor_.set_attr(id, Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding,
                                         module_.arena().copy(std::string_view(all))));
  }

  Result<void> check(const Instruction& parameter, const Leaf& leaf, const ShardStatement& statement) const {
    const auto place = [&](std::string message) -> Result<void> {
      Diagnostic problem;
      problem.message = std::move(message);
      problem.hint = fmt::format("stated by --shard '{}'", statement.text);
      problem.source = module_.source;
      problem.offset = parameter.offset;
      return tl::unexpected(std::move(problem));
    };
    const std::vector<std::vector<AxisPart>>& dimensions = statement.sharding.dimensions;
    const std::string array =
        fmt::format("{}{} is {}", parameter.name, leaf.path, to_text_without_layout(leaf.shape));
    if (static_cast<int64_t>(dimensions.size()) != leaf.shape->rank())
      return place(
          fmt::format("{}, which has {} dimensions, not {}", array, leaf.shape->rank(), dimensions.size()));
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const int64_t size = leaf.shape->dim(static_cast<int64_t>(i)), tiles = statement.sharding.tiles(i);
      if (tiles > size)
        return place(
            fmt::format("{}: {} shards of dimension {}, which has {} elements", array, tiles, i, size));
    }
    return {};
  }

  Module& module_;
  const Mesh& mesh_;
  const std::vector<ShardStatement>& statements_;
  std::vector<bool> used_;
  ModuleEditor editor_;
};

}  // namespace

Result<ShardStatement> parse_statement(std::string_view text, const Mesh& mesh, std::string name) {
  const size_t divides = text.rfind("=[");
  if (divides == std::string_view::npos)
    return fail_in(text, name, text.size(), "expects =[axes] behind the names of parameters",
                   "as in --shard 'params.*kernel=[data,model]'");
  Result<Pattern> names = Pattern::parse(std::string(text.substr(0, divides)));
  if (!names) return fail_in(text, name, 0, names.error().message, names.error().hint);
  Result<AxisSharding> sharding = parse_axes(text.substr(divides + 1), mesh, name);
  if (!sharding)
    return fail_in(text, name, divides + 1 + sharding.error().offset, sharding.error().message,
                   sharding.error().hint);
  return ShardStatement{std::string(text), std::move(*names), std::move(*sharding)};
}

Result<Stated> state_shardings(const Module& module, const Mesh& mesh,
                               const std::vector<ShardStatement>& statements) {
  Stated stated{module.copy(), {}};
  Stating stating(stated.module, mesh, statements);
  if (Result<void> done = stating.run(); !done) return tl::unexpected(done.error());
  stated.unused = stating.unused();
  return stated;
}

}  // namespace hlosim
