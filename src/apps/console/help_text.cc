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
    {"axes", "AXIS,..."},
    {"baseline", "FILE"},
    {"config", "FILE"},
    {"custom-call-costs", "FILE"},
    {"device", "DEVICE"},
    {"dim", "SIZES"},
    {"inputs", "DIR"},
    {"journal", "FILE"},
    {"json", "FILE"},
    {"junit", "FILE"},
    {"kernel-density", "REGEX=SHARE"},
    {"kernel-values", "REGEX:OPERAND=VALUES"},
    {"knob", "NAME=VALUE"},
    {"limits", "FILE"},
    {"markdown", "FILE"},
    {"max-memory", "SIZE"},
    {"mesh", "AXIS=N,..."},
    {"mesh-order", "ORDER"},
    {"module", "REGEX|N"},
    {"options", "FILE"},
    {"output", "FILE"},
    {"sarif", "FILE"},
    {"set", "KEY=VALUE"},
    {"shard", "REGEX=[AXES]"},
    {"source-link", "URL"},
    {"svg", "FILE"},
    {"topology", "SLICE"},
    {"written-for", "AXIS=N,..."},
    {"xla-flags", "FLAGS|@FILE"},
};

/// "text|json|csv" of a check that allows words, "N" of whole numbers.
std::string placeholder(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    std::string words = type.substr(open + 1, close - open - 1);
    std::replace(words.begin(), words.end(), ',', '|');
    return words;
  }
  if (!option.get_lnames().empty())
    for (const auto& [name, text] : kPlaceholders)
      if (option.get_lnames().front() == name) return std::string(text);
  if (type.starts_with("INT") || type.starts_with("UINT")) return "N";
  if (type.starts_with("FLOAT")) return "NUMBER";
  return "TEXT";
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name();
  std::string names;
  for (const std::string& one : option.get_snames())
    names += fmt::format("{}-{}", names.empty() ? "" : ", ", one);
  for (const std::string& one : option.get_lnames())
    names += fmt::format("{}--{}", names.empty() ? "" : ", ", one);
  const std::string value = placeholder(option);
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

std::string row(const CLI::Option& option, size_t width) {
  std::string out = std::string(kIndent, ' ') + names_of(option);
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
      positionals += row(*option, width);
      continue;
    }
    const std::string& group = option->get_group();
    if (group.empty()) continue;
    if (std::find(order.begin(), order.end(), group) == order.end()) order.push_back(group);
    groups[group] += row(*option, width);
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
