// Logs with HLO in them: what a logger wrote before each line is taken off.
//
//   const LogLines log = without_prefixes("I0000 00:00:17.64 3832 service.cc:178] HloModule m\n");
//   log.count   // 1
//   log.text    // "                                       HloModule m\n": columns stay as they were
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hlosim {

/// Characters of `line` up to where a logger's message begins: behind `file.cc:76]` and a blank. 0: no logger
/// wrote it.
size_t log_prefix(std::string_view line);

struct LogLines {
  std::string text;  // blanks for every prefix
  size_t count = 0;  // of lines with one
};
LogLines without_prefixes(std::string_view text);

}  // namespace hlosim
