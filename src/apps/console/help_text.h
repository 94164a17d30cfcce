// The help of a command: usage, examples, then its options by group, wrapped.
//
//   Estimate what modules cost on a device: time, traffic, memory, padding.
//
//   Usage: hlosim report [OPTIONS] FILE...
//
//   Device:
//     --device DEVICE       Device file, built-in device or accelerator type: v4.yaml, v5e, v5p-128
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace hlosim {

/// Lines have at most `width` columns where words allow it. Groups come in the order of their first option,
/// those of every
/// command last. `footer`: the examples, each on a line of its own; may be empty.
std::string help_text(const CLI::App& app, const std::string& footer, size_t width = 100);

}  // namespace hlosim
