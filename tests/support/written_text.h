// What writes itself part by part, as one text.
//
//   test::written([&](const TextSink& out) { write_model_explorer_json(data, out); })
#pragma once

#include <string>

#include "base/staged_files.h"

namespace hlosim::test {

inline std::string written(const TextSource& text) {
  std::string all;
  text([&](std::string_view part) { all += part; });
  return all;
}

}  // namespace hlosim::test
