#include "input/partial_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "base/text.h"

namespace hlosim {
namespace {

std::string bare_name(std::string_view text) {
  text = trimmed(text);
  return std::string(text.starts_with('%') ? text.substr(1) : text);
}

/// Where the bracket that opens at `open` closes; npos: nowhere. Strings are skipped.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    } else if (c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == ')' || c == '}' || c == ']') {
      if (--depth == 0) return i;
    }
  }
  return std::string_view::npos;
}

/// What is open behind lines that were taken one after the other.
class OpenBrackets {
 public:
  void take(std::string_view line) {
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (c == '"') in_string_ = !in_string_;
      if (in_string_) {
        i += c == '\\';
        continue;
      }
      depth_ += c == '(' || c == '{' || c == '[';
      depth_ -= c == ')' || c == '}' || c == ']';
    }
  }
  /// More open than close.
  bool any() const { return depth_ > 0; }
  bool any_or_string() const { return depth_ > 0 || in_string_; }

 private:
  int depth_ = 0;
  bool in_string_ = false;
};

/// The end of a type that begins at `at`: a tuple in parentheses, or up to the blank after its brackets.
size_t end_of_type(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '(') {
    const size_t end = closing(text, at);
    return end == std::string_view::npos ? end : end + 1;
  }
  while (at < text.size() && text[at] != ' ') {
    const char c = text[at];
    if (c == '[' || c == '{') {
      at = closing(text, at);
      if (at == std::string_view::npos) return at;
    }
    ++at;
  }
  return at < text.size() ? at : std::string_view::npos;
}

/// Parts between commas that stand in no bracket; comments go.
std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> found;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      if (!trimmed(text.substr(begin, i - begin)).empty())
        found.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (text[i] == '(' || text[i] == '{' || text[i] == '[' || text[i] == '"') {
      const size_t end = text[i] == '"' ? text.find('"', i + 1) : closing(text, i);
      if (end == std::string_view::npos) break;
      i = end;
    }
  }
  return found;
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find("/*", at);
    out += text.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const size_t close = text.find("*/", open + 2);
    if (close == std::string_view::npos) break;
    at = close + 2;
  }
  return out;
}

PartialOperand operand_of(std::string_view text) {
  const size_t end = end_of_type(text, 0);
  if (end != std::string_view::npos && !text.starts_with('%'))
    return {bare_name(text.substr(end)), std::string(text.substr(0, end))};
  const bool is_name =
      text.starts_with('%') || (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0])));
  return {is_name ? bare_name(text) : "", ""};
}

constexpr std::string_view kCalling[] = {"calls=",
                                         "to_apply=",
                                         "body=",
                                         "condition=",
                                         "branch_computations=",
                                         "called_computations=",
                                         "true_computation=",
                                         "false_computation=",
                                         "select=",
                                         "scatter="};

std::vector<std::string> called_by(std::string_view attributes) {
  std::vector<std::string> called;
  for (const std::string_view part : parts(attributes))
    for (const std::string_view key : kCalling) {
      if (!part.starts_with(key)) continue;
      std::string_view value = part.substr(key.size());
      if (value.find(" = ") != std::string_view::npos) continue;  // a computation that stands here
      if (value.starts_with('{') && value.size() > 1) value = value.substr(1, value.size() - 2);
      for (const std::string_view name : parts(value)) called.push_back(bare_name(name));
    }
  return called;
}

/// `%r = … reduce(%x, %zero), to_apply={`: the computation that is called begins here.
bool opens_computation(std::string_view line) {
  line = trimmed(line);
  return line.ends_with('{') && line.find(" = ") != std::string_view::npos &&
         std::ranges::any_of(
             kCalling, [&](std::string_view key) { return line.substr(0, line.size() - 1).ends_with(key); });
}

