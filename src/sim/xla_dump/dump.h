// XLA's buffer-assignment dump as data: what its text says, no more.
//
//   BufferAssignment:
//   allocation 0: size 16384, page 0, output shape is |s32[4,1024]|, maybe-live-out:
//    value: <2 mul1 @0> (size=4096,offset=0): s32[1024]{0}
//
// Two dialects: that of 2022 (addresses of allocations, one blank less before instructions, bytes without
// sums at the peak) and the current one. docs/buffers.md has the whole format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "memory/hlo_values.h"

namespace hlosim {

using TupleIndex = std::vector<int64_t>;

/// `12 fusion{0} (phi) @1`
struct DumpValueName {
  int64_t id = 0;
  std::string name;                 // of the instruction
  std::optional<TupleIndex> index;  // only where its shape is a tuple
  bool is_phi = false;
  int64_t color = 0;
  bool operator==(const DumpValueName&) const = default;
};

/// A value's name with its index, which is {} for the whole of an array or tuple.
inline std::string key_of(const std::string& name, const std::optional<TupleIndex>& index) {
  return name + (index ? index_text(*index) : "{}");
}
inline std::string key_of(const DumpValueName& value) { return key_of(value.name, value.index); }

struct DumpValue {
  DumpValueName value;
  int64_t size = 0, offset = 0;
  std::string shape;     // with layout
  uint32_t text_at = 0;  // byte of the text that it was read from
};

struct DumpAllocation {
  struct Parameter {
    int64_t number = 0;
    std::string shape;  // without layout
    TupleIndex index;
  };
  int64_t number = 0;
  std::optional<uint64_t> address;  // 2022
  int64_t size = 0;
  int64_t color = 0;
  std::optional<int64_t> page;
  std::optional<Parameter> parameter;
  std::optional<std::string> output_shape;
  bool is_constant = false, is_thread_local = false, is_output = false, is_temporary = false;
  std::vector<DumpValue> values;
  std::vector<DumpValue> other_colors;  // "reused by buffers of a different color"
  uint32_t text_at = 0;
};

/// `fusion.1 {0}` or `fusion.1, operand 2 {0}`
struct DumpPosition {
  std::string name;
  std::optional<TupleIndex> index;
  int64_t operand = -1;  // of a use
  bool operator==(const DumpPosition&) const = default;
};

struct DumpUsedValue {
  DumpValueName value;
  std::vector<DumpPosition> positions, uses;
  std::string instruction;
  uint32_t text_at = 0;
};

struct DumpRange {
  std::string name;
  TupleIndex index;
  int64_t start = 0, end = 0;
  uint32_t text_at = 0;
};

struct DumpPeakEntry {
  std::string name;
  std::optional<TupleIndex> index;  // current dialect
  int64_t bytes = 0;
  std::optional<int64_t> cumulative;  // current dialect
};

struct DumpLiveRange {
  int64_t end = 0;  // "max"
  std::vector<std::string> sequence;
  std::vector<DumpRange> ranges;
  int64_t peak_step = 0;
  std::vector<DumpPeakEntry> peak;
  std::vector<std::string> breakdown;  // lines as written, without line ends
  uint32_t sequence_at = 0, peak_at = 0;
};

struct DumpTotal {
  int64_t bytes = 0;
  uint32_t text_at = 0;
};

/// The parts of a dump in the order in which they stand, each with the blank lines before it.
enum class DumpPart : uint8_t { kAllocations, kTotal, kUsedValues, kStats, kLiveRange };
struct DumpSection {
  DumpPart part{};
  int blank_lines = 0;
};

struct BufferDump {
  SourcePtr source;  // null: made from a module
  Era era = Era::k2026;
  std::vector<DumpSection> sections;
  int final_line_ends = 1;  // after the last line of the last part

  std::vector<DumpAllocation> allocations;
  DumpTotal total;
  std::vector<DumpUsedValue> used_values;
  std::vector<std::string> stats;  // lines as written, without line ends
  DumpLiveRange live_range;

  bool has(DumpPart part) const;
};

/// Errors: with the place in the text.
Result<BufferDump> read_dump(const SourcePtr& source);
/// Does the text begin like a dump?
bool looks_like_dump(std::string_view text);
std::string to_text(const BufferDump& dump);

/// `2.45MiB`, `392.0KiB`, `12B`, as XLA writes sizes.
std::string xla_size_text(int64_t bytes);

}  // namespace hlosim
