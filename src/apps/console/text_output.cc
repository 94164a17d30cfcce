#include "console/text_output.h"

#include <fmt/format.h>

#include <unistd.h>

#include <iostream>
#include <ostream>

#include "console/verbosity.h"

namespace hlosim {

bool write_output(const std::string& path, const TextSource& text, Streams streams) {
  if (path == "-") {
    text([&](std::string_view part) { streams.out << part; });
    return true;
  }
  Step step(fmt::format("wrote {}", path), streams);
  size_t bytes = 0;
  Result<void> written = streams.files.writes(path);
  if (written)
    written = write_file(path, [&](const TextSink& out) {
      text([&](std::string_view part) {
        bytes += part.size();
        out(part);
      });
    });
  step.add(fmt::format(": {} bytes", bytes));
  if (!written) tell(written.error(), streams);
  return written.has_value();
}

bool writes_to_terminal(Streams streams) {
  return &streams.out == &std::cout && ::isatty(STDOUT_FILENO) != 0;
}

}  // namespace hlosim
