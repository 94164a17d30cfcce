#include "flags/xla_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "base/value.h"
#include "flags/compiler_choices.h"
#include "model/unit.h"

namespace hlosim {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

/// Takes a text apart at blanks; quotes and continued lines are blanks as well.
class FlagReader {
 public:
  FlagReader(const SourcePtr& source, DiagnosticList& problems)
      : source_(source), text_(source->text()), problems_(problems) {}

  std::vector<XlaFlag> read() {
    while (at_ < text_.size()) {
      if (is_separator()) {
        ++at_;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        word();
      }
    }
    return std::move(flags_);
  }

 private:
  bool is_separator() const {
    const char c = text_[at_];
    return is_blank(c) || is_quote(c) || (c == '\\' && (at_ + 1 == text_.size() || is_blank(text_[at_ + 1])));
  }

  void word() {
    const size_t begin = at_;
    while (at_ < text_.size() && !is_separator()) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "export" || is_assignment(word)) return;
    if (!word.starts_with("--") || word.size() == 2) {
      problems_.add(error_at(source_, static_cast<uint32_t>(begin),
                             fmt::format("'{}' is not a flag: expected --NAME=VALUE", shown(word)),
                             word.starts_with("-") || word.starts_with("xla_")
                                 ? fmt::format("--{}", shown(word.substr(word.find_first_not_of('-'))))
                                 : ""));
      return;
    }
    const size_t equals = std::min(word.find('='), word.size());
    XlaFlag flag;
    flag.name = word.substr(2, equals - 2);
    std::replace(flag.name.begin(), flag.name.end(), '-', '_');  // as our own options may be written, too
    flag.value = equals < word.size() ? word.substr(equals + 1) : "true";
    flag.source = source_;
    flag.offset = static_cast<uint32_t>(begin);
    flag.value_offset = static_cast<uint32_t>(begin + (equals < word.size() ? equals + 1 : 0));
    flags_.push_back(std::move(flag));
  }

  /// What a shell's line begins with: LIBTPU_INIT_ARGS=, XLA_FLAGS+=
  static bool is_assignment(std::string_view word) {
    for (const std::string_view name : {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "${XLA_FLAGS}",
                                        "${LIBTPU_INIT_ARGS}", "$XLA_FLAGS", "$LIBTPU_INIT_ARGS"})
      if (word == name || word == fmt::format("{}=", name) || word == fmt::format("{}+=", name)) return true;
    return false;
  }

  SourcePtr source_;
  std::string_view text_;
  DiagnosticList& problems_;
  size_t at_ = 0;
  std::vector<XlaFlag> flags_;
};

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> boolean(std::string_view text) {
  for (const std::string_view yes : {"true", "True", "TRUE", "1"})
    if (text == yes) return true;
  for (const std::string_view no : {"false", "False", "FALSE", "0"})
    if (text == no) return false;
  return std::nullopt;
}

/// Turns one flag after the other into a device's values.
class Effects {
 public:
  Effects(const DeviceConfig& device, DiagnosticList& problems) : device_(device), problems_(problems) {}

  std::optional<DeviceOverride> of(const XlaFlag& flag, const KnownXlaFlag& known) {
    switch (known.effect) {
      case XlaFlagEffect::kVmemLimit:
        return vmem_limit(flag, known);
      case XlaFlagEffect::kPState:
        return p_state(flag, known);
      case XlaFlagEffect::kLargeTiles:
        if (const std::optional<bool> set = boolean(flag.value))
          return DeviceOverride{std::string(known.key), *set ? "true" : "false"};
        return expected(flag, "true or false");
      case XlaFlagEffect::kCompiler:
      case XlaFlagEffect::kInText:
      case XlaFlagEffect::kScheduled:
      case XlaFlagEffect::kRuntime:
      case XlaFlagEffect::kDump:
        break;
    }
    return std::nullopt;
  }

