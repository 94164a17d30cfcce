#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/command_line.h"
#include "console/run_config.h"
#include "model/device.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr std::string_view kReport[] = {
    "hlosim report module.hlo --device=v5e",
    "hlosim report module.hlo --device=v4 --format=json -o report.json",
    "hlosim report module.hlo --device=v5p --topology=2x2x4 --set mxu.count=8"};
constexpr std::string_view kBisect[] = {
    "hlosim bisect old.hlo other.hlo new.hlo --device=v5e  # exit code 1: slower"};
constexpr std::string_view kDiff[] = {"hlosim diff old.hlo new.hlo --device=v5e",
                                      "hlosim diff old.json new.json --format=markdown"};
constexpr std::string_view kGate[] = {"hlosim gate --update-baseline",
                                      "hlosim gate --junit=gate.xml --sarif=gate.sarif"};
constexpr std::string_view kInit[] = {"hlosim init", "hlosim init -o gates/train.yaml"};
constexpr std::string_view kExplain[] = {"hlosim explain module.hlo fusion.12 --device=v5e"};
constexpr std::string_view kTrace[] = {"hlosim trace module.hlo --device=v5e -o trace.json.gz",
                                       "hlosim trace module.hlo --device=v5e --format=xplane -o logdir"};
constexpr std::string_view kProfile[] = {"hlosim profile logdir --device=v6e",
                                         "hlosim profile logdir --format=html -o profile.html"};
constexpr std::string_view kCalibrate[] = {"hlosim calibrate cases.json --device=v5e -o mine.yaml",
                                           "hlosim calibrate logdir --device=v6e -o mine.yaml"};
constexpr std::string_view kCheck[] = {"hlosim check dump/*.txt"};
constexpr std::string_view kRun[] = {"hlosim run module.hlo --args=random",
                                     "hlosim run tuned.hlo --args=random --compare=module.hlo"};
constexpr std::string_view kBuffers[] = {"hlosim buffers module.hlo --device=v5e"};
constexpr std::string_view kPartition[] = {"hlosim partition sharded_model.hlo --check",
                                           "hlosim partition sharded_model.hlo --report -o spmd.hlo"};
constexpr std::string_view kShrink[] = {"hlosim shrink module.hlo --scale=16 --layers=1 -o small.hlo"};
constexpr std::string_view kLower[] = {"hlosim lower plain.hlo --device=v5e -o lowered.hlo"};
constexpr std::string_view kTuneSchedule[] = {
    "hlosim tune schedule module.hlo --device=v5e -o scheduled.hlo"};
constexpr std::string_view kTuneLayout[] = {"hlosim tune layout module.hlo --device=v5e -o laid_out.hlo"};
constexpr std::string_view kTunePrefetch[] = {
    "hlosim tune prefetch module.hlo --device=v5e -o prefetched.hlo"};
constexpr std::string_view kCost[] = {"hlosim cost module.hlo"};
constexpr std::string_view kPrint[] = {"hlosim print module.hlo --no-metadata",
                                       "hlosim print module.hlo --format=pb -o module.hlo.pb"};
constexpr std::string_view kLayout[] = {"hlosim layout 'bf16[256,256]{1,0:T(8,128)(2,1)}' --index=9,130"};
constexpr std::string_view kKernel[] = {
    "hlosim kernel flash_attention --q='bf16[2,8192,16,128]' --k='bf16[2,8192,4,128]' "
    "--v='bf16[2,8192,4,128]' --causal --device=v6e"};
constexpr std::string_view kSystolic[] = {"hlosim systolic --dataflow=ws --array=128x128 1024 1024 1024"};
constexpr std::string_view kDevices[] = {"hlosim devices", "hlosim devices v5e --format=yaml"};
constexpr std::string_view kSweep[] = {"hlosim sweep experiment.yaml -o table.csv --format=csv"};
constexpr std::string_view kAccuracy[] = {"hlosim accuracy cases.json --baseline=roofline"};
constexpr std::string_view kOps[] = {"hlosim ops --format=csv"};

