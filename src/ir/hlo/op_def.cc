#include "hlo/op_def.h"

namespace hlosim {

void OpContext::report(Severity severity, int constraint, std::string message) {
  failed_ = true;
  if (!sink_) return;
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.message = constraint > 0
                           ? fmt::format("{} C{}: {}", to_text(instruction_.opcode), constraint, message)
                           : fmt::format("{}: {}", to_text(instruction_.opcode), message);
  diagnostic.source = module_.source;
  diagnostic.offset = instruction_.opcode_offset;
  sink_->add(std::move(diagnostic));
}

}  // namespace hlosim
