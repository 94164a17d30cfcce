#include "module_text.h"

#include <algorithm>

#include "tokens.h"

namespace hlosim::fuzz {
namespace {

std::vector<std::string> strings(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += (text.empty() ? "" : ", ") + piece;
  return text;
}

/// How long the bracket is that `text` begins with, its end included.
size_t bracket_length(std::string_view text) {
  int depth = 0;
  size_t at = 0;
  for (const Token& token : tokens_of(text)) {
    at += token.before.size() + token.text.size();
    if (token.kind != TokenKind::kMark || token.text.empty()) continue;
    const char mark = token.text[0];
    if (mark == '(' || mark == '{' || mark == '[') ++depth;
    if (mark == ')' || mark == '}' || mark == ']') --depth;
    if (depth <= 0) return at;
  }
  return text.size();
}

/// The line that opens a computation; false: another one.
bool open_computation(std::string_view line, ComputationText& computation) {
  if (!line.ends_with("{")) return false;
  line = trimmed(line.substr(0, line.size() - 1));
  computation.is_entry = line.starts_with("ENTRY ");
  if (computation.is_entry) line = trimmed(line.substr(6));
  if (!line.starts_with("%")) return false;
  computation.name = line.substr(0, line.find(' '));
  return true;
}

}  // namespace

std::string_view InstructionText::key_of(std::string_view attribute) {
  return attribute.substr(0, attribute.find('='));
}

const InstructionText* ComputationText::find(std::string_view instruction) const {
  for (const InstructionText& one : instructions)
    if (one.name == instruction) return &one;
  return nullptr;
}

size_t ComputationText::root() const {
  const auto found = std::find_if(instructions.begin(), instructions.end(),
                                  [](const InstructionText& one) { return one.is_root; });
  return static_cast<size_t>(found - instructions.begin());
}

const ComputationText* ModuleText::find(std::string_view computation) const {
  for (const ComputationText& one : computations)
    if (one.name == computation) return &one;
  return nullptr;
}

void ModuleText::drop_attribute(std::string_view key) {
  std::erase_if(attributes, [&](const std::string& one) { return InstructionText::key_of(one) == key; });
}

std::optional<InstructionText> parse_instruction_text(std::string_view line) {
  InstructionText result;
  line = trimmed(line);
  if (line.starts_with("ROOT ")) {
    result.is_root = true;
    line = trimmed(line.substr(5));
  }
  const size_t equals = line.find(" = ");
  if (!line.starts_with("%") || equals == std::string_view::npos) return std::nullopt;
  result.name = line.substr(0, equals);
  line = line.substr(equals + 3);
  const size_t shape = line.starts_with("(") ? bracket_length(line) : line.find(' ');
  if (shape >= line.size()) return std::nullopt;
  result.shape = line.substr(0, shape);
  line = trimmed(line.substr(shape));
  const size_t open = line.find('(');
  if (open == std::string_view::npos) return std::nullopt;
  result.opcode = line.substr(0, open);
  line = line.substr(open);
  const size_t length = bracket_length(line);
  if (length < 2) return std::nullopt;
  result.operands = strings(split(line.substr(1, length - 2)));
  line = trimmed(line.substr(length));
  if (line.starts_with(",")) result.attributes = strings(split(line.substr(1)));
  return result;
}

std::optional<ModuleText> parse_module_text(std::string_view text) {
  ModuleText result;
  std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty() || !lines[0].starts_with("HloModule ")) return std::nullopt;
  result.attributes = strings(split(lines[0]));
  result.name = result.attributes.front();
  result.attributes.erase(result.attributes.begin());
  bool is_open = false;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = trimmed(lines[i]);
    ComputationText computation;
    if (is_open && line.starts_with("}")) {
      result.computations.back().tail = line.substr(1);
      is_open = false;
    } else if (is_open) {
      std::optional<InstructionText> one = parse_instruction_text(line);
      if (!one) return std::nullopt;
      result.computations.back().instructions.push_back(std::move(*one));
    } else if (open_computation(line, computation)) {
      result.computations.push_back(std::move(computation));
      is_open = true;
    } else if (!line.empty()) {
      if (!result.computations.empty()) return std::nullopt;
      result.tables += std::string(line) + "\n";
    }
  }
  if (is_open || result.computations.empty()) return std::nullopt;
  return result;
}

std::string to_text(const InstructionText& instruction) {
  std::string text = instruction.is_root ? "ROOT " : "";
  text += instruction.name + " = " + instruction.shape + " " + instruction.opcode + "(" +
          joined(instruction.operands) + ")";
  for (const std::string& attribute : instruction.attributes) text += ", " + attribute;
  return text;
}

std::string to_text(const ModuleText& module) {
  std::string text = module.name;
  for (const std::string& attribute : module.attributes) text += ", " + attribute;
  text += "\n";
  if (!module.tables.empty()) text += "\n" + module.tables;
  for (const ComputationText& computation : module.computations) {
    text += computation.is_entry ? "\nENTRY " : "\n";
    text += computation.name + " {\n";
    for (const InstructionText& instruction : computation.instructions)
      text += "  " + to_text(instruction) + "\n";
    text += "}" + computation.tail + "\n";
  }
  return text;
}

}  // namespace hlosim::fuzz
