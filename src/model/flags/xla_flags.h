// Flags of XLA's TPU compiler that a module was, or is to be, compiled with. Those that say on what and how
// fast it runs become values of the device; of the others the table says why they change nothing here.
//
//   const std::vector<XlaFlag> flags = read_xla_flags(source, problems);  // "--xla_tpu_dvfs_p_state=7 …"
//   const auto overrides = xla_flag_overrides(flags, device, problems);   // {"clock", "2200000000 Hz"}
//   device = with_overrides(device, overrides, problems);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "model/device.h"

namespace hlosim {

struct XlaFlag {
  std::string name;   // without dashes: "xla_tpu_scoped_vmem_limit_kib"
  std::string value;  // "98304"; "true" where the text gives none
  SourcePtr source;
  uint32_t offset = 0, value_offset = 0;
};

/// Reads what XLA_FLAGS and LIBTPU_INIT_ARGS hold, or a file of such lines: "--name=value" and "--name"
/// between blanks; "export", "XLA_FLAGS=", quotes, a backslash at the end of a line and "# comments" are
/// passed over. Errors, with their place: words that are no flags.
std::vector<XlaFlag> read_xla_flags(const SourcePtr& source, DiagnosticList& problems);

/// What flags mean here.
enum class XlaFlagEffect : uint8_t {
  kVmemLimit,   // vmem.scoped_limit
  kPState,      // clock
  kLargeTiles,  // tiling.large_second_minor
  kCompiler,    // compiler_choices.h, for modules that no compiler has touched
  kInText,      // decided how the module looks, which its text shows
  kScheduled,   // decided the order of instructions, which the text of a scheduled module shows
  kRuntime,     // how the host starts and watches programs
  kDump,        // what the compiler writes about its work
};

struct KnownXlaFlag {
  std::string_view name;  // one that ends in '_' stands for all that begin so
  XlaFlagEffect effect;
  std::string_view key;  // of the device; empty: none
};

/// Null: not known.
const KnownXlaFlag* find_xla_flag(std::string_view name);
std::span<const KnownXlaFlag> known_xla_flags();
/// Why a flag changes nothing here: "its text shows what it decided"; empty for one that sets a key.
std::string_view why_without_effect(XlaFlagEffect effect);

/// Values for `device`, in the order of the flags; of a flag given twice the last one. Errors, at the value:
/// not a number, too large, a p-state that the device hasn't. Warnings: flags that aren't known; notes: flags
/// without effect, each once, and those of units or p-states where the device has none.
std::vector<DeviceOverride> xla_flag_overrides(std::span<const XlaFlag> flags, const DeviceConfig& device,
                                               DiagnosticList& problems);

}  // namespace hlosim