constexpr struct {
  std::string_view command;
  std::span<const std::string_view> lines;
} kExamples[] = {
    {"report", kReport},
    {"bisect", kBisect},
    {"diff", kDiff},
    {"gate", kGate},
    {"init", kInit},
    {"explain", kExplain},
    {"trace", kTrace},
    {"check", kCheck},
    {"run", kRun},
    {"buffers", kBuffers},
    {"shrink", kShrink},
    {"partition", kPartition},
    {"lower", kLower},
    {"tune schedule", kTuneSchedule},
    {"tune layout", kTuneLayout},
    {"tune prefetch", kTunePrefetch},
    {"cost", kCost},
    {"print", kPrint},
    {"layout", kLayout},
    {"kernel", kKernel},
    {"systolic", kSystolic},
    {"devices", kDevices},
    {"ops", kOps},
    {"sweep", kSweep},
    {"accuracy", kAccuracy},
    {"profile", kProfile},
    {"calibrate", kCalibrate},
};

OptionEntry describe(const Option& option) {
  OptionEntry entry;
  entry.long_names = option.long_names();
  entry.short_names = option.short_names();
  entry.description = option.description();
  entry.default_value = option.default_text();
  entry.takes_value = option.most_values() > 0;
  entry.values = option.words();
  const auto has_name = [&](std::string_view name) {
    return std::find(entry.long_names.begin(), entry.long_names.end(), name) != entry.long_names.end();
  };
  entry.is_file = entry.takes_value && entry.values.empty();  // a device may be one of these or a file
  if (has_name("device") && entry.values.empty())
    for (const std::string_view device : builtin_devices()) entry.values.emplace_back(device);
  return entry;
}

// ── bash ──

std::string words(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, " ")); }

/// "--device= --set= -o": with what follows an option that takes a value.
std::vector<std::string> dashed(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : option.long_names)
      names.push_back("--" + name + (option.takes_value ? "=" : ""));
    for (const std::string& name : option.short_names) names.push_back("-" + name);
  }
  return names;
}

/// Beside the commands; "help" takes any of them.
constexpr struct {
  std::string_view name, summary, values;
} kBesides[] = {
    {"help", "All commands, or the options of one.", ""},
    {"completion", "A script that completes commands, options and their values.", "bash zsh fish"},
    {"man", "The manual as a man page.", ""}};

std::string values_of_besides(std::string_view name, const std::string& all_commands) {
  for (const auto& one : kBesides)
    if (one.name == name) return name == "help" ? all_commands : std::string(one.values);
  return {};
}

std::vector<std::string> first_words(const std::vector<CommandEntry>& commands) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commands) {
    std::string word = command.name.substr(0, command.name.find(' '));
    if (std::find(names.begin(), names.end(), word) == names.end()) names.push_back(std::move(word));
  }
  return names;
}

std::vector<std::string> second_words(const std::vector<CommandEntry>& commands, const std::string& first) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commands)
    if (command.name.size() > first.size() && command.name.compare(0, first.size() + 1, first + " ") == 0)
      names.push_back(command.name.substr(first.size() + 1));
  return names;
}

std::string bash(const std::vector<CommandEntry>& commands) {
  std::string out = R"bash(# bash completion for hlosim: eval "$(hlosim completion bash)"
_hlosim() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options=
  if [[ $cur == "=" ]]; then cur=
  elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then
)bash";
  const TextBuilder print{out};
  const std::string all = words(first_words(commands));
  print(
      "    COMPREPLY=($(compgen -W \"{} help completion man\" -- \"$cur\"))\n    return\n  fi\n  case "
      "$command in\n",
      all);
  for (const auto& one : kBesides)
    print("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", one.name,
          values_of_besides(one.name, all));
  for (const std::string& first : first_words(commands)) {
    const std::vector<std::string> second = second_words(commands, first);
    if (second.empty()) continue;
    print(
        "    {0})\n      if [[ $COMP_CWORD -eq 2 && $cur != -* ]]; then\n        COMPREPLY=($(compgen -W "
        "\"{1}\" -- "
        "\"$cur\"))\n        return\n      fi\n      command=\"{0} ${{COMP_WORDS[2]}}\" ;;\n",
        first, words(second));
  }
  out += "  esac\n  case $command:$prev in\n";
  for (const CommandEntry& command : commands)
    for (const OptionEntry& option : command.options)
      for (const std::string& name : option.long_names)
        if (!option.values.empty())
          print("    \"{}:--{}\") COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", command.name,
                name, words(option.values));
  out += "  esac\n  case $command in\n";
  for (const CommandEntry& command : commands)
    print("    \"{}\") options=\"{}\" ;;\n", command.name, words(dashed(command)));
  for (const CommandEntry& command : commands)
    if (command.name == "report") print("    *) options=\"--version {}\" ;;\n", words(dashed(command)));
  out += R"(  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
  fi
}
complete -o default -F _hlosim hlosim
)";
  return out;
}

