#include "cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <ostream>
#include <sstream>
#include <vector>

#include "base/cpu.h"
#include "base/text.h"
#include "cli/hints.h"
#include "cli/manual.h"
#include "cli/mcp.h"
#include "cli/study/compare_commands.h"
#include "console/command_line.h"
#include "console/command_lookup.h"
#include "console/limit_options.h"
#include "console/resource_guard.h"
#include "console/run_config.h"
#include "console/verbosity.h"
#include "model/version.h"

namespace hlosim {
namespace {

constexpr Command kCommands[] = {
    {"report", "Estimate what modules cost on a device: time, traffic, memory, padding.", declare_report},
    {"advise",
     "Changes that save time or memory: simulated, executed for equality, ranked by what they save.",
     declare_advise},
    {"explain", "Print the equation behind an instruction's time, with the source of every number.",
     declare_explain},
    {"diff", "What changed between two modules, and what each change costs.", declare_diff},
    {"bisect", "Find the first of several versions of a module that became slower, and why.", declare_bisect},
    {"gate", "Fail when modules cost more than a baseline allows, and report why.", declare_gate},
    {"init", "Write a commented configuration for gate.", declare_init, false, false},
    {"trace", "Write a trace for Perfetto, Chrome or XProf, or an SVG timeline.", declare_trace},
    {"graph", "Draw a computation or the neighborhood of an instruction; files for Model Explorer.",
     declare_graph},
    {"check", "Verify modules; report every error with its place.", declare_check},
    {"run", "Execute a module on this processor; compare results.", declare_run, true},
    {"buffers", "Buffer assignment: values, live ranges, allocations, peak memory.", declare_buffers},
    {"shrink", "Reduce the sizes of a module and keep its form, to run or share it.", declare_shrink},
    {"model", "Write the step of a language model (training, prefill or decode) as a sharded module.",
     declare_model, false, false},
    {"scale",
     "Training on growing numbers of chips: throughput, MFU, days and cost; when more chips stop paying.",
     declare_scale, false, false},
    {"serving", "Throughput and latency of a server of a language model under load.", declare_serving, false,
     false},
    {"partition", "SPMD partitioning: one program for all devices from a sharded module.", declare_partition},
    {"lower",
     "Lower unoptimized modules approximately as XLA:TPU does: fusion, layouts, placement, schedule.",
     declare_lower},
    {"tune layout", "Search for faster or smaller layouts; simulate what-ifs.", declare_tune_layout},
    {"tune prefetch", "Search for on-chip placement and prefetch copies.", declare_tune_prefetch},
    {"tune schedule", "Overlap transfers with compute: asynchronous collectives, a new order.",
     declare_tune_schedule},
    {"tune mesh", "Search meshes and shardings of a program; time and memory of each.", declare_tune_mesh,
     true},
    {"tune serving", "Search servers of a language model: devices, meshes, stored types, batch limits.",
     declare_tune_serving, false, false},
    {"sweep", "Simulate all combinations of an experiment: modules, devices, overrides.", declare_sweep,
     true},
    {"accuracy", "Compare simulated with measured times.", declare_accuracy},
    {"profile", "Compare a profile of a real TPU with the simulation of the same module.", declare_profile},
    {"calibrate", "Fit constants of a device to measured times.", declare_calibrate},
    {"cost", "Count flops and bytes as XLA's HloCostAnalysis does.", declare_cost},
    {"print", "Read modules and print them as HLO text.", declare_print},
    {"layout", "Sizes, padding and offsets of arrays in tiled layouts.", declare_layout, false, false},
    {"kernel", "Cost of a Pallas kernel by its arguments and blocks.", declare_kernel, false, false},
    {"systolic", "Cycles of a matmul on a systolic array of any size.", declare_systolic, false, false},
    {"devices", "List the devices, or show one with the source of every number.", declare_devices, false,
     false},
    {"ops", "List the opcodes with their properties.", declare_ops, false, false},
};

// Commands of two words, by their first word.
constexpr struct {
  std::string_view name, summary;
} kGroups[] = {
    {"tune", "Rewrite modules so that they run faster; `hlosim tune` lists the tuners."},
};

// A hint for an unknown command `word`, or for an unknown second word of `group`.
std::string command_hint(std::string_view word, std::string_view group = "") {
  std::vector<std::string_view> names;
  if (group.empty()) {
    if (std::string hint = hint_of_synonym(word); !hint.empty()) return hint;
    names = {"help", "completion", "man", "mcp", "tune"};
    for (const Command& c : kCommands) names.push_back(c.name.substr(0, c.name.find(' ')));
  } else {
    for (const Command* c : commands_of_group(kCommands, group))
      names.push_back(c->name.substr(group.size() + 1));
  }
  const std::string hint = did_you_mean(word, names);
  return hint.empty() ? fmt::format("`hlosim {}` lists the commands", group.empty() ? "help" : group) : hint;
}

// The help of a group: "tune" lists the tuners.
std::string group_overview(std::string_view group) {
  std::string text = fmt::format("Usage: hlosim {} COMMAND [OPTIONS] FILE...\n\nCommands:\n", group);
  for (const Command* command : commands_of_group(kCommands, group))
    text += fmt::format("  {:<13} {}\n", command->name, command->summary);
  return text + fmt::format("\n`hlosim help {} COMMAND` shows a command's options.\n", group);
}

int report_no_command(std::string_view what, std::string_view word, std::string_view group, Streams streams) {
  complain(fmt::format("no {} '{}{}{}'", what, group, group.empty() ? "" : " ", shown(word)),
           command_hint(word, group), streams);
  return kExitInput;
}

// `args[0]` is the first word of a group; the words after it name none of its commands.
int run_group(std::span<const std::string> args, Streams streams) {
  if (args.size() > 1 && args[1] != "--help" && args[1] != "-h")
    return report_no_command("command", args[1], args[0], streams);
  (args.size() > 1 ? streams.out : streams.err) << group_overview(args[0]);
  return args.size() > 1 ? kExitSuccess : kExitInput;
}

std::string overview() {
  std::string text =
      "Usage: hlosim --device=v4.yaml [OPTIONS] FILE...\n"
      "       hlosim COMMAND [OPTIONS] FILE...\n\nCommands:\n";
  for (const Command& command : kCommands)
    if (command.name.find(' ') == std::string_view::npos)
      text += fmt::format("  {:<9} {}\n", command.name, command.summary);
  for (const auto& group : kGroups)
    if (!commands_of_group(kCommands, group.name).empty())
      text += fmt::format("  {:<9} {}\n", group.name, group.summary);
  text +=
      "\nWithout a command: report. `hlosim help COMMAND` shows a command's options. `-` is standard input.\n"
      "`hlosim man` is the manual, `hlosim completion bash|zsh|fish` completes lines; "
      "`hlosim mcp` serves agents and editors.\n"
      "Exit codes: 0 done, 1 the answer is no (a limit exceeded), 2 wrong input or command line.\n";
  return text;
}

// `--parse_only` means `--parse-only`: XLA's tools write underscores.
std::string with_dashes(const std::string& arg) {
  if (arg.size() < 3 || arg.compare(0, 2, "--") != 0) return arg;
  std::string result = arg;
  std::replace(result.begin(),
               result.begin() + static_cast<std::ptrdiff_t>(std::min(arg.find('='), arg.size())), '_', '-');
  return result;
}

// Reports the first argument that is neither an option nor a file name.
int report_unexpected(const Command& command, const CommandLine& declared, Streams streams) {
  const std::vector<std::string> rest = declared.remaining();
  const auto flag = std::find_if(rest.begin(), rest.end(),
                                 [](const std::string& a) { return a.size() > 1 && a[0] == '-'; });
  if (flag == rest.end()) {
    complain(fmt::format("unexpected argument '{}'", shown(rest.front())), "", streams);
    return kExitInput;
  }
  const std::string name = flag->substr(0, flag->find('='));
  complain(fmt::format("unknown option '{}'", shown(name)),
           hint_of_option(*flag, std::string(command.name), declared), streams);
  return kExitInput;
}

void tell_versions(const Command& command, Streams streams) {
  if (!streams.verbosity.verbose) return;
  const Result<IsaLevel> level = isa_level();
  detail(fmt::format("version {}, model {}, kernels of level {}; {}", HLOSIM_VERSION, kModelVersion,
                     level ? name(*level) : "?", command.name),
         streams);
}

int run_command(const Command& command, std::span<const std::string> given, Streams streams) {
  CommandLine declared(std::string(command.summary), fmt::format("hlosim {}", command.name));
  CommandLine first;
  // The returned functions own the variables that the options are parsed into.
  const std::function<int()> unused = declare_options(command, first, streams);
  const std::function<int()> action = declare_options(command, declared, streams);
  if (const std::span<const std::string_view> examples = examples_of(command.name); !examples.empty())
    declared.footer(fmt::format("\nExamples:\n  {}", fmt::join(examples, "\n  ")));
  std::vector<std::string> args(given.begin(), given.end());
  std::transform(args.begin(), std::find(args.begin(), args.end(), "--"), args.begin(), with_dashes);
  const std::optional<ConfiguredLine> line = configured(command, first, std::move(args), streams);
  if (!line) return kExitInput;
  const Result<std::string> help = declared.parse(line->args);
  if (help && !help->empty()) {
    streams.out << *help;
    return kExitSuccess;
  }
  if (!declared.remaining().empty()) return report_unexpected(command, declared, streams);
  if (!help) {
    const std::string& hint = help.error().hint;
    complain(help.error().message,
             hint.empty() ? fmt::format("`hlosim help {}` lists the options", command.name) : hint, streams);
    return kExitInput;
  }
  tell_versions(command, streams);
  const std::optional<Option> print_config = declared.find("--print-config");
  if (print_config && print_config->count() > 0) return print_run_config(command, declared, *line, streams);
  if (!read_limits(declared, streams) || !read_dimensions(declared, streams)) return kExitInput;
  const std::optional<Option> is_partial = declared.find("--partial");
  streams.partial = is_partial && is_partial->count() > 0;
  const ResourceGuard watch(streams, command.name != "run");
  const Step step("all of it", streams);
  const int code = action();
  return watch.interrupted() ? kExitInterrupted : code;
}

int run_completion(std::span<const std::string> args, Streams streams) {
  if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
    streams.out
        << "Usage: hlosim completion bash|zsh|fish\n\nA script that completes commands, options and their "
           "values:\n  eval \"$(hlosim completion bash)\"\n";
    return kExitSuccess;
  }
  std::optional<std::string> script;
  if (args.size() == 1) script = completion_script(args[0], describe_commands(kCommands, streams));
  if (!script) {
    complain("completion is for bash, zsh or fish", "", streams);
    return kExitInput;
  }
  streams.out << *script;
  return kExitSuccess;
}

int run_man(std::span<const std::string> args, Streams streams) {
  if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
    streams.out << "Usage: hlosim man\n\nThe manual as a man page: hlosim man | man -l -\n";
    return kExitSuccess;
  }
  if (!args.empty()) {
    complain(fmt::format("unexpected argument '{}'", shown(args[0])), "", streams);
    return kExitInput;
  }
  streams.out << man_page(describe_commands(kCommands, streams), HLOSIM_VERSION);
  return kExitSuccess;
}

