// The commands of the program, one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/source.h"
#include "dist/ranks.h"

namespace CLI {
class App;
}

namespace hlosim {

struct Manners;  // cli/manners.h

/// Where a command reads and writes.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Ranks& ranks;               // this process among those that were started together
  SourcePtr& standard_input;  // what `in` held, once somebody asked: `-` may be named twice
  Manners& manners;           // how much is said, and how
};

/// Checks an option's text: a whole number from `low` on. For CLI::Option::check().
std::function<std::string(const std::string&)> whole_number_from(int64_t low);

struct Command {
  std::string_view name;  // may have several words, e.g. "tune prefetch"
  std::string_view summary;
  /// Declares options on `app`; the result runs the command once the line is parsed.
  std::function<int()> (*declare)(CLI::App& app, Streams streams);
  bool on_ranks = false;  // several ranks share its work
};

std::function<int()> declare_report(CLI::App& app, Streams streams);
std::function<int()> declare_trace(CLI::App& app, Streams streams);
std::function<int()> declare_graph(CLI::App& app, Streams streams);
std::function<int()> declare_check(CLI::App& app, Streams streams);
std::function<int()> declare_run(CLI::App& app, Streams streams);
std::function<int()> declare_cost(CLI::App& app, Streams streams);
std::function<int()> declare_print(CLI::App& app, Streams streams);
std::function<int()> declare_ops(CLI::App& app, Streams streams);
std::function<int()> declare_layout(CLI::App& app, Streams streams);
std::function<int()> declare_explain(CLI::App& app, Streams streams);
std::function<int()> declare_systolic(CLI::App& app, Streams streams);
std::function<int()> declare_devices(CLI::App& app, Streams streams);
std::function<int()> declare_buffers(CLI::App& app, Streams streams);
std::function<int()> declare_accuracy(CLI::App& app, Streams streams);
std::function<int()> declare_lower(CLI::App& app, Streams streams);
std::function<int()> declare_tune_prefetch(CLI::App& app, Streams streams);
std::function<int()> declare_tune_schedule(CLI::App& app, Streams streams);
std::function<int()> declare_sweep(CLI::App& app, Streams streams);
std::function<int()> declare_tune_layout(CLI::App& app, Streams streams);

}  // namespace hlosim
