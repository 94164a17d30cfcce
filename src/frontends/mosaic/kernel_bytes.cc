// From a call's backend_config to its body.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir/read_text.h"
#include "mlir_bytecode/read_bytecode.h"
#include "mosaic/kernel_body.h"

namespace hlosim::mosaic {
namespace {

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

Result<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=') break;
    const int value = value_of(text[i]);
    if (value < 0)
      return failure(
          fmt::format("the kernel's body is not base64: character {} is '{}'", i, shown(text.substr(i, 1))));
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

}  // namespace

Result<std::string> kernel_bytes(std::string_view backend_config) {
  constexpr std::string_view kKey = "body";
  for (size_t at = backend_config.find(kKey); at != std::string_view::npos;
       at = backend_config.find(kKey, at + 1)) {
    const size_t end = at + kKey.size();
    const size_t begin = backend_config.find_first_not_of("\\\": ", end);
    const bool is_key = at > 0 && backend_config[at - 1] == '"' && begin != std::string_view::npos &&
                        begin > end && backend_config[begin - 1] == '"';
    if (!is_key) continue;
    const size_t stop = std::min(backend_config.find_first_of("\\\"", begin), backend_config.size());
    return from_base64(backend_config.substr(begin, stop - begin));
  }
  return failure("the call has no body in its backend_config");
}

Result<mlir::File> read_kernel_body(const std::string& name, std::string_view backend_config) {
  Result<std::string> bytes = kernel_bytes(backend_config);
  if (!bytes) return tl::unexpected<Diagnostic>(bytes.error());
  const auto source = std::make_shared<const SourceFile>(name, std::move(*bytes));
  if (mlir::is_bytecode(source->text())) return mlir::read_bytecode(source);
  DiagnosticList findings;
  std::vector<mlir::File> files = mlir::read_text(source, findings);
  if (findings.has_errors()) return tl::unexpected<Diagnostic>(findings.items().front());
  if (files.size() != 1)
    return failure(fmt::format("the body of {} is {} modules, expected one", shown(name), files.size()));
  return std::move(files.front());
}

}  // namespace hlosim::mosaic
