#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "xla_dump/dump.h"

namespace hlosim {
namespace {

class DumpWriter {
 public:
  explicit DumpWriter(const BufferDump& dump) : dump_(dump) {}

  std::string run() {
    for (const DumpSection& section : dump_.sections) {
      out_.append(static_cast<size_t>(section.blank_lines), '\n');
      write(section.part);
    }
    while (!out_.empty() && out_.back() == '\n') out_.pop_back();
    out_.append(static_cast<size_t>(dump_.final_line_ends), '\n');
    return std::move(out_);
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void write(DumpPart part) {
    switch (part) {
      case DumpPart::kAllocations:
        print("BufferAssignment:\n");
        for (const DumpAllocation& allocation : dump_.allocations) write(allocation);
        break;
      case DumpPart::kTotal:
        print("Total bytes used: {} ({})\n", dump_.total.bytes, xla_size_text(dump_.total.bytes));
        break;
      case DumpPart::kUsedValues:
        print("Used values:\n");
        for (const DumpUsedValue& value : dump_.used_values) write(value);
        break;
      case DumpPart::kStats:
        print("BufferAssignment stats:\n");
        for (const std::string& line : dump_.stats) print("{}\n", line);
        break;
      case DumpPart::kLiveRange:
        write(dump_.live_range);
        break;
    }
  }

  void write(const DumpValueName& value) {
    print("<{} {}{}{} @{}>", value.id, value.name, value.index ? index_text(*value.index) : "",
          value.is_phi ? " (phi)" : "", value.color);
  }

  void write(const DumpAllocation& allocation) {
    print("allocation {}: ", allocation.number);
    if (allocation.address) print("{:#x}, ", *allocation.address);
    print("size {}", allocation.size);
    if (allocation.color != 0) print(", color {}", allocation.color);
    if (allocation.page) print(", page {}", *allocation.page);
    if (const auto& parameter = allocation.parameter)
      print(", parameter {}, shape |{}| at ShapeIndex {}", parameter->number, parameter->shape,
            index_text(parameter->index));
    if (allocation.output_shape) print(", output shape is |{}|", *allocation.output_shape);
    if (allocation.is_constant) print(", constant");
    if (allocation.is_thread_local) print(", thread-local");
    if (allocation.is_output) print(", maybe-live-out");
    if (allocation.is_temporary) print(", preallocated-temp");
    print(":\n");
    write(allocation.values, " ");
    if (allocation.other_colors.empty()) return;
    print(" reused by buffers of a different color:\n");
    write(allocation.other_colors, "  ");
  }

  void write(const std::vector<DumpValue>& values, std::string_view indent) {
    for (const DumpValue& value : values) {
      print("{}value: ", indent);
      write(value.value);
      print(" (size={},offset={}): {}\n", value.size, value.offset, value.shape);
    }
  }

  void write(const DumpUsedValue& value) {
    const auto index = [](const DumpPosition& at) {
      return at.index ? " " + index_text(*at.index) : std::string();
    };
    write(value.value);
    print("\n positions:\n");
    for (const DumpPosition& at : value.positions) print("  {}{}\n", at.name, index(at));
    print(" uses:\n");
    for (const DumpPosition& use : value.uses)
      print("  {}, operand {}{}\n", use.name, use.operand, index(use));
    if (value.uses.empty() && dump_.era == Era::k2026) print("  (none)\n");
    print(" from instruction:{}{}\n", dump_.era == Era::k2026 ? " " : "", value.instruction);
  }

  void write(const DumpLiveRange& live) {
    print("HloLiveRange (max {}):\n  InstructionSequence:\n", live.end);
    for (size_t i = 0; i < live.sequence.size(); ++i) print("    {}:{}\n", i, live.sequence[i]);
    print("  BufferLiveRange:\n");
    for (const DumpRange& range : live.ranges)
      print("    {}{}:{}-{}\n", range.name, index_text(range.index), range.start, range.end);
    print("  Live ranges at {} (peak):\n", live.peak_step);
    for (const DumpPeakEntry& entry : live.peak) {
      print("    {}{}: {} bytes", entry.name, entry.index ? index_text(*entry.index) : "", entry.bytes);
      if (entry.cumulative) print(" (cumulative: {} bytes)", *entry.cumulative);
      print("\n");
    }
    for (const std::string& line : live.breakdown) print("{}\n", line);
  }

  const BufferDump& dump_;
  std::string out_;
};

}  // namespace

bool BufferDump::has(DumpPart part) const {
  return std::any_of(sections.begin(), sections.end(), [&](const DumpSection& s) { return s.part == part; });
}

std::string to_text(const BufferDump& dump) { return DumpWriter(dump).run(); }

/// Whole KiB steps are divided away first, so that the last one alone has decimals.
std::string xla_size_text(int64_t bytes) {
  constexpr std::string_view kPrefixes = "KMGTPE";
  if (bytes < 1024) return fmt::format("{}B", bytes);
  size_t prefix = 0;
  for (; bytes >= 1024 * 1024; bytes /= 1024) ++prefix;
  const double amount = static_cast<double>(bytes) / 1024.0;
  return prefix == 0 ? fmt::format("{:.1f}KiB", amount)
                     : fmt::format("{:.2f}{}iB", amount, kPrefixes[prefix]);
}

}  // namespace hlosim
