// Aliases, which may be used before they are defined, and resources, which stand at the end.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir/attribute_reader.h"
#include "mlir/dense_reader.h"

namespace hlosim::mlir {
namespace {

/// Aliases of aliases can stand for more than anybody can look through.
constexpr size_t kLargestExpansion = size_t{1} << 22;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

/// A definition is looked for where a line starts with one: nothing else starts a line so.
void AttributeReader::find_aliases() {
  const std::string_view text = in_.rest();
  for (size_t at = 0; at < text.size();) {
    size_t p = at;
    while (p < text.size() && is_blank(text[p])) ++p;
    if (p < text.size() && (text[p] == '#' || text[p] == '!')) {
      const size_t start = p++;
      while (p < text.size() && Scanner::continues_word(text[p])) ++p;
      const std::string_view name = text.substr(start, p - start);
      while (p < text.size() && is_blank(text[p])) ++p;
      if (p < text.size() && text[p] == '=') {
        Alias& found = aliases_.at(name);
        if (found.body == nullptr) found.body = text.data() + p + 1;
      }
    }
    at = text.find('\n', at);
    if (at == std::string_view::npos) break;
    ++at;
  }
}

const AttributeReader::Alias* AttributeReader::alias(std::string_view name, uint32_t offset) {
  Alias* found = aliases_.find(name);
  if (found == nullptr) return in_.fail_at(offset, fmt::format("{} isn't defined", shown(name))), nullptr;
  if (found->end == nullptr) {
    const Scanner::State here = in_.state();
    in_.move_to(found->body);
    if (!read_alias(*found, name)) return nullptr;
    in_.back_to(here);
  }
  expanded_ += found->size;
  return found;
}

/// What the alias stands for, at which the scanner is.
bool AttributeReader::read_alias(Alias& alias, std::string_view name) {
  if (alias.being_read) return in_.fail(fmt::format("{} is defined by itself", shown(name)));
  const Nesting nesting(in_);
  if (!nesting.entered()) return false;
  alias.being_read = true;
  const char* start = in_.position();
  const size_t outside = expanded_;
  expanded_ = 0;
  if (name[0] == '!') {
    alias.type = type();
  } else {
    alias.attribute = attribute();
  }
  alias.being_read = false;
  alias.end = in_.last_end();
  if (expanded_ > kLargestExpansion)
    return in_.fail_at(start,
                       fmt::format("{} expands to too much: aliases of aliases multiply", shown(name)));
  alias.size = static_cast<size_t>(alias.end - start) + expanded_;
  expanded_ = outside;
  return alias.type != nullptr || alias.attribute != nullptr;
}

bool AttributeReader::alias_definition() {
  const char* start = in_.position();
  const uint32_t offset = in_.offset();
  in_.move_to(start + 1);
  const std::string_view word = in_.word();
  const std::string_view name(start, word.size() + 1);
  if (word.empty()) return in_.expects("the name of an alias");
  if (word.find('.') != std::string_view::npos)
    return in_.fail_at(offset, fmt::format("the name of an alias has no '.': {}", shown(name)));
  if (!in_.need('=', "behind the name of an alias")) return false;
  Alias& alias = aliases_.at(name);
  if (alias.defined) return in_.fail_at(offset, fmt::format("{} is defined twice", shown(name)));
  alias.defined = true;
  if (alias.end != nullptr) {
    in_.move_to(alias.end);
    return true;
  }
  return read_alias(alias, name);
}

// ── resources ──

bool AttributeReader::resources() {
  if (!in_.need("{-#", "before resources")) return false;
  while (!in_.sees("#-}")) {
    const std::string_view section = in_.word();
    if (section.empty()) return in_.expects("a section of resources, or '#-}'");
    if (!in_.need(':', "behind the name of a section")) return false;
    if (!resource_group(section == "dialect_resources")) return false;
    if (!in_.eat(',')) break;
  }
  return in_.need("#-}", "at the end of the resources");
}

/// `{ dialect: { key: "0x…", … }, … }`; other sections are passed over.
bool AttributeReader::resource_group(bool kept) {
  std::string_view skipped;
  if (!kept) return in_.peek() == '{' ? in_.balanced(skipped) : in_.expects("'{'");
  if (!in_.need('{', "before the resources of dialects")) return false;
  while (in_.peek() != '}') {
    if (in_.word().empty()) return in_.expects("the name of a dialect");
    if (!in_.need(':', "behind the name of a dialect") || !in_.need('{', "before resources")) return false;
    while (in_.peek() != '}') {
      std::string_view key = in_.word(), hex;
      if (key.empty() && !in_.string(key, arena_, "the name of a resource")) return false;
      if (!in_.need(':', "behind the name of a resource")) return false;
      if (!in_.raw_string(hex, "the bytes of a resource")) return false;
      blobs_.at(key) = hex;
      if (!in_.eat(',')) break;
    }
    if (!in_.need('}', "at the end of the resources of a dialect")) return false;
    if (!in_.eat(',')) break;
  }
  return in_.need('}', "at the end of the resources");
}

bool AttributeReader::fill_resources() {
  for (const Resource& resource : resources_)
    if (const std::string_view* hex = blobs_.find(resource.key))
      if (!fill_resource(resource, *hex)) return false;
  return true;
}

bool AttributeReader::fill_resource(const Resource& resource, std::string_view hex) {
  constexpr size_t kPrefix = 2, kAlignment = 8;  // "0x", and the digits of the alignment
  const uint32_t offset = resource.attribute->offset;
  if (!hex.starts_with("0x") || hex.size() < kPrefix + kAlignment)
    return in_.fail_at(offset, fmt::format("resource {} has no alignment in its bytes", shown(resource.key)));
  const Type& type = *resource.attribute->type;
  if (type.kind != TypeKind::kTensor && type.kind != TypeKind::kVector)
    return in_.fail_at(offset, "a resource is of a tensor or a vector");
  DenseReader reader(in_, arena_);
  return reader.read_hex(type, hex.substr(kPrefix + kAlignment), offset, resource.attribute->elements);
}

}  // namespace hlosim::mlir
