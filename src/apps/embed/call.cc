#include "embed/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/command_lookup.h"
#include "console/input.h"
#include "console/limit_options.h"
#include "console/module_files.h"
#include "console/verbosity.h"
#include "dist/ranks.h"

namespace hlosim {
namespace {

/// All that Streams refers to.
class CallStreams {
 public:
  CallStreams(Exchange exchange, Stop& stop) : exchange_(std::move(exchange)), stop_(stop) {
    exchange_.on_diagnostic = [this](const Diagnostic& finding) { findings_.push_back(finding); };
    if (!exchange_.outputs) exchange_.outputs = [](const std::string&, std::span<const Array>) {};
  }
  CallStreams(const CallStreams&) = delete;
  CallStreams& operator=(const CallStreams&) = delete;

  Streams streams() {
    return {in_,     out_,  err_,  lone_rank(), standard_input_, verbosity_,
            limits_, stop_, mlir_, partial_,    files_,          &exchange_};
  }
  CallResult result(int code) { return {code, std::move(out_).str(), std::move(err_).str(), findings_}; }
  std::vector<Diagnostic>& findings() { return findings_; }

 private:
  Exchange exchange_;
  Stop& stop_;
  std::istringstream in_;
  std::ostringstream out_, err_;
  SourcePtr standard_input_;
  Verbosity verbosity_;
  Limits limits_;
  stablehlo::ConvertOptions mlir_;
  bool partial_ = false;
  FilesInUse files_;
  std::vector<Diagnostic> findings_;
};

/// The names that it may have been meant to be.
std::vector<std::string> option_names(const CommandLine& declared) {
  std::vector<std::string> names;
  for (const Option& option : declared.options())
    for (const std::string& name : option.long_names()) names.push_back("--" + name);
  return names;
}

/// Sets what `declared` declares. False, with what is wrong told.
bool parse(CommandLine& declared, std::span<const std::string> args, const std::string& command,
           Streams streams) {
  const Result<std::string> help = declared.parse({args.begin(), args.end()});
  if (help && !help->empty()) {
    streams.out << *help;
    return false;
  }
  if (const std::vector<std::string> rest = declared.remaining(); !rest.empty()) {
    const std::string name = rest.front().substr(0, rest.front().find('='));
    const std::vector<std::string> names = option_names(declared);
    complain(fmt::format("{} has no option '{}'", command, shown(name)),
             did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())), streams);
    return false;
  }
  if (!help) complain(help.error().message, "", streams);
  return help.has_value();
}

/// What every command that reads modules takes. False, with what is wrong told.
bool read_common(const CommandLine& declared, bool runs, Streams streams) {
  if (!read_limits(declared, streams) || !read_dimensions(declared, streams)) return false;
  const std::optional<Option> partial = declared.find("--partial");
  streams.partial = partial && partial->count() > 0;
  if (streams.limits.seconds) complain("--max-seconds is not for calls", "the caller has a Stop", streams);
  if (streams.limits.memory && !runs) complain("--max-memory is for run only", "", streams);
  return !streams.limits.seconds && (runs || !streams.limits.memory);
}

int run_call(std::span<const std::string> line, Streams streams) {
  const CommandMatch match = find_command(commands(), line);
  if (!match.command) {
    complain(fmt::format("no command '{}'", line.empty() ? "" : shown(line[0])), "", streams);
    return kExitInput;
  }
  const Command& command = *match.command;
  CommandLine declared(std::string(command.summary), fmt::format("hlosim {}", command.name));
  const std::function<int()> action = command.declare(declared, streams);
  if (command.reads_modules) declare_limits(declared, streams.limits);
  if (!parse(declared, line.subspan(match.words), std::string(command.name), streams)) return kExitInput;
  if (!read_common(declared, command.name == "run", streams)) return kExitInput;
  return action();
}

}  // namespace

CallResult call(std::span<const std::string> line, Exchange exchange, Stop& stop) {
  CallStreams all(std::move(exchange), stop);
  const int code = run_call(line, all.streams());
  return all.result(code);
}

LoadResult load_for_calls(const std::string& path, const SourcePtr& source,
                          std::span<const std::string> options) {
  Stop stop;
  Exchange exchange;
  if (source) exchange.inputs.push_back({path, source, {}});
  CallStreams all(std::move(exchange), stop);
  const Streams streams = all.streams();
  LoadResult loaded;
  CommandLine declared;
  declare_limits(declared, streams.limits);
  std::optional<std::vector<ModuleFile>> files;
  if (parse(declared, options, "load", streams) && read_common(declared, false, streams)) {
    if (source)
      files = {ModuleFile{path, std::nullopt}};
    else
      files = module_files({path}, streams);
  }
  bool ok = files.has_value();
  for (size_t i = 0; ok && i < files->size(); ++i) {
    ModuleInput input = read_module_input((*files)[i].path, false, streams);
    ok = input.ok;
    for (Module& module : input.modules)
      loaded.modules.push_back(std::make_shared<const Module>(std::move(module)));
  }
  if (!ok) loaded.modules.clear();
  loaded.findings = std::move(all.findings());
  return loaded;
}

}  // namespace hlosim
