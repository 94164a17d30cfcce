#include "hlo/reader.h"

#include <algorithm>

#include "hlo/module_reader.h"

namespace hlosim {
namespace {

struct Piece {
  size_t begin = 0, end = 0;
};

/// The parts of a text between lines that are exactly `// -----`.
std::vector<Piece> split_pieces(std::string_view text) {
  constexpr std::string_view kSeparator = "// -----";
  std::vector<Piece> pieces;
  size_t begin = 0;
  for (size_t at = text.find(kSeparator); at != std::string_view::npos; at = text.find(kSeparator, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    size_t end = at + kSeparator.size();
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
    if (end < text.size() && text[end] != '\n') continue;
    pieces.push_back({begin, at});
    begin = end;
  }
  pieces.push_back({begin, text.size()});
  return pieces;
}

/// Texts of other kinds that people hand us; empty for everything else.
std::string foreign_kind(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  const std::string_view head = text.substr(start);
  if (head.starts_with("BufferAssignment:")) return "a buffer-assignment dump";
  if (head.starts_with("HloLiveRange")) return "a live-range dump";
  if (head.starts_with("hlo_module {") || head.starts_with("hlo_module{") ||
      head.starts_with("# proto-file:"))
    return "a text proto of an HLO module";
  if (head.starts_with("module @") || head.starts_with("module {") || head.starts_with("module attributes") ||
      head.starts_with("func.func"))
    return "an MLIR module (StableHLO or MHLO)";
  const size_t looked_at = std::min<size_t>(head.size(), 4096);
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f';
  };
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return "text in UTF-16";
  if (head[0] == '\x1f' && head.size() > 1 && head[1] == '\x8b') return "a gzip archive";
  if (std::count_if(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(looked_at), is_control) > 8)
    return "a binary file";
  return {};
}

}  // namespace

std::vector<Module> read_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& diagnostics,
                                 const Limits& limits) {
  std::vector<Module> modules;
  const auto complain = [&](size_t offset, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostic.source = source;
    diagnostic.offset = static_cast<uint32_t>(offset);
    diagnostics.add(std::move(diagnostic));
  };
  if (const std::string kind = foreign_kind(source->text()); !kind.empty()) {
    complain(0, "this is " + kind + ", not HLO text",
             kind.ends_with("UTF-16") ? "write it in UTF-8" : "HLO text starts with `HloModule name`");
    return modules;
  }
  if (const size_t nul = source->text().find('\0'); nul != std::string_view::npos) {
    complain(nul, "the text contains a NUL byte", "HLO text has none: the file may be damaged or binary");
    return modules;
  }
  const AttrIndex attrs(table);
  bool any = false;
  for (const Piece& piece : split_pieces(source->text())) {
    size_t at = piece.begin;
    for (;;) {
      Cursor look(source->text(), at, piece.end);
      if (look.at_end() && !look.failed()) break;
      any = true;
      ModuleReader reader(source, at, piece.end, table, attrs, diagnostics, limits);
      const bool ok = reader.read();
      at = reader.offset();
      if (ok) modules.push_back(reader.take());
      if (!ok || diagnostics.full()) {
        // Go on with the next module, if one starts on a line of its own.
        const size_t next = source->text().substr(0, piece.end).find("\nHloModule ", at);
        if (next == std::string_view::npos || diagnostics.full()) break;
        at = next + 1;
      }
    }
    if (diagnostics.full()) break;
  }
  if (!any) complain(0, "no HLO module in the input", "HLO text starts with `HloModule name`");
  return modules;
}

}  // namespace hlosim
