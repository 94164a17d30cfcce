#include <algorithm>
#include <functional>
#include <map>

#include "measured/comparison.h"
#include "study/diff.h"

namespace hlosim {
namespace {

/// "f32[8,128]" of "f32[8,128]{1,0:T(8,128)}".
std::string without_layouts(std::string_view shape) {
  std::string out;
  int depth = 0;
  for (const char c : shape) {
    if (c == '{') ++depth;
    if (depth == 0 && c != ' ') out += c;
    if (c == '}') --depth;
  }
  return out;
}

/// "jit(f)/add" of "jit(f)/add:" or "jit(f)/add:Add": the profiler adds the type of the framework's
/// operation.
std::string without_type(std::string_view op_name) {
  const size_t colon = op_name.rfind(':');
  const bool has_type = colon != std::string_view::npos && op_name.find('/', colon) == std::string_view::npos;
  return std::string(op_name.substr(0, has_type ? colon : op_name.size()));
}

/// In texts the parts of an asynchronous chain may be called by what they wrap: "all-reduce-done" of
/// async-done.
bool same_opcode(std::string_view text, std::string_view opcode) {
  constexpr std::string_view kWrapped = "async";
  return text == opcode || (opcode.starts_with(kWrapped) && text.ends_with(opcode.substr(kWrapped.size())));
}

bool may_be(const ProfiledOperation& measured, const SimulatedOperation& simulated) {
  if (measured.name != simulated.name || measured.beside != simulated.beside) return false;
  if (!measured.core.empty()) return false;  // a part of what was begun, which is compared as a whole
  const OperationText text = parse_operation(measured.text);
  if (text.opcode.empty() || measured.beside) return true;
  return same_opcode(text.opcode, simulated.opcode) &&
         without_layouts(text.shape) == without_layouts(simulated.shape);
}

/// Of what an operation's text says besides names: shapes, opcode, attributes in any order; 0: nothing.
uint64_t fingerprint_of(std::string_view text) {
  const size_t begin = text.find(" = ");
  if (begin == std::string_view::npos) return 0;
  std::string plain;
  for (size_t at = begin + 3; at < text.size();) {
    const size_t name = std::min(text.find('%', at), text.size());
    plain += text.substr(at, name - at);
    at = std::min(text.find_first_of(" ,)}", name), text.size());
  }
  uint64_t hash = 1;  // a sum of the parts' own: attributes have no order
  for (size_t at = 0; at <= plain.size();) {
    const size_t end = std::min(plain.find(", ", at), plain.size());
    hash += std::hash<std::string_view>{}(std::string_view(plain).substr(at, end - at));
    at = end + 2;
  }
  return hash;
}

InstructionMetrics row_of(std::string name, std::string_view opcode, std::string_view shape,
                          std::string op_name, int64_t flops, std::string_view text) {
  InstructionMetrics row;
  row.name = std::move(name);
  row.opcode = std::string(opcode);
  row.shape = std::string(shape);
  row.op_name = std::move(op_name);
  row.amounts = {flops};
  row.own = fingerprint_of(text);
  return row;
}

Metrics empty_figures() {
  Metrics figures;
  figures.metrics = {{"flops", MetricUnit::kCount}};
  figures.totals = {0};
  return figures;
}

/// What names leave over goes by what `hlosim diff` matches renamed instructions by. Names are made
/// different: where they are the same, opcode or shape was not.
void match_renamed(const ProfiledProgram& program, const std::vector<SimulatedOperation>& simulated,
                   std::vector<int>& match, std::vector<bool>& taken) {
  Metrics before = empty_figures(), after = empty_figures();
  std::vector<size_t> measured_rows;
  std::vector<int> simulated_rows;
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const ProfiledOperation& one = program.operations[i];
    const OperationText text = parse_operation(one.text);
    if (match[i] >= 0 || one.beside || text.opcode.empty()) continue;
    measured_rows.push_back(i);
    before.instructions.push_back(row_of("measured " + one.name, text.opcode, text.shape,
                                         without_type(one.op_name), one.flops.value_or(0), one.text));
  }
  for (size_t i = 0; i < simulated.size(); ++i) {
    if (taken[i] || simulated[i].beside) continue;
    simulated_rows.push_back(static_cast<int>(i));
    after.instructions.push_back(row_of("simulated " + simulated[i].name, simulated[i].opcode,
                                        simulated[i].shape, simulated[i].op_name,
                                        simulated[i].flops.value_or(0), simulated[i].text));
  }
  const std::vector<int> found = match_instructions(before, after);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] < 0) continue;
    const int at = simulated_rows[static_cast<size_t>(found[i])];
    // A place alone, without the opcode, is no reason here: the profile may be of another program.
    if (before.instructions[i].opcode != after.instructions[static_cast<size_t>(found[i])].opcode) continue;
    match[measured_rows[i]] = at;
    taken[static_cast<size_t>(at)] = true;
  }
}

}  // namespace

OperationText parse_operation(std::string_view text) {
  size_t at = text.find(" = ");
  if (!text.starts_with('%') || at == std::string_view::npos) return {};
  at += 3;
  const size_t shape = at;
  int depth = 0;
  for (; at < text.size() && (depth > 0 || text[at] != ' '); ++at) {
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == '}' || text[at] == ']') --depth;
  }
  const size_t end = text.find('(', at);
  if (at >= text.size() || end == std::string_view::npos) return {};
  return {text.substr(at + 1, end - at - 1), text.substr(shape, at - shape)};
}

std::vector<int> match_operations(const ProfiledProgram& program,
                                  const std::vector<SimulatedOperation>& simulated) {
  std::vector<int> match(program.operations.size(), -1);
  std::vector<bool> taken(simulated.size());
  std::multimap<std::string_view, size_t> by_name;
  for (size_t i = 0; i < simulated.size(); ++i) by_name.emplace(simulated[i].name, i);
  for (size_t i = 0; i < match.size(); ++i) {
    const auto [begin, end] = by_name.equal_range(program.operations[i].name);
    for (auto at = begin; at != end && match[i] < 0; ++at) {
      if (taken[at->second] || !may_be(program.operations[i], simulated[at->second])) continue;
      match[i] = static_cast<int>(at->second);
      taken[at->second] = true;
    }
  }
  match_renamed(program, simulated, match, taken);
  // A transfer goes where its start went.
  std::map<std::string_view, std::string_view> renamed;
  for (size_t i = 0; i < match.size(); ++i)
    if (match[i] >= 0) renamed[program.operations[i].name] = simulated[static_cast<size_t>(match[i])].name;
  for (size_t i = 0; i < match.size(); ++i) {
    const auto start = renamed.find(program.operations[i].name);
    const ProfiledOperation& one = program.operations[i];
    if (match[i] >= 0 || !one.beside || !one.core.empty() || start == renamed.end()) continue;
    const auto [begin, end] = by_name.equal_range(start->second);
    for (auto at = begin; at != end && match[i] < 0; ++at) {
      if (taken[at->second] || !simulated[at->second].beside) continue;
      match[i] = static_cast<int>(at->second);
      taken[at->second] = true;
    }
  }
  return match;
}

}  // namespace hlosim
