#include "xla_dump/dump_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace hlosim {
namespace {

struct Found {
  const DumpAllocation* allocation;
  const DumpValue* value;
};
using ValueTable = std::unordered_map<std::string, Found>;

ValueTable values_of(const BufferDump& dump) {
  ValueTable table;
  for (const DumpAllocation& allocation : dump.allocations)
    for (const DumpValue& value : allocation.values)
      table.insert({key_of(value.value), {&allocation, &value}});
  return table;
}

class DumpComparer {
 public:
  DumpComparer(const BufferDump& theirs, const BufferDump& ours)
      : theirs_(theirs), ours_(ours), our_values_(values_of(ours)), their_values_(values_of(theirs)) {
    for (const DumpRange& range : ours.live_range.ranges)
      our_ranges_.emplace(key_of(range.name, range.index), &range);
    for (const DumpUsedValue& value : ours.used_values) our_uses_.emplace(key_of(value.value), &value);
    for (const DumpRange& range : theirs.live_range.ranges)
      their_ranges_.emplace(key_of(range.name, range.index), &range);
  }

  std::vector<Diagnostic> run() {
    if (is_of_another_module()) return std::move(found_);
    if (theirs_.has(DumpPart::kLiveRange)) compare_sequences();
    for (const DumpAllocation& allocation : theirs_.allocations) compare(allocation);
    for (const DumpAllocation& allocation : ours_.allocations)
      for (const DumpValue& value : allocation.values)
        if (!their_values_.contains(key_of(value.value)))
          add(0, "{} isn't in the dump; the module has it in allocation {}", key_of(value.value),
              allocation.number);
    if (theirs_.has(DumpPart::kTotal) && theirs_.total.bytes != ours_.total.bytes)
      add(theirs_.total.text_at, "{} bytes in total in the dump, {} in the module", theirs_.total.bytes,
          ours_.total.bytes);
    for (const DumpUsedValue& value : theirs_.used_values) compare(value);
    if (theirs_.has(DumpPart::kLiveRange)) compare_ranges();
    return std::move(found_);
  }

 private:
  template <class... Args>
  void add(uint32_t at, fmt::format_string<Args...> format, Args&&... args) {
    Diagnostic finding;
    finding.message = fmt::format(format, std::forward<Args>(args)...);
    finding.source = theirs_.source;
    finding.offset = at;
    found_.push_back(std::move(finding));
  }

  bool is_of_another_module() {
    size_t known = 0;
    for (const auto& [key, value] : their_values_) known += our_values_.contains(key);
    if (their_values_.empty() || 2 * known >= their_values_.size()) return false;
    const DumpAllocation& first = theirs_.allocations.front();
    add(first.text_at, "{} of the {} values of this dump aren't in the module: it is the dump of another one",
        their_values_.size() - known, their_values_.size());
    return true;
  }

  void compare_sequences() {
    const auto &there = theirs_.live_range.sequence, &here = ours_.live_range.sequence;
    const auto [a, b] = std::mismatch(there.begin(), there.end(), here.begin(), here.end());
    if (a == there.end() && b == here.end()) return;
    const auto name = [](auto at, auto end) { return at == end ? std::string("nothing") : *at; };
    add(theirs_.live_range.sequence_at,
        "the schedules differ from step {} on: {} in the dump, {} in the module", a - there.begin(),
        name(a, there.end()), name(b, here.end()));
  }

  static std::string kind(const DumpAllocation& a) {
    std::string kind;
    const auto note = [&](bool is, std::string_view word) {
      if (is) kind += (kind.empty() ? "" : ", ") + std::string(word);
    };
    note(a.parameter.has_value(), a.parameter ? fmt::format("parameter {}", a.parameter->number) : "");
    note(a.is_constant, "constant");
    note(a.is_thread_local, "thread-local");
    note(a.is_output, "output");
    note(a.is_temporary, "temporary");
    return kind.empty() ? "of no kind" : kind;
  }

  static std::string others(const DumpAllocation& allocation, const std::string& but) {
    std::string text;
    size_t named = 0;
    for (const DumpValue& value : allocation.values) {
      if (named == 3) break;
      if (key_of(value.value) != but) text += (named++ > 0 ? ", " : "") + key_of(value.value);
    }
    if (allocation.values.size() > 4) text += fmt::format(" and {} more", allocation.values.size() - 4);
    return named == 0 ? "alone" : "with " + text;
  }

  std::string range_note(const std::string& key) const {
    const auto there = their_ranges_.find(key), here = our_ranges_.find(key);
    if (there == their_ranges_.end() || here == our_ranges_.end()) return {};
    const DumpRange &a = *there->second, &b = *here->second;
    if (a.start == b.start && a.end == b.end)
      return fmt::format("; live {}-{} on both sides", a.start, a.end);
    return fmt::format("; live {}-{} in the dump, {}-{} in the module", a.start, a.end, b.start, b.end);
  }

