#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/run.h"
#include "cli/study/compare_commands.h"
#include "cli/study/run_reader.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "report/html/html.h"
#include "study/diff.h"

namespace hlosim {
namespace {

struct DiffArguments : SimulationOptions {
  std::string format = "text";
  std::string output = "-";
  int64_t top = 10;
};

/// One of each file, or those of the same name in their order.
std::vector<std::pair<const Metrics*, const Metrics*>> pairs_of(const std::vector<Metrics>& before,
                                                                const std::vector<Metrics>& after,
                                                                Streams streams) {
  if (before.size() == 1 && after.size() == 1) return {{&before[0], &after[0]}};
  std::vector<std::pair<const Metrics*, const Metrics*>> pairs;
  std::vector<bool> taken(after.size());
  const auto only = [&](const Metrics& one, std::string_view where) {
    warn(fmt::format("module {} is in {} only", one.module_name, where), streams);
  };
  for (const Metrics& one : before) {
    size_t i = 0;
    while (i < after.size() && (taken[i] || after[i].module_name != one.module_name)) ++i;
    if (i < after.size()) {
      taken[i] = true;
      pairs.emplace_back(&one, &after[i]);
    } else {
      only(one, "the old file");
    }
  }
  for (size_t i = 0; i < after.size(); ++i)
    if (!taken[i]) only(after[i], "the new file");
  return pairs;
}

/// Empty, with what is wrong printed, when there isn't exactly one pair.
std::string page_of(const Runs& before, const Runs& after, Streams streams) {
  const auto pairs = pairs_of(before.figures, after.figures, streams);
  if (pairs.size() != 1) {
    tell(failure(fmt::format("a page shows one module in both files, there are {}", pairs.size()),
                 "--module chooses one")
             .value(),
         streams);
    return {};
  }
  const auto [old_run, new_run] = pairs.front();
  const HtmlModule sides[] = {before.pages[static_cast<size_t>(old_run - before.figures.data())],
                              after.pages[static_cast<size_t>(new_run - after.figures.data())]};
  return html_page(sides, to_json(make_diff(*old_run, *new_run), HLOSIM_VERSION));
}

int diff(const DiffArguments& options, Streams streams) {
  if (options.files.size() != 2) {
    complain("two files are compared: OLD and NEW", "", streams);
    return kExitInput;
  }
  RunReader sides(options, options.format == "html", streams);
  Runs before, after;
  const bool old_ok = sides.read(options.files[0], before);
  if (!old_ok || !sides.read(options.files[1], after)) return kExitInput;
  if (options.format == "html") {
    const std::string page = page_of(before, after, streams);
    return !page.empty() && write_output(options.output, page, streams) ? kExitSuccess : kExitInput;
  }
  std::vector<std::string> documents;
  const DiffTextOptions text{.top = static_cast<size_t>(options.top),
                             .paint = output_paint(options.output, streams)};
  for (const auto& [old_run, new_run] : pairs_of(before.figures, after.figures, streams)) {
    const Diff one = make_diff(*old_run, *new_run);
    documents.push_back(options.format == "json"       ? to_json(one, HLOSIM_VERSION)
                        : options.format == "markdown" ? to_markdown(one, text)
                                                       : to_text(one, text));
  }
  if (documents.empty()) {
    complain("no module is in both files", "", streams);
    return kExitInput;
  }
  const std::string result =
      options.format == "json" ? json_documents(documents) : fmt::format("{}", fmt::join(documents, "\n\n"));
  return write_output(options.output, result, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_diff(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<DiffArguments>();
  declare_simulation(line, *options);
  line.option("FILE").description(
      "OLD and NEW: HLO text, or reports saved with --format=json; - is standard input");
  line.add_option("--format", options->format, "text, json, markdown or html (one page for a browser)")
      .one_of({"text", "json", "markdown", "html"})
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.add_option("--top", options->top, "Rows of each list in text and Markdown; 0: all")
      .from(0)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return diff(*options, streams); };
}

}  // namespace hlosim