// ── zsh ──

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_spec(const std::string& name, const OptionEntry& option) {
  std::string spec = fmt::format("{}{}[{}]", name, option.takes_value && name.size() > 2 ? "=" : "",
                                 escaped(option.description, "[]:\\"));
  if (!option.takes_value) return spec;
  if (option.values.empty()) return spec + ":value:_files";
  if (option.is_file) return spec + fmt::format(":value:{{_values value {}; _files}}", words(option.values));
  return spec + fmt::format(":value:({})", words(option.values));
}

std::string zsh(const std::vector<CommandEntry>& commands) {
  std::string out =
      "#compdef hlosim\n# zsh completion for hlosim: hlosim completion zsh > "
      "\"${fpath[1]}/_hlosim\"\n_hlosim() {\n";
  const TextBuilder print{out};
  out += "  local command=$words[2]\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const std::string& first : first_words(commands)) {
    const auto known =
        std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return c.name == first; });
    print("      '{}:{}'\n", first, known == commands.end() ? "" : escaped(known->summary, ":\\"));
  }
  for (const auto& one : kBesides) print("      '{}:{}'\n", one.name, one.summary);
  out += "    )\n    _describe command commands\n    _files\n    return\n  fi\n  case $command in\n";
  for (const auto& one : kBesides)
    print("    {}) compadd -- {}; return ;;\n", one.name,
          values_of_besides(one.name, words(first_words(commands))));
  for (const std::string& first : first_words(commands)) {
    const std::vector<std::string> second = second_words(commands, first);
    if (!second.empty())
      print(
          "    {0})\n      if (( CURRENT == 3 )); then compadd {1}; return; fi\n      command=\"{0} "
          "$words[3]\" ;;\n",
          first, words(second));
  }
  out += "  esac\n  case $command in\n";
  for (const CommandEntry& command : commands) {
    print("    '{}')\n      _arguments", command.name);
    for (const OptionEntry& option : command.options) {
      for (const std::string& name : option.long_names)
        print(" \\\n        '{}'", zsh_spec("--" + name, option));
      for (const std::string& name : option.short_names)
        print(" \\\n        '{}'", zsh_spec("-" + name, option));
    }
    out += " \\\n        '*:file:_files' ;;\n";
  }
  // Loaded from $fpath it runs at once; from `source` or `eval` it is only defined.
  return out +
         "    *) _files ;;\n  esac\n}\nif [[ $funcstack[1] == _hlosim ]]; then _hlosim \"$@\"; else compdef "
         "_hlosim hlosim; "
         "fi\n";
}

// ── fish ──

std::string fish(const std::vector<CommandEntry>& commands) {
  std::string out =
      "# fish completion for hlosim: hlosim completion fish > ~/.config/fish/completions/hlosim.fish\n";
  const TextBuilder print{out};
  const auto quoted = [](std::string_view text) {
    std::string result;
    for (const char c : text) {
      if (c == '\'' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  for (const auto& one : kBesides) {
    print("complete -c hlosim -n __fish_use_subcommand -a {} -d '{}'\n", one.name, quoted(one.summary));
    print("complete -c hlosim -f -n '__fish_seen_subcommand_from {0}' -a '{1}'\n", one.name,
          values_of_besides(one.name, words(first_words(commands))));
  }
  for (const std::string& first : first_words(commands)) {
    const auto known =
        std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return c.name == first; });
    print("complete -c hlosim -n __fish_use_subcommand -a {} -d '{}'\n", first,
          known == commands.end() ? "" : quoted(known->summary));
    const std::vector<std::string> second = second_words(commands, first);
    if (!second.empty())
      print(
          "complete -c hlosim -f -n '__fish_seen_subcommand_from {0}; and not __fish_seen_subcommand_from "
          "{1}' -a '{1}'\n",
          first, words(second));
  }
  for (const CommandEntry& command : commands) {
    const size_t blank = command.name.find(' ');
    // Options without a command are those of report.
    const std::string condition =
        command.name == "report" ? std::string("__fish_use_subcommand; or __fish_seen_subcommand_from report")
        : blank == std::string::npos
            ? fmt::format("__fish_seen_subcommand_from {}", command.name)
            : fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}",
                          command.name.substr(0, blank), command.name.substr(blank + 1));
    for (const OptionEntry& option : command.options) {
      if (option.long_names.empty() && option.short_names.empty()) continue;
      print("complete -c hlosim -n '{}'", condition);
      for (const std::string& name : option.long_names) print(" -l {}", name);
      for (const std::string& name : option.short_names) print(" -s {}", name);
      if (option.takes_value && option.values.empty()) out += " -r";
      if (option.takes_value && !option.values.empty())
        print(" -{} -a '{}'", option.is_file ? "rF" : "x", words(option.values));
      print(" -d '{}'\n", quoted(option.description));
    }
  }
  return out;
}