int run_mcp(std::span<const std::string> args, Streams streams) {
  if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
    streams.out
        << "Usage: hlosim mcp\n\nServes the Model Context Protocol over standard input and output: report, "
           "explain, diff and check\nas tools for agents and editors. Tools read files inside the current "
           "folder only.\n";
    return kExitSuccess;
  }
  if (!args.empty()) {
    complain(fmt::format("unexpected argument '{}'", shown(args[0])), "", streams);
    return kExitInput;
  }
  serve_mcp(streams.in, streams.out, std::filesystem::current_path(), HLOSIM_VERSION,
            [](std::span<const std::string> line, std::string& out, std::string& err) {
              std::istringstream nothing;
              std::ostringstream results, messages;
              const int code = run(line, nothing, results, messages);
              out = results.str();
              err = messages.str();
              return code;
            });
  return kExitSuccess;
}

int run_help(std::span<const std::string> args, Streams streams) {
  if (args.empty()) {
    streams.out << overview();
    return kExitSuccess;
  }
  const std::string help[] = {"--help"};
  if (args[0] == "completion") return run_completion(help, streams);
  if (args[0] == "man") return run_man(help, streams);
  if (args[0] == "mcp") return run_mcp(help, streams);
  const CommandMatch match = find_command(kCommands, args);
  if (match.command) return run_command(*match.command, help, streams);
  if (commands_of_group(kCommands, args[0]).empty())
    return report_no_command("command", args[0], "", streams);
  if (args.size() > 1) return report_no_command("command", args[1], args[0], streams);
  streams.out << group_overview(args[0]);
  return kExitSuccess;
}