 private:
  std::optional<DeviceOverride> wrong(const XlaFlag& flag, std::string message) {
    problems_.add(error_at(flag.source, flag.value_offset, fmt::format("--{}: {}", flag.name, message)));
    return std::nullopt;
  }
  std::optional<DeviceOverride> expected(const XlaFlag& flag, std::string_view what) {
    return wrong(flag, fmt::format("expected {}, not '{}'", what, shown(flag.value)));
  }

  /// The compiler takes a limit beyond the memory for all of it.
  std::optional<DeviceOverride> vmem_limit(const XlaFlag& flag, const KnownXlaFlag& known) {
    const std::optional<int64_t> kib = whole(flag.value);
    if (!kib || *kib < 1 || *kib > int64_t{1} << 40) return expected(flag, "a number of KiB, 1 at least");
    Bytes limit(*kib * 1024);
    if (const std::optional<Bytes> capacity = device_.vmem_space().capacity)
      limit = std::min(limit, *capacity);
    return DeviceOverride{std::string(known.key), fmt::format("{} B", limit.count())};
  }

  std::optional<DeviceOverride> p_state(const XlaFlag& flag, const KnownXlaFlag& known) {
    const std::optional<int64_t> state = whole(flag.value);
    const std::vector<Hertz>& clocks = device_.p_states;
    if (!state || *state < 0) return expected(flag, "a p-state, 0 or more");
    if (*state >= static_cast<int64_t>(clocks.size()))
      return wrong(
          flag, fmt::format("{} has no p-state {}, only 0 to {}", device_.name, *state, clocks.size() - 1));
    return DeviceOverride{std::string(known.key),
                          fmt::format("{} Hz", clocks[static_cast<size_t>(*state)].count())};
  }

  const DeviceConfig& device_;
  DiagnosticList& problems_;
};

void note(DiagnosticList& problems, const XlaFlag& flag, Severity severity, std::string message,
          std::string hint = {}) {
  Diagnostic diagnostic = error_at(flag.source, flag.offset, std::move(message), std::move(hint));
  diagnostic.severity = severity;
  problems.add(std::move(diagnostic));
}

void unknown(const XlaFlag& flag, DiagnosticList& problems) {
  std::vector<std::string_view> names;
  for (const KnownXlaFlag& one : known_xla_flags()) names.push_back(one.name);
  note(problems, flag, Severity::kWarning,
       fmt::format("--{} is not known: it changes nothing here", shown(flag.name)),
       did_you_mean(flag.name, names));
}

/// Whether two names are equal but for two letters at one place, as a misspelled name is.
bool differ_at_one_place(std::string_view a, std::string_view b) {
  constexpr size_t kLetters = 2;
  const size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  const auto ahead = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first -
      a.begin());
  size_t behind = 0;
  while (behind < shorter - ahead && a[a.size() - 1 - behind] == b[b.size() - 1 - behind]) ++behind;
  return a != b && ahead + behind + kLetters >= longer;
}

/// A name that only a family of flags (`xla_tpu_enable_async_`) accounts for, and that is nearly that of a
/// flag.
bool is_misspelled(const XlaFlag& flag, const KnownXlaFlag& known) {
  return known.name.ends_with('_') && std::ranges::any_of(known_xla_flags(), [&](const KnownXlaFlag& one) {
           return !one.name.ends_with('_') && differ_at_one_place(flag.name, one.name);
         });
}

/// What the device would need for the flag to mean anything; empty: it has all.
std::string what_lacks(const KnownXlaFlag& flag, const DeviceConfig& device) {
  if (flag.effect == XlaFlagEffect::kPState && device.p_states.empty()) return "p-states";
  if (flag.key.starts_with("offload_") && !has_cores_beside(device)) return "SparseCores";
  return {};
}

}  // namespace

std::vector<XlaFlag> read_xla_flags(const SourcePtr& source, DiagnosticList& problems) {
  return FlagReader(source, problems).read();
}