// ── man ──

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && out.empty())
      out += fmt::format("\\&{}", c);
    else
      out += c;
  }
  return out;
}

/// Lines may break behind each `|`: a list of values may be longer than a line.
std::string breakable(const std::string& values) {
  std::string out;
  for (const char c : values) {
    out += c;
    if (c == '|') out += "\\:";
  }
  return out;
}

std::string roff_option(const OptionEntry& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.short_names)
    names.push_back(fmt::format("\\fB\\-{}\\fR", roff(name)));
  for (const std::string& name : option.long_names)
    names.push_back(fmt::format(
        "\\fB\\-\\-{}\\fR{}", roff(name),
        !option.takes_value     ? ""
        : option.values.empty() ? "=\\fIVALUE\\fR"
                                : "=" + breakable(roff(fmt::format("{}", fmt::join(option.values, "|"))))));
  std::string text = roff(option.description);
  if (!option.default_value.empty() && option.default_value != "false")
    text += roff(fmt::format(" (default: {})", option.default_value));
  return fmt::format(".TP\n{}\n{}\n", fmt::join(names, ", "), text);
}

}  // namespace

std::vector<CommandEntry> describe_commands(std::span<const Command> commands, Streams streams) {
  std::vector<CommandEntry> entries;
  for (const Command& command : commands) {
    CommandLine declared;
    declare_options(command, declared, streams);
    CommandEntry entry;
    entry.name = std::string(command.name);
    entry.summary = std::string(command.summary);
    for (const Option& option : declared.options()) {
      if (option.long_names().empty() && option.short_names().empty())
        entry.positionals.push_back(option.name() + (option.most_values() > 1 ? "..." : ""));
      else
        entry.options.push_back(describe(option));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::span<const std::string_view> examples_of(std::string_view command) {
  for (const auto& entry : kExamples)
    if (entry.command == command) return entry.lines;
  return {};
}

std::optional<std::string> completion_script(std::string_view shell,
                                             const std::vector<CommandEntry>& commands) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return std::nullopt;
}

std::string man_page(const std::vector<CommandEntry>& commands, std::string_view version) {
  std::string out;
  const TextBuilder print{out};
  print(
      ".TH HLOSIM 1 \"\" \"hlosim {}\" \"User Commands\"\n.ad l\n.SH NAME\nhlosim \\- what XLA HLO modules "
      "cost on "
      "a TPU\n",
      version);
  out +=
      ".SH SYNOPSIS\n\\fBhlosim\\fR \\-\\-device=\\fIDEVICE\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR...\n.br\n"
      "\\fBhlosim\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR...\n"
      ".SH DESCRIPTION\nReads XLA HLO text and predicts its execution on a TPU: step time, bottlenecks, "
      "memory traffic "
      "and occupancy, padding, and the overlap of communication with compute. Without a command: "
      "report. The file "
      "name \\- is standard input.\n.SH COMMANDS\n";
  for (const CommandEntry& command : commands) {
    print(".SS hlosim {}{}{}\n{}\n", roff(command.name), command.positionals.empty() ? "" : " ",
          roff(fmt::format("{}", fmt::join(command.positionals, " "))), roff(command.summary));
    for (const OptionEntry& option : command.options) out += roff_option(option);
    const std::span<const std::string_view> examples = examples_of(command.name);
    if (examples.empty()) continue;
    out += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
    for (const std::string_view line : examples) print("{}\n", roff(line));
    out += ".RE\n.fi\n";
  }
  out +=
      ".SS hlosim help [COMMAND]\nAll commands, or the options of one.\n"
      ".SS hlosim completion bash|zsh|fish\nA script that completes commands, options and their values.\n"
      ".SS hlosim man\nThis page: hlosim man | man \\-l \\-\n"
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe answer is no: a limit exceeded, a regression, a "
      "difference\n.TP\n2\n"
      "wrong command line, module, device file or environment\n"
      ".SH ENVIRONMENT\n.TP\nHLOSIM_CONFIG_PATH\nfolders of device files, separated by colons\n.TP\n"
      "GITHUB_STEP_SUMMARY\nthe file that \\fBhlosim gate \\-\\-github\\fR appends its summary to\n";
  return out;
}

}  // namespace hlosim
