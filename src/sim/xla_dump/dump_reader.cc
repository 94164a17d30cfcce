#include <fmt/format.h>

#include "base/text.h"
#include "xla_dump/dump.h"
#include "xla_dump/dump_line.h"
#include "xla_dump/dump_overlap.h"

namespace hlosim {
namespace {

class DumpReader {
 public:
  explicit DumpReader(const SourcePtr& source) : text_(source->text()) { dump_.source = source; }

  Result<BufferDump> run() {
    if (next_line_view() != "BufferAssignment:") {
      fail(0, "expected 'BufferAssignment:' in the first line");
      return result();
    }
    while (ok() && !at_end()) {
      int blank = 0;
      while (!at_end() && next_line_view().empty()) ++blank, skip_line();
      if (at_end()) {
        dump_.final_line_ends = blank + 1;
        return result();
      }
      read_part(blank);
    }
    if (ok()) dump_.final_line_ends = !text_.empty() && text_.back() == '\n' ? 1 : 0;
    return result();
  }

 private:
  bool ok() const { return !error_; }
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view next_line_view() const {
    return at_end() ? std::string_view() : text_.substr(at_, text_.find('\n', at_) - at_);
  }
  void skip_line() { at_ = std::min(text_.size(), at_ + next_line_view().size() + 1); }
  DumpLine take_line() {
    DumpLine line(next_line_view(), at_);
    skip_line();
    return line;
  }
  bool next_is(std::string_view start) const { return !at_end() && next_line_view().starts_with(start); }

  void fail(size_t offset, std::string message) {
    if (error_) return;
    error_.emplace();
    error_->message = std::move(message);
    error_->source = dump_.source;
    error_->offset = static_cast<uint32_t>(offset);
  }
  void finish(const DumpLine& line) {
    if (!line.ok()) fail(line.error_offset(), line.error());
  }
  void expect(std::string_view whole_line) {
    if (!ok()) return;
    if (next_line_view() != whole_line || at_end())
      return fail(std::min(at_, text_.size()),
                  at_end() ? fmt::format("the dump ends here, expected '{}'", whole_line)
                           : fmt::format("expected '{}', saw '{}'", whole_line, shown(next_line_view(), 40)));
    skip_line();
  }
  Result<BufferDump> result() {
    if (!error_) error_ = find_overlap(dump_);
    if (error_) return tl::unexpected(std::move(*error_));
    return std::move(dump_);
  }

  void read_part(int blank) {
    const std::string_view line = next_line_view();
    const auto add = [&](DumpPart part) {
      if (dump_.has(part)) fail(at_, fmt::format("'{}' is here a second time", shown(line, 40)));
      dump_.sections.push_back({part, blank});
    };
    if (line == "BufferAssignment:") {
      add(DumpPart::kAllocations);
      skip_line();
      while (ok() && !at_end() && !next_line_view().empty()) read_allocation();
    } else if (line.starts_with("Total bytes used: ")) {
      add(DumpPart::kTotal);
      read_total();
    } else if (line == "Used values:") {
      add(DumpPart::kUsedValues);
      skip_line();
      while (ok() && !at_end() && !next_line_view().empty()) read_used_value();
    } else if (line == "BufferAssignment stats:") {
      add(DumpPart::kStats);
      skip_line();
      while (!at_end() && !next_line_view().empty()) dump_.stats.emplace_back(next_line_view()), skip_line();
    } else if (line.starts_with("HloLiveRange (max ")) {
      add(DumpPart::kLiveRange);
      read_live_range();
    } else {
      fail(at_, fmt::format("expected a part of a buffer assignment dump, saw '{}'", shown(line, 40)));
    }
  }

