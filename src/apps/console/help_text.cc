#include "console/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace hlosim {
namespace {

constexpr size_t kIndent = 2, kNameColumns = 26;
constexpr std::string_view kLastGroups[] = {"StableHLO", "Limits", "For every command"};

// What an option of this name takes, where its type does not show it.
constexpr std::pair<std::string_view, std::string_view> kPlaceholders[] = {
    {"advise", "DURATION"},
    {"apply", "N,..."},
    {"arg", "NAME=VALUE"},
    {"around", "INSTRUCTION"},
    {"array", "RxC"},
    {"axes", "AXIS,..."},
    {"baseline", "FILE"},
    {"batches", "N,..."},
    {"bencher-json", "FILE"},
    {"benchmark-json", "FILE"},
    {"bias", "SHAPE"},
    {"blocks", "NAME=N,..."},
    {"budget", "DURATION"},
    {"capacity", "SPACE=SIZE"},
    {"check", "DUMP"},
    {"chips", "N,..."},
    {"combine-collectives", "SIZE"},
    {"compare", "FILE"},
    {"computation", "NAME"},
    {"compute", "TYPE"},
    {"concurrency", "N,..."},
    {"config", "FILE"},
    {"custom-call-costs", "FILE"},
    {"custom-calls", "FILE"},
    {"date", "DATE"},
    {"dcn-axes", "AXIS,..."},
    {"dcn-mesh", "AXIS=N,..."},
    {"device", "DEVICE"},
    {"dim", "SIZES"},
    {"expect", "DIR"},
    {"expert-tiles", "MxKxN,..."},
    {"grads", "TYPE"},
    {"hoist-gathers", "SIZE"},
    {"html", "FILE"},
    {"index", "N,..."},
    {"input", "FILE"},
    {"inputs", "DIR"},
    {"journal", "FILE"},
    {"json", "FILE"},
    {"junit", "FILE"},
    {"k", "SHAPE"},
    {"keep", "NAME=PLACE,..."},
    {"kernel", "NAME"},
    {"kernel-density", "REGEX=SHARE"},
    {"kernel-values", "REGEX:OPERAND=VALUES"},
    {"key", "KEY"},
    {"knob", "NAME=VALUE"},
    {"kv-cache-dtype", "TYPE"},
    {"lengths", "LENGTHS"},
    {"limits", "FILE"},
    {"markdown", "FILE"},
    {"max-memory", "SIZE"},
    {"max-num-batched-tokens", "N,..."},
    {"maxtext", "FILE|SETTINGS"},
    {"mesh", "AXIS=N,..."},
    {"mesh-order", "ORDER"},
    {"metric", "METRIC"},
    {"module", "REGEX|N"},
    {"moments", "TYPE,..."},
    {"only", "KEY=VALUE"},
    {"options", "FILE"},
    {"output", "FILE"},
    {"params", "TYPE"},
    {"passes", "PASS,..."},
    {"precision", "PRECISION"},
    {"prefill-device", "DEVICE"},
    {"print-after", "PASS,..."},
    {"program", "FILE"},
    {"q", "SHAPE"},
    {"remat", "POLICY"},
    {"report", "DIR"},
    {"sarif", "FILE"},
    {"set", "KEY=VALUE"},
    {"shard", "REGEX=[AXES]"},
    {"soft-cap", "NUMBER"},
    {"source-link", "URL"},
    {"speculative-model", "FILE"},
    {"svg", "FILE"},
    {"tile", "TILING"},
    {"tokens", "N"},
    {"topology", "SLICE"},
    {"trace", "FILE"},
    {"trace-values", "REGEX"},
    {"v", "SHAPE"},
    {"values", "REGEX"},
    {"w", "SHAPE"},
    {"weight-dtype", "TYPE"},
    {"what-if", "VALUE=LAYOUT"},
    {"window", "N"},
    {"written-for", "AXIS=N,..."},
    {"x", "SHAPE"},
    {"xla-flags", "FLAGS|@FILE"},
};

// The same where commands have options of one name.
struct OfCommand {
  std::string_view command, option, text;
};
constexpr OfCommand kOfCommands[] = {{"hlosim advise", "only", "KIND"},
                                     {"hlosim profile", "program", "REGEX"},
                                     {"hlosim run", "kernel", "NAME=FILE"}};

std::string_view placeholder_of(std::string_view command, std::string_view name) {
  for (const OfCommand& one : kOfCommands)
    if (one.command == command && one.option == name) return one.text;
  for (const auto& [option, text] : kPlaceholders)
    if (option == name) return text;
  return {};
}

/// "text|json|csv" of a check that allows words, "N" of whole numbers.
std::string placeholder(const CLI::Option& option, std::string_view command) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    std::string words = type.substr(open + 1, close - open - 1);
    std::replace(words.begin(), words.end(), ',', '|');
    return words;
  }
  if (!option.get_lnames().empty())
    if (const std::string_view text = placeholder_of(command, option.get_lnames().front()); !text.empty())
      return std::string(text);
  if (type.starts_with("INT") || type.starts_with("UINT")) return "N";
  if (type.starts_with("FLOAT")) return "NUMBER";
  return "TEXT";
}

