#include "console/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/files_in_use.h"
#include "base/number_text.h"
#include "base/text.h"
#include "console/help_text.h"

namespace hlosim {
namespace {

/// The words of a check that allows some: "TEXT:{text,json}".
std::vector<std::string> words_of(const std::string& type) {
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::vector<std::string> words = split(std::string_view(type).substr(open + 1, close - open - 1), ',');
  std::erase(words, "");
  return words;
}

template <class T>
constexpr T kAnyNumber = std::numeric_limits<T>::max();

/// What is wrong with a number that T has no room for; empty: it isn't one.
template <class T>
std::string too_large(const std::string& text, T low, T high) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool overflows =
      std::is_integral_v<T> && error == std::errc::result_out_of_range && end == text.data() + text.size();
  if (!overflows && !is_number_beyond(text, static_cast<double>(kAnyNumber<T>))) return {};
  if constexpr (std::is_integral_v<T>)
    return fmt::format("'{}' is out of range: expected a whole number from {} to {}", shown(text), low, high);
  else
    return fmt::format("'{}' is out of range: expected a number from {:.2g} to {:.2g}", shown(text), low,
                       high);
}

template <class T>
std::function<std::string(const std::string&)> whole_number(T low, T high) {
  return [low, high](const std::string& text) {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high)
      return std::string();
    if (const std::string problem = too_large<T>(text, low, high); !problem.empty()) return problem;
    const std::string range =
        high == kAnyNumber<T> ? fmt::format("{} on", low) : fmt::format("{} to {}", low, high);
    return fmt::format("'{}' is not a whole number from {}", shown(text), range);
  };
}

}  // namespace

Option Option::required(bool wanted) const {
  option_->required(wanted);
  return *this;
}

Option Option::one_of(std::initializer_list<const char*> words) const {
  return one_of(std::span(words.begin(), words.size()));
}

Option Option::one_of(std::span<const char* const> words) const {
  const std::vector<std::string> allowed(words.begin(), words.end());
  // words() reads them from the description.
  option_->check(CLI::Validator(
      [allowed](std::string& text) {
        if (std::ranges::find(allowed, text) != allowed.end()) return std::string();
        return fmt::format("'{}' is none of {}", shown(text), fmt::join(allowed, ", "));
      },
      fmt::format("{{{}}}", fmt::join(allowed, ","))));
  return *this;
}

Option Option::from(int64_t low) const { return between(low, kAnyNumber<int64_t>); }

Option Option::between(int64_t low, int64_t high) const { return check(whole_number(low, high)); }

Option Option::not_negative() const {
  return check([](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool right =
        error == std::errc() && end == text.data() + text.size() && value >= 0 && std::isfinite(value);
    if (right) return std::string();
    if (std::string problem = too_large<double>(text, 0, kAnyNumber<double>); !problem.empty())
      return problem;
    return fmt::format("'{}' is not a number from 0 on", shown(text));
  });
}

Option Option::check(const std::function<std::string(const std::string&)>& problem) const {
  option_->check(problem);
  return *this;
}

Option Option::writes_file(FilesInUse& files) const {
  return check([&files, what = (long_names().empty() ? "" : "--") + name()](const std::string& path) {
    const Result<void> used = files.writes(what, path);
    return used ? std::string()
                : used.error().message.substr(what.size() +
                                              2);  // what is wrong with an option is told with its name
  });
}

Option Option::one_value_each() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::show_default() const {
  option_->capture_default_str();
  return *this;
}

Option Option::group(const std::string& name) const {
  option_->group(name);
  return *this;
}

Option Option::description(const std::string& text) const {
  option_->description(text);
  return *this;
}

const std::vector<std::string>& Option::long_names() const { return option_->get_lnames(); }
const std::vector<std::string>& Option::short_names() const { return option_->get_snames(); }
std::string Option::name() const { return long_names().empty() ? option_->get_name() : long_names().front(); }
const std::string& Option::description() const { return option_->get_description(); }
std::string Option::default_text() const { return option_->get_default_str(); }
std::vector<std::string> Option::words() const { return words_of(option_->get_type_name()); }
int Option::most_values() const { return option_->get_items_expected_max(); }
size_t Option::count() const { return option_->count(); }
std::vector<std::string> Option::values() const { return option_->results(); }

CommandLine::CommandLine(const std::string& summary, const std::string& name)
    : app_(std::make_unique<CLI::App>(summary, name)) {
  app_->allow_extras();  // whoever parses says what is wrong with them
}

CommandLine::~CommandLine() = default;

template <class T>
Option CommandLine::add_option(const std::string& names, T& value, const std::string& description) {
  Option option(app_->add_option(names, value, description));
  if constexpr (std::is_same_v<T, uint64_t>) option.check(whole_number<T>(0, kAnyNumber<T>));
  return option;
}

template Option CommandLine::add_option(const std::string&, std::string&, const std::string&);
template Option CommandLine::add_option(const std::string&, int64_t&, const std::string&);
template Option CommandLine::add_option(const std::string&, uint64_t&, const std::string&);
template Option CommandLine::add_option(const std::string&, double&, const std::string&);
template Option CommandLine::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option CommandLine::add_option(const std::string&, std::optional<int64_t>&, const std::string&);
template Option CommandLine::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option CommandLine::add_option(const std::string&, std::vector<std::string>&, const std::string&);

