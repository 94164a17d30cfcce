#include "console/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "base/value.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/limit_options.h"
#include "console/streams.h"
#include "console/verbosity.h"
#include "estimate/named_slice.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr std::string_view kHeader = "# hlosim configuration", kDeviceMark = "\n---\n";
constexpr size_t kOriginColumn = 44;

bool is_run_config(std::string_view text) { return text.starts_with(kHeader); }

/// Neither help nor what stands elsewhere: the device has a document of its own, knobs a section.
bool is_listed(const Option& option, bool has_knobs) {
  const std::string name = option.name();
  return name != "help" && name != "config" && name != "print-config" && name != "device" && name != "set" &&
         !(has_knobs && name == "knob");
}

std::string yaml_scalar(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '/';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain) ? text : yaml_quoted(text);
}

std::string yaml_values(const Option& option) {
  const std::vector<std::string> results = option.values();
  if (option.most_values() == 0) return "true";
  if (option.most_values() == 1 && results.size() == 1) return yaml_scalar(results.front());
  std::vector<std::string> texts;
  for (const std::string& one : results) texts.push_back(yaml_scalar(one));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

void add_line(std::string& out, const std::string& text, std::string_view origin) {
  out += fmt::format("{:<{}} # {}\n", text, kOriginColumn, origin);
}

/// `topology`: that the device's name says, or empty.
std::string options_yaml(const CommandLine& declared, const ConfiguredLine& line, bool has_knobs,
                         const std::string& topology) {
  std::string out = "options:\n";
  for (const Option& option : declared.options()) {
    if (!is_listed(option, has_knobs)) continue;
    const std::string name = option.name();
    const bool is_flag = option.most_values() == 0;
    if (option.count() > 0)
      add_line(out, fmt::format("  {}: {}", name, yaml_values(option)),
               line.added.contains(name) ? line.file : "command line");
    else if (name == "topology" && !topology.empty())
      add_line(out, fmt::format("  topology: {}", yaml_scalar(topology)), "--device");
    else if (!option.default_text().empty() && !is_flag)
      add_line(out, fmt::format("  {}: {}", name, yaml_scalar(option.default_text())), "default");
    else
      out += fmt::format("  # {}: {}\n", name, is_flag ? "false" : "not set");
  }
  return out;
}

std::string knobs_yaml(const std::vector<EffectiveKnob>& knobs) {
  const bool all_default =
      std::all_of(knobs.begin(), knobs.end(), [](const auto& knob) { return knob.is_default; });
  std::string out = all_default ? "# knobs:\n" : "knobs:\n";
  for (const EffectiveKnob& knob : knobs)
    add_line(out, fmt::format("  {}{}: {}", knob.is_default ? "# " : "", knob.name, yaml_scalar(knob.value)),
             knob.is_default ? "default" : knob.origin);
  return out;
}

std::string text_of(const CommandLine& declared, const char* option) {
  const std::vector<std::string> results = declared.option(option).values();
  return results.empty() ? "" : results.back();
}

/// From a file's YAML to arguments.
class Reader {
 public:
  Reader(const Command& command, const CommandLine& declared, ConfiguredLine& line, Streams streams)
      : command_(command), declared_(declared), line_(line), streams_(streams) {
    for (const Option& option : declared.options())
      if (option.long_names().empty() && option.count() > 0) positionals_given_ = true;
  }

  bool read(const SourcePtr& source) {
    const std::string_view text = source->text();
    const size_t mark = text.find(kDeviceMark);
    const auto first = std::make_shared<const SourceFile>(source->name(), std::string(text.substr(0, mark)));
    DiagnosticList problems;
    const std::optional<Value> root = parse_yaml(first, problems);
    tell(problems, streams_);
    if (!root) return false;
    const Value* name = root->find("command");
    if (!is_run_config(text) || !name) {
      complain(fmt::format("--config: '{}' is not a configuration of a run", shown(line_.file)),
               "--print-config writes one", streams_);
      return false;
    }
    if (name->text != command_.name)
      return wrong(*name, fmt::format("a configuration of `hlosim {}`, not of `hlosim {}`", shown(name->text),
                                      command_.name));
    for (const Value& item : root->items)
      if (!section(item)) return false;
    if (mark != std::string_view::npos && declared_.option("--device").count() == 0)
      options_.push_back("--device=" + line_.file);
    options_.insert(options_.end(), line_.args.begin(), line_.args.end());
    line_.args = std::move(options_);
    if (!positionals_.empty()) line_.args.emplace_back("--");
    line_.args.insert(line_.args.end(), positionals_.begin(), positionals_.end());
    return true;
  }

 private:
  bool wrong(const Value& value, std::string message, std::string hint = {}) {
    tell(error_at(value, std::move(message), std::move(hint)), streams_);
    return false;
  }

  bool section(const Value& item) {
    if (item.key == "command") return true;
    if (item.key != "options" && item.key != "knobs")
      return wrong(item, fmt::format("unknown key \"{}\"", shown(item.key)),
                   "there are command, options and knobs");
    if (!item.is_map() && !item.is_null())
      return wrong(item, fmt::format("expected a section, found {}", described(item)));
    for (const Value& value : item.items)
      if (!(item.key == "options" ? option(value) : knob(value))) return false;
    return true;
  }

  bool knob(const Value& value) {
    if (!declared_.find("--knob"))
      return wrong(value, fmt::format("`hlosim {}` has no knobs", command_.name));
    if (!value.is_scalar()) return wrong(value, fmt::format("expected a value, found {}", described(value)));
    options_.push_back(fmt::format("--knob={}={}", value.key, value.text));
    return true;
  }

  bool option(const Value& value) {
    std::optional<Option> known = declared_.find("--" + value.key);
    const bool is_positional = !known;
    if (!known) known = declared_.find(value.key);
    if (!known || !is_listed(*known, false)) {
      std::vector<std::string> names;
      for (const Option& one : declared_.options()) names.push_back(one.name());
      return wrong(value, fmt::format("`hlosim {}` has no option \"{}\"", command_.name, shown(value.key)),
                   did_you_mean(value.key, std::vector<std::string_view>(names.begin(), names.end())));
    }
    if (is_positional ? positionals_given_ : known->count() > 0) return true;  // the command line wins
    std::vector<std::string> texts;
    if (value.is_scalar()) texts.push_back(value.text);
    for (const Value& item : value.items) {
      if (!value.is_list() || !item.is_scalar())
        return wrong(item, fmt::format("expected a value, found {}", described(item)));
      texts.push_back(item.text);
    }
    line_.added.insert(known->name());
    for (const std::string& text : texts) {
      if (is_positional)
        positionals_.push_back(text);
      else
        options_.push_back(fmt::format("--{}={}", value.key, text));
    }
    return true;
  }

  const Command& command_;
  const CommandLine& declared_;
  ConfiguredLine& line_;
  Streams streams_;
  bool positionals_given_ = false;
  std::vector<std::string> options_, positionals_;
};

}  // namespace

