#include "console/verbosity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "base/text.h"
#include "base/units.h"
#include "console/command_line.h"
#include "console/exchange.h"
#include "console/text_output.h"

namespace hlosim {
namespace {

/// By $NO_COLOR's own rule an empty variable is none.
bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value != '\0';
}

bool is_dumb() {
  const char* terminal = std::getenv("TERM");
  return terminal && std::string_view(terminal) == "dumb";
}

Paint paint_for(const Verbosity& verbosity, bool terminal) {
  if (verbosity.color != "auto") return {verbosity.color == "always"};
  return {terminal && !is_set("NO_COLOR") && !is_dumb()};
}

/// render()'s text: where it is wrong and the caret stand out.
std::string painted(const Diagnostic& diagnostic, Paint paint) {
  std::string text = render(diagnostic);
  if (!paint.on) return text;
  const std::string_view word = diagnostic.severity == Severity::kError     ? "error:"
                                : diagnostic.severity == Severity::kWarning ? "warning:"
                                                                            : "note:";
  const auto emphasised = [&](std::string_view part) {
    return diagnostic.severity == Severity::kError ? paint.bad(part) : paint.warning(part);
  };
  const std::string message = shown(diagnostic.message, diagnostic.message.size());
  const size_t at = text.find(fmt::format("{} {}", word, message));
  if (at == std::string::npos) return text;
  const size_t message_end = at + word.size() + 1 + message.size();
  std::string out = paint.strong(std::string_view(text).substr(0, at)) + emphasised(word) + " " + message;
  std::string_view rest = std::string_view(text).substr(message_end);
  if (diagnostic.source) {  // "\n", the line, then blanks and the caret
    const size_t caret = rest.find('^', rest.find('\n', 1));
    if (caret != std::string_view::npos) {
      (out += rest.substr(0, caret)) += paint.good("^");
      rest.remove_prefix(caret + 1);
    }
  }
  constexpr std::string_view kHint = "  hint: ";
  if (const size_t hint = rest.find(kHint); hint != std::string_view::npos && !diagnostic.hint.empty()) {
    (out += rest.substr(0, hint)) += paint.strong(kHint);
    rest.remove_prefix(hint + kHint.size());
  }
  return out += rest;
}

}  // namespace

void declare_verbosity(CommandLine& line, Verbosity& verbosity) {
  line.add_option("--color", verbosity.color, "Colors: auto (on a terminal), always or never")
      .one_of({"auto", "always", "never"})
      .show_default()
      .group("For every command");
  const Option quiet = line.add_flag("-q,--quiet", verbosity.quiet, "Print results and errors only")
                           .group("For every command");
  line.add_flag("-v,--verbose", verbosity.verbose, "Print versions, files read and the time of each step")
      .group("For every command")
      .excludes(quiet);
}

Paint output_paint(const std::string& path, Streams streams) {
  if (path != "-") return {};
  return paint_for(streams.verbosity, writes_to_terminal(streams));
}

Paint error_paint(Streams streams) {
  return paint_for(streams.verbosity, &streams.err == &std::cerr && ::isatty(STDERR_FILENO) != 0);
}

void tell(const Diagnostic& diagnostic, Streams streams) {
  if (streams.exchange) return streams.exchange->on_diagnostic(diagnostic);
  if (streams.verbosity.quiet && diagnostic.severity != Severity::kError) return;
  streams.err << printable(painted(diagnostic, error_paint(streams)), error_paint(streams).on);
}

void tell(const DiagnosticList& diagnostics, Streams streams) {
  for (const Diagnostic& diagnostic : diagnostics.items()) tell(diagnostic, streams);
}

void complain(std::string message, std::string hint, Streams streams) {
  tell(failure(std::move(message), std::move(hint)).value(), streams);
}

void warn(std::string message, Streams streams) {
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  warning.message = std::move(message);
  tell(warning, streams);
}

void note(std::string_view text, Streams streams) {
  if (!streams.verbosity.quiet) streams.err << fmt::format("hlosim: {}\n", shown(text, text.size()));
}

void detail(std::string_view text, Streams streams) {
  if (!streams.verbosity.verbose) return;
  const std::string line = fmt::format("hlosim: {}", shown(text, text.size()));
  streams.err << error_paint(streams).faint(line) << "\n";
}

UnderWay::Part::Part(UnderWay& all, const std::string& what) : all_(all) {
  const std::lock_guard lock(all_.mutex_);
  all_.steps_.push_back(what);
}

UnderWay::Part::~Part() {
  const std::lock_guard lock(all_.mutex_);
  all_.steps_.pop_back();
}

std::string UnderWay::text() const {
  const std::lock_guard lock(mutex_);
  return steps_.empty() ? "" : fmt::format("under way: {}", fmt::join(steps_, ", "));
}

Step::Step(std::string what, Streams streams)
    : what_(std::move(what)),
      streams_(streams),
      under_way_(streams.verbosity.under_way, what_),
      start_(std::chrono::steady_clock::now()) {}

Step::~Step() {
  if (!streams_.verbosity.verbose) return;
  const auto passed = std::chrono::steady_clock::now() - start_;
  const int64_t nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
  detail(fmt::format("{} ({})", what_, to_text(Picoseconds(nanoseconds * 1000))), streams_);
}

}  // namespace hlosim