Option CommandLine::add_option(const std::string& names, const std::string& description) {
  return Option(app_->add_option(names)->description(description));
}

Option CommandLine::add_flag(const std::string& names, bool& value, const std::string& description) {
  return Option(app_->add_flag(names, value, description));
}

Option CommandLine::add_flag(const std::string& names, const std::string& description) {
  return Option(app_->add_flag(names)->description(description));
}

void CommandLine::footer(const std::string& text) { app_->footer(text); }

void CommandLine::format_by_suffix(std::string& format, const std::string& output) {
  format_ = &format, output_ = &output;
}

Option CommandLine::option(const std::string& name) const { return Option(app_->get_option(name)); }

std::optional<Option> CommandLine::find(const std::string& name) const {
  CLI::Option* option = app_->get_option_no_throw(name);
  return option ? std::optional(Option(option)) : std::nullopt;
}

std::vector<Option> CommandLine::options() const {
  std::vector<Option> options;
  for (CLI::Option* option : app_->get_options()) options.emplace_back(option);
  return options;
}

namespace {

constexpr std::string_view kPageForPdf = "--format=html writes a page that browsers print as PDF";

/// For a value that is none of its option's words.
std::string value_hint(const CommandLine& line) {
  for (const Option& option : line.options()) {
    const std::vector<std::string> words = option.words();
    if (words.empty()) continue;
    const std::vector<std::string_view> allowed(words.begin(), words.end());
    for (const std::string& value : option.values()) {
      if (std::ranges::find(words, value) != words.end()) continue;
      if (value == "pdf" && std::ranges::find(words, "html") != words.end()) return std::string(kPageForPdf);
      if (std::string hint = did_you_mean(value, allowed); !hint.empty()) return hint;
    }
  }
  return {};
}

/// An option with more or fewer values than it takes.
Diagnostic wrong_count(const CommandLine& line, const std::string& problem) {
  const std::optional<Option> option = line.find(problem.substr(0, problem.find(':')));
  if (!option) return failure(problem).value();
  const std::string name = "--" + option->name();
  if (option->count() > 1)
    return failure(fmt::format("{} is given {} times, expected once", name, option->count())).value();
  return failure(fmt::format("{}: a value is missing: {}", name, option->description())).value();
}

}  // namespace

/// `--name=` with nothing behind: CLI11 would take the next word for the value.
Result<void> CommandLine::refuse_empty_values(const std::vector<std::string>& args) const {
  for (const std::string& arg : args) {
    if (arg == "--") break;
    if (!arg.starts_with("--") || arg.find('=') + 1 != arg.size()) continue;
    const std::optional<Option> option = find(arg.substr(0, arg.size() - 1));
    if (!option) continue;
    if (option->most_values() == 0)
      return failure(fmt::format("'{}' has nothing behind the '=', expected none: it takes no value", arg));
    const std::vector<std::string> words = option->words();
    return failure(fmt::format("'{}' has nothing behind the '=', expected {}", arg,
                               words.empty() ? fmt::format("a value: {}", option->description())
                                             : fmt::format("{}", fmt::join(words, ", "))));
  }
  return {};
}

Result<void> CommandLine::take_format_of_suffix() const {
  static constexpr std::pair<std::string_view, std::string_view> kSuffixes[] = {
      {".json", "json"},   {".csv", "csv"}, {".html", "html"},
      {".md", "markdown"}, {".svg", "svg"}, {".pdf", "pdf"}};
  if (!format_ || option("--format").count() > 0) return {};
  const std::vector<std::string> words = option("--format").words();
  for (const auto& [suffix, word] : kSuffixes) {
    if (!output_->ends_with(suffix)) continue;
    if (word == "pdf" && std::ranges::find(words, "html") != words.end())
      return failure(fmt::format("--output: hlosim writes no PDF, but '{}' ends in .pdf", shown(*output_)),
                     std::string(kPageForPdf));
    if (std::ranges::find(words, word) == words.end())
      return failure(fmt::format("--output: '{}' ends in {}, expected one of the formats {}", shown(*output_),
                                 suffix, fmt::join(words, ", ")),
                     find(fmt::format("--{}", word)) ? fmt::format("--{}=FILE writes it", word)
                                                     : "--format=text writes text into a file of any name");
    *format_ = word;
  }
  return {};
}

Result<std::string> CommandLine::parse(const std::vector<std::string>& args) {
  if (Result<void> fine = refuse_empty_values(args); !fine) return tl::unexpected(std::move(fine.error()));
  try {
    app_->parse(std::vector<std::string>(args.rbegin(), args.rend()));  // the order that CLI11 takes
  } catch (const CLI::Success&) {                                       // --help
    return help_text(*app_, app_->get_footer());
  } catch (const CLI::ArgumentMismatch& error) {
    return tl::unexpected(wrong_count(*this, error.what()));
  } catch (const CLI::Error& error) {
    return failure(error.what(), value_hint(*this));
  }
  if (const std::optional<Option> output = find("--output"))
    if (std::ranges::count(output->values(), std::string()) > 0)
      return failure("--output: '' is not a name of a file");
  if (Result<void> taken = take_format_of_suffix(); !taken) return tl::unexpected(std::move(taken.error()));
  return std::string();
}

std::vector<std::string> CommandLine::remaining() const {
  std::vector<std::string> rest = app_->remaining();
  std::erase(rest, "--");
  return rest;
}

}  // namespace hlosim
