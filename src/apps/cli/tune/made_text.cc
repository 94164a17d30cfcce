#include "cli/tune/made_text.h"

#include <fmt/format.h>

#include <limits>
#include <memory>

#include "base/text.h"
#include "input/load_modules.h"
#include "ops/op_table.h"

namespace hlosim {

Result<void> verify_emitted_text(const std::string& text, std::string_view command, std::string_view module) {
  const auto source =
      std::make_shared<const SourceFile>(fmt::format("what {} made of {}", command, shown(module)), text);
  DiagnosticList problems(1);
  LoadOptions options;  // the module that was given kept to the limits
  options.limits.rank = options.limits.devices = std::numeric_limits<int64_t>::max();
  load_modules(source, op_table(), problems, options);
  if (!problems.has_errors()) return {};
  Diagnostic wrong = problems.items().front();
  wrong.message = "internal error: " + wrong.message;
  wrong.hint =
      fmt::format("a fault of hlosim, not of the module, and nothing is written: please report it with {}",
                  shown(module));
  return tl::unexpected(std::move(wrong));
}

}  // namespace hlosim
