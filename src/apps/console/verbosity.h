// How much the program says beside its results, and in what colours: --color, --quiet, --verbose, which every
// command has.
//
//   tell(diagnostic, streams);                      // errors always; warnings and notes unless --quiet
//   note("wrote a.json: 3 runs", streams);          // "hlosim: wrote …", unless --quiet
//   const Step step("simulated " + name, streams);  // at its end, with --verbose: the step and its duration
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/paint.h"
#include "console/streams.h"

namespace hlosim {

/// A knob of a search as it is in effect.
struct EffectiveKnob {
  std::string name, value;
  std::string origin;       // where the value comes from: "--knob", a file
  bool is_default = false;  // nothing set it
};

/// What is going on: steps that have begun and not ended, the outermost first. For any thread.
class UnderWay {
 public:
  /// One step, while it lives.
  class Part {
   public:
    Part(UnderWay& all, const std::string& what);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part();

   private:
    UnderWay& all_;
  };

  /// "under way: tuned m, simulated m"; empty: nothing is.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> steps_;
};

struct Verbosity {
  std::string color = "auto";  // "always", "never"
  bool quiet = false, verbose = false;
  /// For --print-config: what a command's knobs are; set by commands that have some.
  std::function<Result<std::vector<EffectiveKnob>>()> knobs;
  UnderWay under_way;
};

/// --color, -q, -v on any command.
void declare_verbosity(CommandLine& line, Verbosity& verbosity);

/// Colours for text that goes to `path` ("-": the streams' standard output): as --color says; "auto" means on
/// a terminal, unless $NO_COLOR is set to something or $TERM is "dumb". A file is never coloured.
Paint output_paint(const std::string& path, Streams streams);
/// The same of the streams' standard error.
Paint error_paint(Streams streams);

/// Says what is wrong. Errors always; warnings and notes not with --quiet.
void tell(const Diagnostic& diagnostic, Streams streams);
/// All that a list holds.
void tell(const DiagnosticList& diagnostics, Streams streams);
/// An error without a place in a text.
void complain(std::string message, std::string hint, Streams streams);
void warn(std::string message, Streams streams);
/// "hlosim: text" on standard error, unless --quiet.
void note(std::string_view text, Streams streams);
/// "hlosim: text" on standard error with --verbose.
void detail(std::string_view text, Streams streams);

/// One step of the work: what was done and how long it took, with --verbose.
class Step {
 public:
  Step(std::string what, Streams streams);
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step();
  /// Says more of it: ": 1,234 bytes".
  void add(std::string_view text) { what_ += text; }

 private:
  std::string what_;
  Streams streams_;
  UnderWay::Part under_way_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace hlosim