  /// Ours is the one that holds most of its values.
  const DumpAllocation* counterpart(const DumpAllocation& allocation) const {
    std::map<int64_t, int> votes;
    for (const DumpValue& value : allocation.values)
      if (const auto found = our_values_.find(key_of(value.value)); found != our_values_.end())
        ++votes[found->second.allocation->number];
    const auto best = std::max_element(votes.begin(), votes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return best == votes.end() ? nullptr : &ours_.allocations[static_cast<size_t>(best->first)];
  }

  void compare(const DumpAllocation& there) {
    const DumpAllocation* here = counterpart(there);
    if (here && here->number != there.number)
      add(there.text_at, "allocation {} of the dump is allocation {} of the module", there.number,
          here->number);
    if (here && here->size != there.size)
      add(there.text_at, "allocation {} has {} bytes in the dump, {} in the module", there.number, there.size,
          here->size);
    if (here && here->color != there.color)
      add(there.text_at, "allocation {} is in memory space {} in the dump, {} in the module", there.number,
          there.color, here->color);
    if (here && kind(*here) != kind(there))
      add(there.text_at, "allocation {} is {} in the dump, {} in the module", there.number, kind(there),
          kind(*here));
    for (const DumpValue& value : there.values) {
      const std::string key = key_of(value.value);
      const auto found = our_values_.find(key);
      if (found == our_values_.end()) {
        add(value.text_at, "{} has an allocation in the dump, but none in the module", key);
        continue;
      }
      const auto [allocation, ours] = found->second;
      if (allocation != here)
        add(value.text_at, "{} is in allocation {} {} in the dump, in allocation {} {} in the module{}", key,
            there.number, others(there, key), allocation->number, others(*allocation, key), range_note(key));
      else if (value.offset != ours->offset)
        add(value.text_at, "{} is at offset {} in the dump, {} in the module", key, value.offset,
            ours->offset);
      if (value.size != ours->size)
        add(value.text_at, "{} has {} bytes in the dump, {} in the module", key, value.size, ours->size);
      if (value.shape != ours->shape)
        add(value.text_at, "{} is {} in the dump, {} in the module", key, value.shape, ours->shape);
    }
  }

  static std::vector<std::string> sorted(const std::vector<DumpPosition>& positions) {
    std::vector<std::string> keys;
    for (const DumpPosition& at : positions)
      keys.push_back(at.operand < 0 ? key_of(at.name, at.index)
                                    : fmt::format("{}, operand {}", at.name, at.operand));
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  void compare(const DumpUsedValue& there) {
    const auto found = our_uses_.find(key_of(there.value));
    if (found == our_uses_.end()) return;
    const DumpUsedValue& here = *found->second;
    compare_sets(there, "position", sorted(there.positions), sorted(here.positions));
    compare_sets(there, "use", sorted(there.uses), sorted(here.uses));
  }

  void compare_sets(const DumpUsedValue& value, std::string_view what, const std::vector<std::string>& there,
                    const std::vector<std::string>& here) {
    std::vector<std::string> extra, missing;
    std::set_difference(there.begin(), there.end(), here.begin(), here.end(), std::back_inserter(extra));
    std::set_difference(here.begin(), here.end(), there.begin(), there.end(), std::back_inserter(missing));
    for (const std::string& key : extra)
      add(value.text_at, "{} has the {} {} in the dump, but not in the module", key_of(value.value), what,
          key);
    for (const std::string& key : missing)
      add(value.text_at, "{} has the {} {} in the module, but not in the dump", key_of(value.value), what,
          key);
  }

  void compare_ranges() {
    for (const DumpRange& range : theirs_.live_range.ranges) {
      const std::string key = key_of(range.name, range.index);
      const auto found = our_ranges_.find(key);
      if (found == our_ranges_.end())
        add(range.text_at, "{} has a live range in the dump, but none in the module", key);
      else if (found->second->start != range.start || found->second->end != range.end)
        add(range.text_at, "{} is live from {} to {} in the dump, from {} to {} in the module", key,
            range.start, range.end, found->second->start, found->second->end);
    }
    for (const DumpRange& range : ours_.live_range.ranges)
      if (const std::string key = key_of(range.name, range.index); !their_ranges_.contains(key))
        add(theirs_.live_range.sequence_at, "{} has no live range in the dump, but one in the module", key);
    if (theirs_.live_range.peak_step != ours_.live_range.peak_step)
      add(theirs_.live_range.peak_at, "the peak is at step {} in the dump, at {} in the module",
          theirs_.live_range.peak_step, ours_.live_range.peak_step);
  }

  const BufferDump &theirs_, &ours_;
  ValueTable our_values_, their_values_;
  std::unordered_map<std::string, const DumpRange*> our_ranges_, their_ranges_;
  std::unordered_map<std::string, const DumpUsedValue*> our_uses_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> differences(const BufferDump& theirs, const BufferDump& ours) {
  return DumpComparer(theirs, ours).run();
}

}  // namespace hlosim