  void read_allocation() {
    DumpLine line = take_line();
    DumpAllocation out;
    out.text_at = static_cast<uint32_t>(line.offset());
    line.need("allocation ");
    out.number = line.ok() ? line.amount() : 0;
    if (line.ok() && out.number != static_cast<int64_t>(dump_.allocations.size()))
      return fail(out.text_at,
                  fmt::format("allocation {}, expected allocation {}", out.number, dump_.allocations.size()));
    line.need(": ");
    if (line.eat("0x")) {
      out.address = line.address();
      line.need(", ");
      dump_.era = Era::k2022;
    }
    line.need("size ");
    if (line.ok()) out.size = line.amount();
    if (line.eat(", color ")) out.color = line.number();
    if (line.eat(", page ")) out.page = line.number();
    if (line.eat(", parameter ")) {
      DumpAllocation::Parameter parameter;
      parameter.number = line.amount();
      line.need(", shape |");
      if (line.ok()) parameter.shape = line.until("|", "a shape");
      line.need(" at ShapeIndex ");
      if (line.ok()) parameter.index = line.index();
      out.parameter = std::move(parameter);
    }
    if (line.eat(", output shape is |")) out.output_shape = line.until("|", "a shape");
    out.is_constant = line.eat(", constant");
    out.is_thread_local = line.eat(", thread-local");
    out.is_output = line.eat(", maybe-live-out");
    out.is_temporary = line.eat(", preallocated-temp");
    line.need(":");
    if (line.ok()) line.need_end();
    finish(line);
    while (ok() && next_is(" value: ")) out.values.push_back(read_value(" ", out.size));
    if (next_is(" reused by buffers of a different color:")) {
      expect(" reused by buffers of a different color:");
      while (ok() && next_is("  value: ")) out.other_colors.push_back(read_value("  ", out.size));
    }
    dump_.allocations.push_back(std::move(out));
  }

  /// `<12 fusion{0} (phi) @1>`
  static DumpValueName read_name(DumpLine& line) {
    DumpValueName out;
    line.need("<");
    if (line.ok()) out.id = line.amount();
    line.need(" ");
    if (line.ok()) out.name = line.word(" {>", "the name of an instruction");
    if (line.ok() && line.rest().starts_with("{")) out.index = line.index();
    out.is_phi = line.eat(" (phi)");
    line.need(" @");
    if (line.ok()) out.color = line.number();
    line.need(">");
    return out;
  }

  DumpValue read_value(std::string_view indent, int64_t allocation_size) {
    DumpLine line = take_line();
    DumpValue out;
    line.need(indent);
    line.need("value: ");
    out.text_at = static_cast<uint32_t>(line.offset());
    if (line.ok()) out.value = read_name(line);
    line.need(" (size=");
    if (line.ok()) out.size = line.amount();
    line.need(",offset=");
    if (line.ok()) out.offset = line.amount();
    line.need("): ");
    if (line.ok()) out.shape = line.word("\n", "a shape");
    finish(line);
    if (ok() && (out.offset > allocation_size || out.size > allocation_size - out.offset))
      fail(out.text_at, fmt::format("{} bytes at offset {} are not inside an allocation of {} bytes",
                                    out.size, out.offset, allocation_size));
    return out;
  }

  void read_total() {
    DumpLine line = take_line();
    dump_.total.text_at = static_cast<uint32_t>(line.offset());
    line.need("Total bytes used: ");
    if (line.ok()) dump_.total.bytes = line.amount();
    if (line.ok()) line.need(fmt::format(" ({})", xla_size_text(dump_.total.bytes)));
    if (line.ok()) line.need_end();
    finish(line);
    if (!ok() || !dump_.has(DumpPart::kAllocations)) return;
    double sum = 0;
    for (const DumpAllocation& allocation : dump_.allocations) sum += static_cast<double>(allocation.size);
    if (sum != static_cast<double>(dump_.total.bytes))
      fail(dump_.total.text_at, fmt::format("the total is {} bytes, but the allocations above have {:.0f}",
                                            dump_.total.bytes, sum));
  }

  void read_used_value() {
    DumpUsedValue out;
    DumpLine line = take_line();
    out.text_at = static_cast<uint32_t>(line.offset());
    out.value = read_name(line);
    if (line.ok()) line.need_end();
    finish(line);
    expect(" positions:");
    while (ok() && next_is("  ")) out.positions.push_back(read_position(false));
    expect(" uses:");
    if (next_is("  (none)"))
      expect("  (none)");
    else
      while (ok() && next_is("  ")) out.uses.push_back(read_position(true));
    if (!ok()) return;
    if (at_end()) return fail(text_.size(), "the dump ends here, expected ' from instruction:'");
    DumpLine from = take_line();
    from.need(" from instruction:");
    // Without addresses, the first value is what shows the dialect.
    if (from.ok() && dump_.era == Era::k2026 && !from.eat(" ")) {
      if (dump_.used_values.empty())
        dump_.era = Era::k2022;
      else
        from.need(" ");
    }
    out.instruction = from.rest();
    finish(from);
    dump_.used_values.push_back(std::move(out));
  }