/// `add(%a, %b)`: the type is left out, as the operands' say it.
bool begins_with_opcode(std::string_view text) {
  const std::string_view word = text.substr(0, text.find('('));
  return !word.empty() && word.size() < text.size() && std::ranges::all_of(word, [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '-';
  });
}

/// "[ROOT ]%name = [type] opcode(operands)[, attributes]"; absent: not (yet) one.
std::optional<PartialInstruction> instruction_of(std::string_view text) {
  PartialInstruction made;
  text = trimmed(text);
  if (text.starts_with("ROOT ")) made.is_root = true, text = trimmed(text.substr(5));
  const size_t equals = text.find(" = ");
  if (equals == std::string_view::npos ||
      trimmed(text.substr(0, equals)).find_first_of(" ({") != std::string_view::npos)
    return std::nullopt;
  made.name = bare_name(text.substr(0, equals));
  const auto first = static_cast<unsigned char>(text[0]);  // that of a line cut before its end may be any
  if (std::isalpha(first) == 0 && first != '%' && first != '_') return std::nullopt;
  text = trimmed(text.substr(equals + 3));
  const size_t type = begins_with_opcode(text) ? 0 : end_of_type(text, 0);
  if (type == std::string_view::npos) return std::nullopt;
  made.type = text.substr(0, type);
  text = trimmed(text.substr(type));
  const size_t open = text.find('('), close = open == std::string_view::npos ? open : closing(text, open);
  if (close == std::string_view::npos) return std::nullopt;
  made.opcode = text.substr(0, open);
  made.inside = without_comments(text.substr(open + 1, close - open - 1));
  std::string_view rest = trimmed(text.substr(close + 1));
  if (!rest.empty() && rest[0] != ',') return std::nullopt;
  if (!rest.empty() && closing(fmt::format("({})", rest), 0) != rest.size() + 1) return std::nullopt;
  made.attributes = rest.empty() ? rest : trimmed(rest.substr(1));
  if (rest.ends_with(',')) return std::nullopt;
  if (!made.is_parameter() && made.opcode != "constant")
    for (const std::string_view part : parts(made.inside)) made.operands.push_back(operand_of(part));
  made.called = called_by(made.attributes);
  return made;
}