std::string names_of(const CLI::Option& option, std::string_view command) {
  if (option.get_positional()) return option.get_name();
  std::string names;
  for (const std::string& one : option.get_snames())
    names += fmt::format("{}-{}", names.empty() ? "" : ", ", one);
  for (const std::string& one : option.get_lnames())
    names += fmt::format("{}--{}", names.empty() ? "" : ", ", one);
  const std::string value = placeholder(option, command);
  return value.empty() ? names : fmt::format("{} {}", names, value);
}

/// Appends words to `out`, which has `column` columns in its last line; further lines begin at `indent`.
void wrap(std::string& out, std::string_view text, size_t column, size_t indent, size_t width) {
  bool first = true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (!first && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) out += ' ', ++column;
    out += word;
    column += word.size();
    first = false;
  }
  out += '\n';
}

std::string row(const CLI::Option& option, std::string_view command, size_t width) {
  std::string out = std::string(kIndent, ' ') + names_of(option, command);
  const size_t indent = kIndent + kNameColumns;
  std::string text = option.get_description();
  if (const std::string value = option.get_default_str(); !value.empty()) text += fmt::format(" [{}]", value);
  size_t column = out.size();
  if (column + 1 < indent) {
    out.resize(indent, ' ');
    column = indent;
  } else {
    out += '\n' + std::string(indent, ' ');
    column = indent;
  }
  wrap(out, text, column, indent, width);
  return out;
}

}  // namespace

std::string help_text(const CLI::App& app, const std::string& footer, size_t width) {
  std::string positionals, usage;
  std::vector<std::string> order;
  std::map<std::string, std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_name() + (option->get_items_expected_max() > 1 ? "..." : "");
      usage += option->get_required() ? " " + name : " [" + name + "]";
      positionals += row(*option, app.get_name(), width);
      continue;
    }
    const std::string& group = option->get_group();
    if (group.empty()) continue;
    if (std::find(order.begin(), order.end(), group) == order.end()) order.push_back(group);
    groups[group] += row(*option, app.get_name(), width);
  }
  std::stable_partition(order.begin(), order.end(), [](const std::string& group) {
    return std::find(std::begin(kLastGroups), std::end(kLastGroups), group) == std::end(kLastGroups);
  });
  std::string out =
      fmt::format("{}\n\nUsage: {} [OPTIONS]{}\n", app.get_description(), app.get_name(), usage);
  if (!footer.empty()) out += footer + "\n";
  if (!positionals.empty()) out += "\nArguments:\n" + positionals;
  for (const std::string& group : order) out += fmt::format("\n{}:\n{}", group, groups[group]);
  return out;
}

}  // namespace hlosim
