// Results that are made while they are written.
//
//   write_output("graph.json", [&](const TextSink& out) { write_model_explorer_json(data, out); }, streams);
#pragma once

#include <string>

#include "base/staged_files.h"
#include "console/streams.h"

namespace hlosim {

/// As write_output() of console/input.h, of a text that is never in memory as a whole.
bool write_output(const std::string& path, const TextSource& text, Streams streams);

/// Is the streams' standard output a terminal, where a person reads?
bool writes_to_terminal(Streams streams);

}  // namespace hlosim