class LineParser {
 public:
  explicit LineParser(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out_.lines.push_back(text.substr(at, end - at));
      out_.offsets.push_back(at);
      at = end + 1;
    }
    out_.offsets.push_back(text.size());
  }

  PartialLines run() {
    for (size_t i = 0; i < out_.lines.size(); ++i) i = line(i);
    if (open_) finish({});
    return std::move(out_);
  }

 private:
  /// Takes line `i`, and those that belong to it; returns the last one taken.
  size_t line(size_t i) {
    const std::string_view text = trimmed(out_.lines[i]);
    if (text.empty() || text.starts_with("//") || text.starts_with('#')) return i;
    if (is_header(text)) {
      if (open_) finish({});
      out_.headers.push_back(i);
      return known(i, i);
    }
    if (text.starts_with('}')) {
      if (open_) known(i, i), finish(text.starts_with("},") ? text : "}");  // not `})";` of a test in C++
      return i;
    }
    if (text.ends_with('{') && text.find(" = ") == std::string_view::npos) return begin(i, text), known(i, i);
    if (is_name_alone(text) && i + 1 < out_.lines.size())
      if (const std::optional<size_t> end = end_of_signature(i + 1)) return begin(i, text), known(i, *end);
    return instruction(i);
  }

  /// `HloModule name[, …]`, and not a sentence about one.
  static bool is_header(std::string_view text) {
    if (!text.starts_with("HloModule ")) return false;
    text = trimmed(text.substr(10));
    return trimmed(text.substr(0, text.find(','))).find(' ') == std::string_view::npos;
  }

  /// `[ENTRY ]%name`, whose signature may stand on the next lines.
  static bool is_name_alone(std::string_view text) {
    if (text.starts_with("ENTRY ")) text = trimmed(text.substr(6));
    return text.find_first_of(" ={(,") == std::string_view::npos;
  }

  /// The line with the brace behind a signature that begins on line `i`, which is never before that of an
  /// earlier call.
  std::optional<size_t> end_of_signature(size_t i) {
    if (!trimmed(out_.lines[i]).starts_with('(')) return std::nullopt;
    const auto is_of_none = [](std::string_view line) {
      return line.empty() || line.find(" = ") != std::string_view::npos || line.starts_with("HloModule ");
    };
    for (signature_end_ = std::max(signature_end_, i); signature_end_ < out_.lines.size(); ++signature_end_) {
      const std::string_view line = trimmed(out_.lines[signature_end_]);
      if (is_of_none(line)) return std::nullopt;
      if (line.ends_with('{')) return signature_end_;
    }
    return std::nullopt;
  }

  /// These lines are HLO; returns the last of them.
  size_t known(size_t from, size_t to) {
    if (!out_.first) out_.first = from;
    out_.last = to;
    return to;
  }

  PartialComputation new_computation() const {
    PartialComputation made;
    if (!out_.headers.empty()) made.header = out_.headers.back();
    return made;
  }

  void begin(size_t i, std::string_view text) {
    if (open_) finish({});
    now_ = new_computation();
    now_.line = i;
    now_.is_entry = text.starts_with("ENTRY");
    if (now_.is_entry) text = trimmed(text.substr(5));
    now_.name = bare_name(text.substr(0, text.find_first_of(" ({")));
    open_ = true;
  }

  /// Line `brace` is the end of the computation, and not of a bracket in the instruction that begins on line
  /// `i`, whose lines stand no farther to the left than that.
  bool ends_computation(size_t brace, size_t i, const OpenBrackets& instruction) const {
    const auto indent = [&](size_t line) { return out_.lines[line].find_first_not_of(" \t"); };
    return trimmed(out_.lines[brace]) == "}" && (indent(brace) < indent(i) || !instruction.any());
  }

  /// Literals and the computations that are called may go over lines: what isn't an instruction yet takes the
  /// next line as well, up to `last`.
  std::optional<PartialInstruction> instruction_over_lines(size_t i, size_t& last) const {
    constexpr size_t kMostLines = 4096, kMostLinesOfComputation = 256;
    constexpr int kMostReadings = 64;  // of what is closed, and no instruction yet; each takes all of it
    std::string whole(out_.lines[i]);
    std::optional<PartialInstruction> made = instruction_of(whole);
    if (made || whole.find(" = ") == std::string::npos) return made;
    const bool calls = opens_computation(whole);
    const size_t most = calls ? kMostLinesOfComputation : kMostLines;
    OpenBrackets open;
    open.take(whole);
    for (int readings = 0; !made && last + 1 < out_.lines.size() && last - i < most &&
                           (calls || out_.lines[last + 1].find(" = ") == std::string_view::npos) &&
                           !ends_computation(last + 1, i, open);) {
      whole += '\n';
      whole += out_.lines[++last];
      open.take(out_.lines[last]);
      if (!open.any_or_string() && readings++ < kMostReadings) made = instruction_of(whole);
    }
    return made;
  }

  size_t instruction(size_t i) {
    size_t last = i;
    std::optional<PartialInstruction> made = instruction_over_lines(i, last);
    if (!made) {
      if (last + 1 == out_.lines.size()) {
        out_.cut_line = i;
        return last;
      }
      out_.others.push_back(i);
      return i;
    }
    if (!open_) {
      now_ = new_computation();
      now_.name = fmt::format("pieces.{}", i + 1), now_.line = i, now_.is_entry = now_.is_bare = true;
      open_ = true;
    }
    made->line = i;
    made->lines = last - i + 1;
    now_.instructions.push_back(std::move(*made));
    return known(i, last);
  }

  void finish(std::string_view closing) {
    now_.closing = closing;
    out_.computations.push_back(std::move(now_));
    open_ = false;
  }

  PartialLines out_;
  PartialComputation now_;
  bool open_ = false;
  size_t signature_end_ = 0;  // the next line that ends the search for a signature's end
};

