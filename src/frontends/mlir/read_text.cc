#include "mlir/read_text.h"

#include <algorithm>

#include "mlir/attribute_reader.h"
#include "mlir/operation_reader.h"

namespace hlosim::mlir {
namespace {

constexpr std::string_view kSeparator = "// -----";

struct Piece {
  size_t begin = 0, end = 0;
};

bool starts_line(std::string_view text, size_t at) { return at == 0 || text[at - 1] == '\n'; }

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces = {{0, text.size()}};
  for (size_t at = text.find(kSeparator); at != std::string_view::npos; at = text.find(kSeparator, at + 1)) {
    if (!starts_line(text, at)) continue;
    pieces.back().end = at;
    pieces.push_back({at, text.size()});
  }
  return pieces;
}

/// Reads one piece into its File.
class PieceReader {
 public:
  PieceReader(std::string_view text, Piece piece, File& file)
      : in_(text, piece.begin, piece.end),
        file_(file),
        attributes_(in_, file.arena),
        operations_(in_, attributes_, file.arena) {}

  bool read() {
    attributes_.find_aliases();
    std::vector<const Operation*> operations;
    while (!in_.at_end()) {
      const char c = in_.peek();
      const bool read = c == '#' || c == '!' ? attributes_.alias_definition()
                        : in_.sees("{-#")    ? attributes_.resources()
                                             : operations_.operation(operations);
      if (!read) return false;
    }
    if (in_.failed() || !attributes_.fill_resources()) return false;
    file_.top = operations.size() == 1 && operations[0]->name == "builtin.module"
                    ? operations[0]
                    : implied_module(operations);
    return true;
  }
  bool is_blank() const { return in_.at_end(); }
  const Failure& failure() const { return in_.failure(); }

 private:
  const Operation* implied_module(const std::vector<const Operation*>& operations) {
    Block* block = file_.arena.make<Block>();
    block->operations = file_.arena.copy(operations);
    const Block* blocks[] = {block};
    const Region region = {file_.arena.copy(std::span<const Block* const>(blocks))};
    Operation* module = operations_.make_operation("builtin.module", 0, {}, {});
    module->regions = file_.arena.copy(std::span<const Region>(&region, 1));
    if (!operations.empty()) module->offset = operations[0]->offset;
    return module;
  }

  Scanner in_;
  File& file_;
  AttributeReader attributes_;
  OperationReader operations_;
};

/// What stands alone in `text` and is read to its end.
template <class T>
Result<const T*> read_alone(std::string_view text, Arena& arena, const T* (AttributeReader::*read)()) {
  Scanner in(text, 0, text.size());
  AttributeReader reader(in, arena);
  const T* made = (reader.*read)();
  if (made != nullptr && !in.at_end()) in.expects("the end of the text");
  if (in.failed()) return failure(in.failure().message, in.failure().hint);
  return made;
}

/// `func @main`, `ml_program.global private @w`: HLO text has no '@', but words before it may.
bool begins_with_symbol(Scanner& in) {
  const std::string_view word = in.word();
  if (word != "func" && word.find('.') == std::string_view::npos) return false;
  for (const std::string_view visibility : {"public", "private", "nested"})
    if (in.eat_word(visibility)) break;
  return in.peek() == '@';
}

}  // namespace

bool is_mlir_text(std::string_view content) {
  Scanner in(content, 0, content.size());
  if (in.sees("{-#")) return true;
  for (const std::string_view name : {"\"builtin.module\"", "\"func.func\""})
    if (in.sees(name)) return true;
  for (const std::string_view word : {"module", "builtin.module", "func.func", "sdy.mesh"})
    if (in.sees_word(word)) return true;
  if (in.peek() != '#' && in.peek() != '!') return begins_with_symbol(in);
  in.move_to(in.position() + 1);
  return !in.word().empty() && in.peek() == '=';
}

std::vector<File> read_text(const SourcePtr& source, DiagnosticList& findings) {
  const std::string_view text = source->text();
  const std::vector<Piece> pieces = pieces_of(text);
  std::vector<File> files;
  for (const Piece& piece : pieces) {
    File file;
    file.source = source;
    PieceReader reader(text, piece, file);
    if (pieces.size() > 1 && reader.is_blank()) continue;
    if (reader.read()) {
      files.push_back(std::move(file));
    } else {
      findings.add({Severity::kError, reader.failure().message, reader.failure().hint, source,
                    reader.failure().offset});
    }
  }
  return files;
}

Result<const Attribute*> read_attribute(std::string_view text, Arena& arena) {
  return read_alone(text, arena, &AttributeReader::attribute);
}

Result<const Type*> read_type(std::string_view text, Arena& arena) {
  return read_alone(text, arena, &AttributeReader::type);
}

}  // namespace hlosim::mlir