std::vector<DeviceOverride> xla_flag_overrides(std::span<const XlaFlag> flags, const DeviceConfig& device,
                                               DiagnosticList& problems) {
  std::vector<DeviceOverride> overrides;
  Effects effects(device, problems);
  for (size_t i = 0; i < flags.size(); ++i) {
    const XlaFlag& flag = flags[i];
    const auto again = [&](const XlaFlag& later) { return later.name == flag.name; };
    if (std::any_of(flags.begin() + static_cast<std::ptrdiff_t>(i) + 1, flags.end(), again)) continue;
    const KnownXlaFlag* known = find_xla_flag(flag.name);
    if (!known || is_misspelled(flag, *known)) {
      unknown(flag, problems);
    } else if (const std::string_view why = why_without_effect(known->effect); !why.empty()) {
      note(problems, flag, Severity::kNote, fmt::format("--{} changes nothing here: {}", flag.name, why));
    } else if (const std::string lacks = what_lacks(*known, device); !lacks.empty()) {
      note(problems, flag, Severity::kNote,
           fmt::format("--{} changes nothing here: {} has no {}", flag.name, device.name, lacks));
    } else if (std::optional<DeviceOverride> one = effects.of(flag, *known)) {
      overrides.push_back(std::move(*one));
    }
  }
  return overrides;
}

namespace {

/// Compilers of 2023 leave fusion off unless a flag asks for it. Scripts of that year ask for asynchronous
/// gathers alone; all since then that ask for these ask for their fusion as well, or for SparseCores.
const XlaFlag* flag_of_2023(std::span<const XlaFlag> flags, const DeviceConfig& device) {
  const auto first = [&](std::string_view begin) -> const XlaFlag* {
    for (const XlaFlag& flag : flags)
      if (flag.name.starts_with(begin)) return &flag;
    return nullptr;
  };
  if (first("xla_tpu_enable_async_collective_fusion") ||
      first("xla_tpu_enable_sparse_core_collective_offload") || !device.ici.core_bandwidth)
    return nullptr;
  return first("xla_enable_async_all_gather");
}

}  // namespace

CompilerChoices compiler_choices(std::span<const XlaFlag> flags, const DeviceConfig& device,
                                 DiagnosticList& problems) {
  struct Switch {
    std::string_view key;
    bool CompilerChoices::*choice;
  };
  constexpr Switch kSwitches[] = {{"fused_gathers", &CompilerChoices::fused_gathers},
                                  {"offload_all_gathers", &CompilerChoices::offload_all_gathers},
                                  {"offload_all_reduces", &CompilerChoices::offload_all_reduces},
                                  {"offload_reduce_scatters", &CompilerChoices::offload_reduce_scatters}};
  CompilerChoices choices;
  if (const XlaFlag* flag = flag_of_2023(flags, device)) {
    choices.fused_gathers = false;
    note(problems, *flag, Severity::kNote,
         fmt::format(
             "--{} without async_collective_fusion: flags as of 2023, the TensorCore stalls on all-gathers",
             flag->name));
  }
  for (const XlaFlag& flag : flags) {
    const KnownXlaFlag* known = find_xla_flag(flag.name);
    if (!known || known->effect != XlaFlagEffect::kCompiler || !what_lacks(*known, device).empty()) continue;
    const auto wrong = [&](std::string_view expected) {
      problems.add(
          error_at(flag.source, flag.value_offset,
                   fmt::format("--{}: expected {}, not '{}'", flag.name, expected, shown(flag.value))));
    };
    if (known->key == "overlapped_host_copies") {
      const std::optional<int64_t> count = whole(flag.value);
      if (count && *count > 0)
        choices.overlapped_host_copies = *count;
      else
        wrong("a number, 1 at least");
      continue;
    }
    if (known->key == "windowed_einsum_mib") {
      choices.windowed_einsum_mib = whole(flag.value);
      if (!choices.windowed_einsum_mib) wrong("a number of MiB");
      continue;
    }
    const std::optional<bool> set = boolean(flag.value);
    if (!set) wrong("true or false");
    for (const Switch& one : kSwitches)
      if (set && one.key == known->key) choices.*one.choice = *set;
  }
  return choices;
}

}  // namespace hlosim