/// The header of `module`, without what speaks of an entry that isn't there as it was.
std::string header_of(const PartialLines& lines, std::span<const PartialComputation> module) {
  if (!module.front().header) return "HloModule pieces";
  const std::string_view text = trimmed(lines.lines[*module.front().header]);
  const bool is_whole = std::ranges::any_of(module, [](const PartialComputation& computation) {
    return computation.is_entry && computation.is_whole && !computation.is_bare;
  });
  if (is_whole) return std::string(text);
  std::string out;
  for (const std::string_view part : parts(text))
    if (out.empty())
      out = part;
    else if (part.starts_with("is_scheduled=") || part.starts_with("num_partitions=") ||
             part.starts_with("replica_count="))
      out += fmt::format(", {}", part);
  return out;
}

std::string text_of(const PartialInstruction& instruction, int64_t& parameters) {
  std::string out =
      fmt::format("  {}%{} = {} ", instruction.is_root ? "ROOT " : "", instruction.name, instruction.type);
  if (instruction.becomes == PartialInstruction::kBecomesParameter)
    return out + fmt::format("parameter({})", parameters++);
  std::string operands;
  for (const PartialOperand& operand : instruction.operands)
    if (!operand.name.empty()) operands += fmt::format("{}%{}", operands.empty() ? "" : ", ", operand.name);
  std::string kept;
  for (const std::string_view part : parts(instruction.attributes))
    if (part.starts_with("metadata=")) kept = fmt::format(", {}", part);
  return out + fmt::format("custom-call({}), custom_call_target=\"missing\"{}", operands, kept);
}

/// Puts it into the lines where it was.
void add_computation(const PartialLines& lines, const PartialComputation& computation,
                     std::vector<std::string>& out) {
  int64_t parameters = 0;
  for (const PartialInstruction& one : computation.instructions)
    parameters += one.is_parameter() && one.becomes == PartialInstruction::kStays;
  std::string& first = out[computation.line];
  first += fmt::format("{}%{} {{", computation.is_entry ? "ENTRY " : "", computation.name);
  for (const AddedParameter& one : computation.added)
    first += fmt::format(" %{} = {} parameter({})", one.name, one.type, parameters++);
  size_t last = computation.line;
  for (const PartialInstruction& one : computation.instructions) {
    last = one.line + one.lines - 1;
    if (one.becomes != PartialInstruction::kStays) {
      out[one.line] += text_of(one, parameters);
      continue;
    }
    const std::string_view text = trimmed(lines.lines[one.line]);
    out[one.line] += fmt::format("  {}{}", one.is_root && !text.starts_with("ROOT ") ? "ROOT " : "", text);
    for (size_t i = 1; i < one.lines; ++i) out[one.line + i] = lines.lines[one.line + i];
  }
  out[last] += computation.added_root;
  out[last] += computation.closing.empty() ? " }" : " " + computation.closing;
}

}  // namespace

const std::string& PartialComputation::result_type() const {
  if (!added_root.empty()) return added_root_type;
  const auto found = std::ranges::find_if(instructions, &PartialInstruction::is_root);
  return found == instructions.end() ? instructions.back().type : found->type;
}