/// `hlosim -q report module.hlo` means `hlosim report -q module.hlo`.
std::vector<std::string> with_command_first(std::span<const std::string> args) {
  std::vector<std::string> result(args.begin(), args.end());
  const auto is_common = [](const std::string& arg) {
    return arg == "-q" || arg == "-v" || arg == "--quiet" || arg == "--verbose" ||
           arg.starts_with("--color=");
  };
  const auto word = std::find_if_not(result.begin(), result.end(), is_common);
  const std::vector<std::string> rest(word, result.end());
  const CommandMatch match = find_command(kCommands, rest);
  if (match.command) std::rotate(result.begin(), word, word + static_cast<std::ptrdiff_t>(match.words));
  return result;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run(std::span<const std::string> given, std::istream& in, std::ostream& out, std::ostream& err,
        Ranks& ranks) {
  SourcePtr standard_input;
  Verbosity verbosity;
  Limits limits;
  Stop stop;
  bool partial = false;
  stablehlo::ConvertOptions mlir;
  FilesInUse files;
  const Streams streams{in, out, err, ranks, standard_input, verbosity, limits, stop, mlir, partial, files};
  const std::vector<std::string> line = with_command_first(given);
  const std::span<const std::string> args = line;
  const CommandMatch match = find_command(kCommands, args);
  if (ranks.size() > 1 && (!match.command || !match.command->on_ranks)) {
    if (ranks.rank() == 0)
      err << fmt::format(
          "hlosim: error: {} does not run on several ranks\n  hint: `mpirun -n 4 hlosim run …` is\n",
          args.empty() ? "nothing" : fmt::format("'{}'", shown(args[0])));
    return kExitInput;
  }
  if (args.empty()) {
    err << overview();
    return kExitInput;
  }
  if (args[0] == "--help" || args[0] == "-h") return run_help({}, streams);
  if (args[0] == "help") return run_help(args.subspan(1), streams);
  if (args[0] == "completion") return run_completion(args.subspan(1), streams);
  if (args[0] == "man") return run_man(args.subspan(1), streams);
  if (args[0] == "mcp") return run_mcp(args.subspan(1), streams);
  if (args[0] == "--version") {
    out << "hlosim " << HLOSIM_VERSION << "\n";
    return kExitSuccess;
  }
  if (match.command) return run_command(*match.command, args.subspan(match.words), streams);
  if (!commands_of_group(kCommands, args[0]).empty()) return run_group(args, streams);
  std::error_code ignored;
  const bool is_word = args[0].find_first_of("-./") == std::string::npos;
  if (is_word && !std::filesystem::exists(args[0], ignored))
    return report_no_command("command or file", args[0], "", streams);
  const std::string report[] = {"report"};
  return run_command(*find_command(kCommands, report).command, args, streams);
}

}  // namespace hlosim
