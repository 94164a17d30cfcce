#include "hlo/finding.h"

#include <fmt/format.h>

namespace hlosim {

Diagnostic error_at(const Module& module, const Instruction& instruction, std::string_view message) {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("{}: {}", to_text(instruction.opcode), message);
  diagnostic.source = module.source;
  diagnostic.offset = instruction.opcode_offset;
  return diagnostic;
}

}  // namespace hlosim