std::vector<std::pair<std::string, std::string>> PartialComputation::parameters() const {
  std::map<int64_t, std::pair<std::string, std::string>> by_number;
  int64_t next = 0;
  for (const PartialInstruction& instruction : instructions) {
    if (!instruction.is_parameter() || instruction.becomes != PartialInstruction::kStays) continue;
    int64_t number = 0;
    std::from_chars(instruction.inside.data(), instruction.inside.data() + instruction.inside.size(), number);
    by_number[number] = {instruction.name, instruction.type};
    next = std::max(next, number + 1);
  }
  for (const AddedParameter& one : added) by_number[next++] = {one.name, one.type};
  for (const PartialInstruction& instruction : instructions)
    if (instruction.becomes == PartialInstruction::kBecomesParameter)
      by_number[next++] = {instruction.name, instruction.type};
  std::vector<std::pair<std::string, std::string>> list;
  for (auto& [number, parameter] : by_number) list.push_back(std::move(parameter));
  return list;
}

bool PartialComputation::is_fused() const { return name.find("fused") != std::string::npos; }

bool PartialComputation::is_of_scalars() const {
  return std::ranges::all_of(instructions, [](const PartialInstruction& one) {
    return one.type.find("[]") != std::string::npos && !one.type.starts_with('(');
  });
}

bool PartialComputation::has_product() const {
  return std::ranges::any_of(instructions, [](const PartialInstruction& one) {
    return one.opcode == "dot" || one.opcode == "convolution";
  });
}

InstructionLines::InstructionLines(PartialLines& lines) {
  for (PartialComputation& computation : lines.computations)
    for (PartialInstruction& instruction : computation.instructions) sorted_.push_back(&instruction);
  std::ranges::stable_sort(sorted_, {}, &PartialInstruction::line);
}

PartialInstruction* InstructionLines::at(size_t line) const {
  const auto behind = std::ranges::upper_bound(sorted_, line, {}, &PartialInstruction::line);
  if (behind == sorted_.begin()) return nullptr;
  PartialInstruction* found =
      *std::ranges::lower_bound(sorted_, (*(behind - 1))->line, {}, &PartialInstruction::line);
  return line < found->line + found->lines ? found : nullptr;
}

bool PartialLines::is_scheduled(const PartialComputation& computation) const {
  return computation.header && lines[*computation.header].find("is_scheduled=true") != std::string_view::npos;
}

std::vector<std::span<PartialComputation>> PartialLines::modules() {
  std::vector<std::span<PartialComputation>> found;
  for (auto begin = computations.begin(); begin != computations.end();) {
    const auto end = std::find_if(begin, computations.end(), [&](const PartialComputation& computation) {
      return computation.header != begin->header;
    });
    found.emplace_back(begin, end);
    begin = end;
  }
  return found;
}

PartialLines parse_lines(std::string_view text) { return LineParser(text).run(); }

void blank_comments(std::string& text) {
  bool in_string = false;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\n') {
      in_string = false;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (in_string) {
      i += text[i] == '\\';
    } else if (text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*')) {
      const bool is_block = text[i + 1] == '*';
      const size_t end = std::min(text.find(is_block ? "*/" : "\n", i + 2), text.size());
      const size_t stop = is_block ? std::min(end + 2, text.size()) : end;
      for (; i < stop; ++i)
        if (text[i] != '\n') text[i] = ' ';
      --i;
    }
  }
}

std::string text_of(PartialLines& lines) {
  std::vector<std::string> out(lines.lines.size() + 1);
  // What isn't in a computation stands in no line: headers and braces are put where they were.
  for (const size_t line : lines.others) out[line] = lines.lines[line];
  std::string made_entry;
  for (const std::span<PartialComputation> module : lines.modules()) {
    const std::string header = header_of(lines, module);
    if (!module.front().header) {
      out[module.front().line] = header + " ";
    } else {
      // Without line ends, so that all lines stay where they were.
      std::ranges::replace(made_entry, '\n', ' ');
      if (!made_entry.empty()) out[*module.front().header - 1] += made_entry;
      out[*module.front().header] = header;
    }
    for (const PartialComputation& computation : module) add_computation(lines, computation, out);
    made_entry = module.back().made_entry;
  }
  std::string text;
  for (const std::string& line : out) text += line + "\n";
  return text + made_entry;
}

}  // namespace hlosim