  /// `  fusion {0}` or `  fusion, operand 2 {0}`
  DumpPosition read_position(bool is_use) {
    DumpLine line = take_line();
    DumpPosition out;
    line.need("  ");
    if (line.ok()) out.name = line.word(is_use ? "," : " ", "the name of an instruction");
    if (is_use) {
      line.need(", operand ");
      if (line.ok()) out.operand = line.amount();
    }
    if (line.ok() && line.eat(" ")) out.index = line.index();
    if (line.ok()) line.need_end();
    finish(line);
    return out;
  }

  void read_live_range() {
    DumpLiveRange& live = dump_.live_range;
    DumpLine head = take_line();
    head.need("HloLiveRange (max ");
    live.end = head.amount();
    head.need("):");
    finish(head);
    live.sequence_at = static_cast<uint32_t>(std::min(at_, text_.size()));
    expect("  InstructionSequence:");
    while (ok() && next_is("    ")) read_step();
    if (ok() && live.end != static_cast<int64_t>(live.sequence.size()))
      fail(live.sequence_at, fmt::format("the sequence has {} instructions, but the live ranges go up to {}",
                                         live.sequence.size(), live.end));
    expect("  BufferLiveRange:");
    while (ok() && next_is("    ")) read_range();
    read_peak();
  }

  void read_step() {
    DumpLine line = take_line();
    line.need("    ");
    const size_t at = line.offset();
    const int64_t step = line.amount();
    line.need(":");
    std::string name = line.ok() ? line.word("\n", "the name of an instruction") : std::string();
    finish(line);
    if (ok() && step != static_cast<int64_t>(dump_.live_range.sequence.size()))
      fail(at, fmt::format("step {}, expected step {}", step, dump_.live_range.sequence.size()));
    dump_.live_range.sequence.push_back(std::move(name));
  }

  void read_range() {
    DumpLine line = take_line();
    DumpRange out;
    line.need("    ");
    out.text_at = static_cast<uint32_t>(line.offset());
    if (line.ok()) out.name = line.word("{", "the name of an instruction");
    if (line.ok()) out.index = line.index();
    line.need(":");
    if (line.ok()) out.start = line.amount();
    line.need("-");
    if (line.ok()) out.end = line.amount();
    if (line.ok()) line.need_end();
    finish(line);
    if (ok() && (out.end < out.start || out.end > dump_.live_range.end))
      fail(out.text_at, fmt::format("{} is live from {} to {}, expected steps in this order and up to {}",
                                    out.name, out.start, out.end, dump_.live_range.end));
    dump_.live_range.ranges.push_back(std::move(out));
  }

  void read_peak() {
    if (!ok()) return;
    if (at_end()) return fail(text_.size(), "the dump ends here, expected '  Live ranges at'");
    DumpLiveRange& live = dump_.live_range;
    DumpLine head = take_line();
    live.peak_at = static_cast<uint32_t>(head.offset());
    head.need("  Live ranges at ");
    if (head.ok()) live.peak_step = head.amount();
    head.need(" (peak):");
    finish(head);
    while (ok() && next_is("    ") && !next_is("      ")) {
      DumpLine line = take_line();
      DumpPeakEntry entry;
      line.need("    ");
      if (line.ok()) entry.name = line.word("{:", "the name of an instruction");
      if (line.ok() && line.rest().starts_with("{")) entry.index = line.index();
      line.need(": ");
      if (line.ok()) entry.bytes = line.amount();
      line.need(" bytes");
      if (line.eat(" (cumulative: ")) {
        entry.cumulative = line.amount();
        line.need(" bytes)");
      }
      if (line.ok()) line.need_end();
      finish(line);
      live.peak.push_back(std::move(entry));
    }
    while (ok() && !at_end() && !next_line_view().empty())
      live.breakdown.emplace_back(next_line_view()), skip_line();
  }

  std::string_view text_;
  size_t at_ = 0;
  BufferDump dump_;
  std::optional<Diagnostic> error_;
};

}  // namespace

bool looks_like_dump(std::string_view text) { return text.starts_with("BufferAssignment:"); }

Result<BufferDump> read_dump(const SourcePtr& source) { return DumpReader(source).run(); }

}  // namespace hlosim
