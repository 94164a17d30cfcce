#include "base/value.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace hlosim {

const Value* Value::find(std::string_view item_key) const {
  if (!is_map()) return nullptr;
  for (const Value& item : items)
    if (item.key == item_key) return &item;
  return nullptr;
}

Value* Value::find(std::string_view item_key) {
  return const_cast<Value*>(std::as_const(*this).find(item_key));
}

std::string described(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "nothing";
    case Value::Kind::kScalar:
      return fmt::format("\"{}\"", shown(value.text));
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kMap:
      return "a section";
  }
  return "a value";
}

Diagnostic error_at(const SourcePtr& source, uint32_t offset, std::string message, std::string hint) {
  return {Severity::kError, std::move(message), std::move(hint), source, offset};
}
Diagnostic error_at(const Value& value, std::string message, std::string hint) {
  return error_at(value.source, value.offset, std::move(message), std::move(hint));
}
Diagnostic error_at_key(const Value& value, std::string message, std::string hint) {
  return error_at(value.source, value.key_offset, std::move(message), std::move(hint));
}

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace hlosim
