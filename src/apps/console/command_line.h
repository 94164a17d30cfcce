// What a command takes on its line, and what a line gave. The one place that knows the library that parses
// lines: making its templates takes a compiler longer than most of our files.
//
//   CommandLine line("Read and verify modules.", "hlosim check");
//   line.add_option("FILE", files, "HLO text files").required();
//   line.add_option("--format", format, "text or json").one_of({"text", "json"}).show_default();
//   const Result<std::string> help = line.parse(args);
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hlosim {

class FilesInUse;  // base/files_in_use.h

/// The most that options of these names take: more threads than any machine has, and offsets that still add
/// up.
inline constexpr int64_t kMostThreads = 4096;
inline constexpr int64_t kMostAlignment = int64_t{1} << 30;

/// An option, a flag or a positional argument; a handle, good as long as its CommandLine lives.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  // What it takes.
  Option required(bool wanted = true) const;
  Option one_of(std::initializer_list<const char*> words) const;
  Option one_of(std::span<const char* const> words) const;
  /// A whole number from `low` on.
  Option from(int64_t low) const;
  Option between(int64_t low, int64_t high) const;
  /// Any number from 0 on that is finite.
  Option not_negative() const;
  /// `problem` says what is wrong with a text; empty: nothing.
  Option check(const std::function<std::string(const std::string&)>& problem) const;
  /// Each mention takes one value: what follows is no further one.
  Option one_value_each() const;
  Option excludes(Option other) const;
  /// A file that the command writes: `files` must have it for nothing else.
  Option writes_file(FilesInUse& files) const;

  // What help says of it.
  /// The value that its variable has now.
  Option show_default() const;
  Option group(const std::string& name) const;
  Option description(const std::string& text) const;

  /// Without dashes; a positional argument has none.
  const std::vector<std::string>& long_names() const;
  const std::vector<std::string>& short_names() const;
  /// The first long name, or that of a positional argument.
  std::string name() const;
  const std::string& description() const;
  /// Empty: none, or not shown.
  std::string default_text() const;
  /// The words of one_of(); empty: any text.
  std::vector<std::string> words() const;
  /// 0: a flag.
  int most_values() const;

  // What the line gave.
  size_t count() const;
  std::vector<std::string> values() const;

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  /// Help says `summary`, and `name` in its usage.
  explicit CommandLine(const std::string& summary = "", const std::string& name = "");
  ~CommandLine();

  /// `names`: "--name", "-n,--name", or "NAME" of a positional argument. T: std::string, int64_t, uint64_t
  /// (a whole number from 0 on), double, std::optional of one of these, std::vector<std::string>.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& description);
  /// Without a variable: values() has them.
  Option add_option(const std::string& names, const std::string& description);
  Option add_flag(const std::string& names, bool& value, const std::string& description);
  Option add_flag(const std::string& names, const std::string& description);
  /// What stands at the end of help.
  void footer(const std::string& text);
  /// Without --format the suffix of --output decides: .json, .csv, .html, .md, .svg. parse() refuses a suffix
  /// that --format has no word for. The variables are those of the two options.
  void format_by_suffix(std::string& format, const std::string& output);

  /// One that was added: "--name", "NAME". With option() it has to be there.
  Option option(const std::string& name) const;
  std::optional<Option> find(const std::string& name) const;
  /// All, in the order of their declaration; --help is the first.
  std::vector<Option> options() const;

  /// Sets the variables. The help that was asked for, else empty; or what is wrong.
  Result<std::string> parse(const std::vector<std::string>& args);
  /// What no option or positional argument took.
  std::vector<std::string> remaining() const;

 private:
  Result<void> refuse_empty_values(const std::vector<std::string>& args) const;
  Result<void> take_format_of_suffix() const;

  std::unique_ptr<CLI::App> app_;
  std::string* format_ = nullptr;  // of format_by_suffix()
  const std::string* output_ = nullptr;
};

}  // namespace hlosim
