// The program that scripts/wasm puts into a page.
//
//   in_browser devices                             JSON of the built-in devices
//   in_browser page NAME DEVICE XLA_FLAGS <BYTES   the page; on standard error what is wrong
//
// Exit: 0, or 2 where there is no page.
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "in_browser/page_of_bytes.h"

namespace {

int write_page(const char* name, hlosim::PageRequest request) {
  using namespace hlosim;
  const Result<SourcePtr> input = read_source("-");
  if (!input) return std::fputs(render(input.error()).c_str(), stderr), 2;
  const auto source = std::make_shared<const SourceFile>(name, std::string((*input)->text()));
  const PageOfBytes made = page_of_bytes(source, request);
  for (const Diagnostic& finding : made.findings.items()) std::fputs(render(finding).c_str(), stderr);
  std::fwrite(made.page.data(), 1, made.page.size(), stdout);
  return made.page.empty() ? 2 : 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == "devices")
    return std::fputs(hlosim::devices_json().c_str(), stdout) < 0 ? 2 : 0;
  if (count == 5 && std::string_view(words[1]) == "page") return write_page(words[2], {words[3], words[4]});
  std::fputs("usage: in_browser devices | page NAME DEVICE XLA_FLAGS\n", stderr);
  return 2;
}
