#include <algorithm>
#include <unordered_map>

#include "hlo/printer.h"
#include "hlo/reader.h"
#include "report/html/html_data.h"
#include "report/source_place.h"

namespace hlosim {
namespace {

constexpr std::string_view kTitle = "\nHloModule";

/// The part of a file with one module of several in it.
std::string_view part_of_file(std::string_view file, const Module& module) {
  size_t first = file.size(), last = 0;
  for (const Instruction& instruction : module.instructions) {
    first = std::min<size_t>(first, instruction.offset);
    last = std::max<size_t>(last, instruction.offset);
  }
  if (first >= file.size()) return file;
  // A module goes from its title to the next one; what stands before the first title belongs to the first.
  const size_t title = file.rfind(kTitle, first);
  const size_t begin = title == std::string_view::npos ? 0 : title + 1;
  const size_t next = file.find(kTitle, last);
  const size_t end = next == std::string_view::npos ? file.size() : next;
  return file.substr(begin, end - begin);
}

/// Lines by computation and name of the instruction.
std::unordered_map<std::string, int64_t> lines_by_name(const SourcePtr& source, const OpTable& table) {
  std::unordered_map<std::string, int64_t> lines;
  DiagnosticList ignored;
  const std::string_view text = source->text();
  for (const Module& module : read_modules(source, table, ignored)) {
    std::vector<const Instruction*> by_place;
    for (const Instruction& instruction : module.instructions) by_place.push_back(&instruction);
    std::sort(by_place.begin(), by_place.end(),
              [](const Instruction* a, const Instruction* b) { return a->offset < b->offset; });
    int64_t line = 1;
    size_t at = 0;
    for (const Instruction* instruction : by_place) {
      line += std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                         text.begin() + static_cast<std::ptrdiff_t>(instruction->offset), '\n');
      at = instruction->offset;
      std::string key(module[instruction->parent].name);
      lines[(key += '\n') += instruction->name] = line;
    }
  }
  return lines;
}

}  // namespace

ModuleText module_text(const OpTable& table, const Report& report) {
  ModuleText out;
  const Module& module = *report.module;
  if (!report.is_lowered && module.source && has_lines(*module.source)) {
    const std::string_view file = module.source->text();
    const std::string_view part = part_of_file(file, module);
    out.text = std::string(part);
    out.first_line = 1 + std::count(file.data(), part.data(), '\n');
    for (const ReportInstruction& row : report.instructions) out.lines.push_back(row.line);
    return out;
  }
  out.is_lowered = report.is_lowered;
  out.text = to_text(module, table);
  const auto lines = lines_by_name(std::make_shared<const SourceFile>("", out.text), table);
  for (const ReportInstruction& row : report.instructions) {
    std::string key(row.computation_name);
    const auto found = lines.find((key += '\n') += row.name);
    out.lines.push_back(found == lines.end() ? 0 : found->second);
  }
  return out;
}

}  // namespace hlosim
