#include "dumps/hlo_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "dumps/packed.h"

namespace hlosim {
namespace {

/// Binary protos have lengths and field numbers among their first bytes, which no text has.
bool is_proto(std::string_view bytes) {
  if (bytes.empty() || (bytes[0] != 0x0a && bytes[0] != 0x12 && bytes[0] != 0x1a)) return false;
  const std::string_view front = bytes.substr(0, 4096);
  return std::any_of(front.begin(), front.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
}

Result<SourcePtr> checked(SourcePtr source) {
  if (!is_proto(source->text())) return source;
  return failure(fmt::format("cannot read '{}': it is a binary proto", source->name()),
                 "text is read: --xla_dump_hlo_as_text writes it");
}

}  // namespace

Result<SourcePtr> as_text(SourcePtr source) {
  if (is_packed(source->text())) {
    Result<std::string> text = unpacked(source->text(), source->name());
    if (!text) return tl::unexpected(text.error());
    return checked(std::make_shared<const SourceFile>(source->name(), std::move(*text)));
  }
  const std::string_view name = source->name();
  const std::string_view plain = without_packing(name);
  if (plain.size() != name.size())
    return failure(fmt::format("cannot unpack '{}': it is no {} data", name, name.ends_with(".gz") ? "gzip" : "Zstandard"));
  return checked(std::move(source));
}

Result<SourcePtr> read_text_source(const std::string& path) {
  Result<SourcePtr> source = read_source(path);
  return source ? as_text(std::move(*source)) : source;
}

}  // namespace hlosim