std::function<int()> declare_options(const Command& command, CommandLine& declared, Streams streams) {
  std::function<int()> action = command.declare(declared, streams);
  if (declared.find("--device") && declared.find("--set")) {
    declared.add_option("--config",
                        "Options and device written by --print-config; the command line overrides them");
    declared.add_flag("--print-config",
                      "Print the options with the source of each, the knobs and the device, and exit");
  }
  if (command.reads_modules) declare_limits(declared, streams.limits);
  declare_verbosity(declared, streams.verbosity);
  return action;
}

std::optional<ConfiguredLine> configured(const Command& command, CommandLine& first,
                                         std::vector<std::string> args, Streams streams) {
  ConfiguredLine line;
  line.args = std::move(args);
  const bool asks = std::any_of(line.args.begin(), line.args.end(),
                                [](const std::string& arg) { return arg.starts_with("--config"); });
  if (!asks || !first.find("--print-config")) return line;
  (void)first.parse(
      line.args);  // it may be complete with the file only; what is wrong is reported when it is
  line.file = text_of(first, "--config");
  if (line.file.empty()) return line;
  const Result<SourcePtr> source = read_input(line.file, streams);
  if (!source) {
    tell(source.error(), streams);
    return std::nullopt;
  }
  if (!Reader(command, first, line, streams).read(*source)) return std::nullopt;
  return line;
}

namespace {

DeviceChoices choices_of(const CommandLine& declared) {
  return {declared.option("--set").values(), declared.option("--xla-flags").values()};
}

std::string device_document(const CommandLine& declared, const std::string& name, const Device& device) {
  const DeviceChoices choices = choices_of(declared);
  const auto with = [](std::string_view option, const std::vector<std::string>& values) {
    return values.empty()
               ? ""
               : fmt::format(", with {} {}", option, printable(fmt::format("{}", fmt::join(values, ", "))));
  };
  return fmt::format("---\n# The device: {}, from {}{}{}; fingerprint {}\n{}", shown(name), device.file,
                     with("--xla-flags", choices.xla_flags), with("--set", choices.overrides),
                     device.fingerprint(), to_yaml(device));
}

}  // namespace

int print_run_config(const Command& command, const CommandLine& declared, const ConfiguredLine& line,
                     Streams streams) {
  std::string out;
  const TextBuilder print{out};
  print("{}: `hlosim {} --config=FILE` runs it again (version {})\n", kHeader, command.name, HLOSIM_VERSION);
  print("command: {}\n", yaml_scalar(std::string(command.name)));
  const std::string device_name = text_of(declared, "--device");
  std::optional<Device> device;
  if (!device_name.empty()) {
    device = read_device(device_name, choices_of(declared), streams);
    if (!device) return kExitInput;
  }
  const bool has_knobs = streams.verbosity.knobs != nullptr;
  out += options_yaml(declared, line, has_knobs, device ? device->topology : "");
  if (has_knobs) {
    const Result<std::vector<EffectiveKnob>> knobs = streams.verbosity.knobs();
    if (!knobs) {
      tell(knobs.error(), streams);
      return kExitInput;
    }
    out += knobs_yaml(*knobs);
  }
  if (device) out += device_document(declared, device_name, *device);
  return write_output("-", out, streams) ? kExitSuccess : kExitInput;
}

SourcePtr device_of_run_config(const std::string& name, Streams streams) {
  std::error_code ignored;
  if (name == "-") {
    const Result<SourcePtr> source = read_input(name, streams);
    if (!source || !is_run_config((*source)->text())) return nullptr;
  } else {
    if (!std::filesystem::is_regular_file(name, ignored)) return nullptr;
    std::ifstream file(name, std::ios::binary);
    std::string start(kHeader.size(), '\0');
    if (!file.read(start.data(), static_cast<std::streamsize>(start.size())) || !is_run_config(start))
      return nullptr;
  }
  const Result<SourcePtr> source = read_input(name, streams);
  if (!source) return nullptr;
  const std::string_view text = (*source)->text();
  const size_t mark = text.find(kDeviceMark);
  if (mark == std::string_view::npos) return nullptr;
  const std::string_view before = text.substr(0, mark + kDeviceMark.size());
  std::string device(static_cast<size_t>(std::count(before.begin(), before.end(), '\n')), '\n');
  device += text.substr(before.size());
  return std::make_shared<const SourceFile>((*source)->name(), std::move(device));
}

}  // namespace hlosim
