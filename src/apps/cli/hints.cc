#include "cli/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.h"
#include "console/command_line.h"

namespace hlosim {
namespace {

struct Synonym {
  std::string_view word, ours;
};

constexpr std::array<Synonym, 33> kCommandSynonyms = {{
    {"simulate", "report"}, {"sim", "report"},     {"estimate", "report"}, {"predict", "report"},
    {"analyze", "report"},  {"analyse", "report"}, {"summary", "report"},  {"perf", "report"},
    {"html", "report"},     {"compare", "diff"},   {"regress", "gate"},    {"optimize", "advise"},
    {"optimise", "advise"}, {"suggest", "advise"}, {"verify", "check"},    {"validate", "check"},
    {"lint", "check"},      {"execute", "run"},    {"evaluate", "run"},    {"memory", "buffers"},
    {"convert", "print"},   {"dump", "print"},     {"cat", "print"},       {"timeline", "trace"},
    {"visualize", "graph"}, {"draw", "graph"},     {"flops", "cost"},      {"reduce", "shrink"},
    {"shard", "partition"}, {"compile", "lower"},  {"chips", "devices"},   {"serve", "serving"},
    {"search", "tune"},
}};

constexpr std::array<Synonym, 20> kOptionSynonyms = {{
    {"--chip", "--device"},         {"--tpu", "--device"},           {"--accelerator", "--device"},
    {"--hardware", "--device"},     {"--target", "--device"},        {"--platform", "--device"},
    {"--out", "--output"},          {"--outfile", "--output"},       {"--out-file", "--output"},
    {"--output-file", "--output"},  {"--output-format", "--format"}, {"--num-partitions", "--partitions"},
    {"--num-devices", "--devices"}, {"--num-slices", "--slices"},    {"--mesh-shape", "--mesh"},
    {"--slice", "--topology"},      {"--override", "--set"},         {"--limit", "--top"},
    {"--flags", "--xla-flags"},     {"--jobs", "--threads"},
}};

std::string hint_of_format(std::string_view word, const std::string& command, const CommandLine& declared) {
  const std::optional<Option> format = declared.find("--format");
  const std::vector<std::string> words = format ? format->words() : std::vector<std::string>();
  if (std::ranges::find(words, word) != words.end())
    return declared.find("--output") ? fmt::format("write --format={} -o FILE.{}", word, word)
                                     : fmt::format("write --format={}", word);
  if (word == "html")
    return fmt::format("`hlosim {}` writes no page; `hlosim report FILE --device=v5e --html=page.html` does",
                       command);
  if (word == "pdf") return "write a page with `hlosim report … --html=page.html` and print it in a browser";
  return {};
}

}  // namespace

std::string hint_of_synonym(std::string_view word) {
  if (word == "version") return "`hlosim --version` prints the version";
  if (word == "list") return "`hlosim devices` lists the devices, `hlosim ops` the opcodes";
  const auto* const found = std::ranges::find(kCommandSynonyms, word, &Synonym::word);
  return found == kCommandSynonyms.end() ? "" : fmt::format("did you mean \"{}\"?", found->ours);
}

std::string hint_of_option(std::string_view given, const std::string& command, const CommandLine& declared) {
  const std::string_view name = given.substr(0, given.find('='));
  const auto* const synonym = std::ranges::find(kOptionSynonyms, name, &Synonym::word);
  if (synonym != kOptionSynonyms.end() && declared.find(std::string(synonym->ours)))
    return fmt::format("did you mean \"{}\"?", synonym->ours);
  if (name.starts_with("--xla-") && declared.find("--xla-flags")) {
    std::string flag(given.substr(2));
    std::replace(flag.begin(), flag.begin() + static_cast<std::ptrdiff_t>(name.size() - 2), '-', '_');
    return fmt::format("flags of XLA are given by --xla-flags='--{}'", flag);
  }
  if (name.starts_with("--"))
    if (std::string hint = hint_of_format(name.substr(2), command, declared); !hint.empty()) return hint;
  std::vector<std::string> names;
  for (const Option& option : declared.options())
    for (const std::string& long_name : option.long_names()) names.push_back("--" + long_name);
  const std::string hint = did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
  return hint.empty() ? fmt::format("`hlosim help {}` lists the options", command) : hint;
}

}  // namespace hlosim
