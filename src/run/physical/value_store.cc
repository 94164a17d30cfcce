#include "physical/value_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quantity_text.h"
#include "hlo/finding.h"
#include "layout/bitcast.h"
#include "layout/sizes.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/dataflow.h"

namespace hlosim {

ValueStore::ValueStore(const BufferAnalysis& analysis, const OpTable& table, MemoryPool& pool,
                       const PhysicalOptions& options)
    : analysis_(analysis),
      module_(analysis.graph.module()),
      options_(options),
      pool_(pool),
      placement_(analysis),
      overwrites_(module_, table, analysis.users, SharingRules::kDefault),
      interference_(analysis.graph, analysis.places, analysis.values, analysis.ranges, overwrites_,
                    Era::k2026),
      current_(analysis.values.size()),
      seen_(static_cast<size_t>(analysis.places.size())),
      ending_at_(static_cast<size_t>(analysis.schedule.end()) + 1) {
  for (const PlacedSpace& space : placement_.spaces()) images_.emplace_back(space.size);
  for (size_t i = 0; i < analysis.values.size(); ++i) {
    const LiveRange& range = analysis.ranges[i];
    const bool is_constant =
        dataflow(module_[analysis.definer(static_cast<ValueIndex>(i))].opcode).is_constant;
    if (range.known() && !is_constant && range.end < analysis.schedule.end())
      ending_at_[static_cast<size_t>(range.end)].push_back(static_cast<ValueIndex>(i));
  }
}

// ── what is wrong ───────────────────────────────────────────────

std::string ValueStore::name(ValueIndex value) const {
  const Place place = analysis_.values[value].defined;
  const InstructionId id = analysis_.places.instruction(place);
  const std::string index =
      module_[id].shape->is_tuple() ? index_text(analysis_.places.index(place)) : std::string();
  return fmt::format("{}{}", module_[id].name, index);
}

std::string ValueStore::describe(const Location& at) const {
  return fmt::format("bytes {} to {} of S({})", grouped(at.start), grouped(at.end()),
                     placement_.spaces()[static_cast<size_t>(at.image)].space);
}

void ValueStore::add_fault(FaultKind kind, std::string_view what) {
  if (fault_) return;
  const Instruction& instruction = module_[instruction_];
  fault_ = PhysicalFault{kind, instruction_, step_, error_at(module_, instruction, "")};
  fault_->diagnostic.message =
      step_ < analysis_.schedule.end()
          ? fmt::format("{} at step {}: {}: {}", instruction.name, step_, to_text(kind), what)
          : fmt::format("{}, when the results are read: {}: {}", instruction.name, to_text(kind), what);
}

const Result<TiledBytes>& ValueStore::made_bytes(ShapeRef shape) {
  const auto found = tiled_.find(shape);
  if (found != tiled_.end()) return found->second;
  return tiled_.emplace(shape, TiledBytes::make(shape)).first->second;
}

const TiledBytes& ValueStore::bytes_of(ShapeRef shape) {
  const Result<TiledBytes>& made = made_bytes(shape);
  HLOSIM_CHECK(made, "{}", made.error().message);
  return *made;
}

std::optional<Diagnostic> ValueStore::layout_problem() {
  for (const InstructionId id : analysis_.schedule.steps)
    for (Place place = analysis_.places.first(id); place < analysis_.places.end(analysis_.places.first(id));
         ++place) {
      const ShapeRef shape = analysis_.places.shape(place);
      if (!shape->is_array() || value_at(place) == kNoValue) continue;
      if (const Result<TiledBytes>& made = made_bytes(shape); !made)
        return error_at(module_, module_[id], made.error().message);
    }
  return std::nullopt;
}

// ── writing ─────────────────────────────────────────────────────

ValueStore::Current& ValueStore::new_turn(Place place) {
  const ValueIndex value = value_at(place);
  Current& now = current(value);
  now = {now.turn + 1, analysis_.places.shape(place), {}, nullptr, -1, -1, false};
  seen_[static_cast<size_t>(place)] = {now.turn, now.shape};
  return now;
}

void ValueStore::check_space(Place place, int64_t space) {
  if (failed() || !analysis_.places.shape(place)->is_array()) return;
  const ValueIndex value = value_at(place);
  if (value == kNoValue || placement_.of(value).image < 0) return;
  const int64_t lies_in = placement_.spaces()[static_cast<size_t>(placement_.of(value).image)].space;
  if (lies_in != space)
    add_fault(FaultKind::kWrongSpace,
              fmt::format("{}{} must be in S({}), {} is in S({})", module_[instruction_].name,
                          index_text(analysis_.places.index(place)), space, name(value), lies_in));
}

/// The memory of the value at `place` is its own from now on.
bool ValueStore::claim(Place place) {
  const ValueIndex value = value_at(place);
  const ShapeRef shape = analysis_.places.shape(place);
  const Location& at = placement_.of(value);
  if (at.image < 0) {
    add_fault(FaultKind::kMisplaced, fmt::format("{} has no place in memory", name(value)));
    return false;
  }
  if (shape->is_array()) check_space(place, shape->memory_space());
  if (failed()) return false;
  if (shape->is_array() && bytes_of(shape).size() > at.size) {
    add_fault(FaultKind::kOutside,
              fmt::format("{} takes {} bytes, its place, {}, has {}", to_text(shape),
                          grouped(bytes_of(shape).size()), describe(at), grouped(at.size)));
    return false;
  }
  const int64_t space = placement_.spaces()[static_cast<size_t>(at.image)].space;
  const auto capacity = options_.capacities.find(space);
  if (capacity != options_.capacities.end() && at.end() > capacity->second && at.size > 0) {
    add_fault(FaultKind::kOutside, fmt::format("{} would be at {}, which has {}", name(value), describe(at),
                                               grouped(capacity->second)));
    return false;
  }
  if (!may_write(value, at)) return false;
  image(at).hand_over(at.start, at.end(), writing(value));
  return true;
}

bool ValueStore::may_write(ValueIndex value, const Location& at) {
  for (const Hold& hold : holds_) {
    if (hold.image != at.image || hold.end <= at.start || hold.start >= at.end()) continue;
    if (hold.is_source)
      add_fault(FaultKind::kOperandChanged,
                fmt::format("{} is written to {} while an asynchronous operation still reads {} there",
                            name(value), describe(at), name(hold.value)));
    else
      add_fault(FaultKind::kOverlap,
                fmt::format("{} is written to {}, where {} is in flight or in use at the same time",
                            name(value), describe(at), name(hold.value)));
    return false;
  }
  bool free = true;
  image(at).for_each_written(
      at.start, at.end(), [&](const WrittenPiece& there) { free = free && may_replace(value, at, there); });
  return free;
}

/// A slice lies where the array that it becomes a part of has it.
bool ValueStore::joins_there(ValueIndex value, ValueIndex slice) const {
  const Instruction& join = module_[analysis_.definer(value)];
  if (!is_concat_bitcast(join)) return false;
  Location expected = placement_.of(value);
  for (const InstructionId operand : join.operands) {
    const ValueIndex part = analysis_.values.at(analysis_.places.first(operand));
    if (part == kNoValue) return false;
    expected.size = placement_.of(part).size;
    if (part == slice) return placement_.of(part) == expected;
    expected.start += expected.size;
  }
  return false;
}

bool ValueStore::may_replace(ValueIndex value, const Location& at, const WrittenPiece& there) {
  const ValueIndex before = there.by.value;
  if (before == value || there.by.turn != current(before).turn) return true;
  const bool is_constant = dataflow(module_[analysis_.definer(before)].opcode).is_constant;
  const LiveRange& range = analysis_.ranges[static_cast<size_t>(before)];
  const Location& place = placement_.of(before);
  if (!is_constant) {
    if (analysis_.buffers->of(before) == analysis_.buffers->of(value)) return true;
    if (range.known() && range.end < step_) return true;
    if (range.known() && range.end == step_ && place.start == at.start &&
        interference_.takes_over(value, before))
      return true;
    if (range.known() && range.end == step_ && joins_there(value, before)) return true;
  }
  add_fault(FaultKind::kOverlap,
            fmt::format("{} is written to {} over {} at {}, {}", name(value), describe(at), name(before),
                        describe(place),
                        is_constant ? std::string("a constant")
                        : range.end == step_
                            ? std::string("which the instruction may not write over as it reads it")
                            : fmt::format("which is needed until step {}", range.end)));
  return false;
}

void ValueStore::write(ValueIndex value, const Array& data) {
  Current& now = current(value);
  const Location& at = placement_.of(value);
  MemoryImage& memory = image(at);
  now.has_data = now.shape->is_array() && data.data;
  now.sizes = data.sizes;
  if (!now.has_data) {
    now.carried = data;
    memory.poison(at.start, at.end());
    return;
  }
  const TiledBytes& tiled = bytes_of(now.shape);
  if (tiled.has_padding() || tiled.size() < at.size) memory.poison(at.start, at.end());
  tiled.write(data.bytes(), memory.bytes(at.start));
  bytes_written_ += tiled.size();
}

void ValueStore::define(Place place, const Array& value) {
  if (failed() || value_at(place) == kNoValue) return;
  new_turn(place);
  if (claim(place)) write(value_at(place), value);
}

void ValueStore::define_later(Place place, const Array& value, int32_t transfer) {
  if (failed() || value_at(place) == kNoValue) return;
  Current& now = new_turn(place);
  if (!claim(place)) return;
  const Location& at = placement_.of(value_at(place));
  image(at).poison(at.start, at.end());
  now.carried = value;
  now.sizes = value.sizes;
  now.transfer = transfer;
  hold_target(transfer, value_at(place));
}

void ValueStore::define_failed(Place place, int32_t failure) {
  if (failed() || value_at(place) == kNoValue) return;
  Current& now = new_turn(place);
  now.failure = failure;
  if (claim(place)) {
    const Location& at = placement_.of(value_at(place));
    image(at).poison(at.start, at.end());
  }
}

int32_t ValueStore::failure_at(Place place) const {
  const ValueIndex value = value_at(place);
  return value == kNoValue ? -1 : current(value).failure;
}

// ── handing on ──────────────────────────────────────────────────

void ValueStore::forward(Place from, Place to, bool is_bitcast) {
  const ValueIndex value = value_at(to);
  if (failed() || value == kNoValue) return;
  Seen& target = seen_[static_cast<size_t>(to)];
  target = seen_[static_cast<size_t>(from)];
  const ShapeRef shape = analysis_.places.shape(to);
  if (!shape->is_array()) return;
  // Before a compiler is done, spaces are wishes: only what makes a value has to have it where it says.
  if (module_.is_scheduled()) check_space(to, shape->memory_space());
  if (!is_bitcast) return;
  check_bitcast(from, to);
  target.shape = shape;
}

void ValueStore::see(Place place) {
  const ValueIndex value = value_at(place);
  if (failed() || value == kNoValue) return;
  const ShapeRef shape = analysis_.places.shape(place), written = current(value).shape;
  const bool same = written && written->logical == shape->logical;
  seen_[static_cast<size_t>(place)] = {current(value).turn, same ? written : shape};
}

void ValueStore::pass(Place from, Place to) {
  const ValueIndex before = value_at(from), after = value_at(to);
  if (failed() || after == kNoValue) return;
  if (before == kNoValue) return see(to);
  if (current(before).failure < 0 && !check_read(from, true)) return;
  if (before == after) {
    seen_[static_cast<size_t>(to)] = seen_[static_cast<size_t>(from)];
    return;
  }
  const Location &one = placement_.of(before), &two = placement_.of(after);
  if (one.image != two.image || one.start != two.start) {
    add_fault(FaultKind::kMisplaced, fmt::format("{} at {} becomes {}, which is at {}", name(before),
                                                 describe(one), name(after), describe(two)));
    return;
  }
  const uint32_t turn = current(after).turn + 1;
  current(after) =
      std::exchange(current(before), {current(before).turn, nullptr, {}, nullptr, -1, -1, false});
  current(after).turn = turn;
  for (Hold& hold : holds_)
    if (hold.value == before) hold.value = after;
  image(two).hand_over(two.start, two.end(), writing(after));
  seen_[static_cast<size_t>(to)] = {turn, seen_[static_cast<size_t>(from)].shape};
}

std::string ValueStore::bitcast_problem(ShapeRef from, ShapeRef declared, ShapeRef to) const {
  const BitcastClass is = classify_bitcast(from, to), meant = classify_bitcast(declared, to);
  const bool counts =
      from->element_count() == to->element_count() && element_storage_bits(from) == element_storage_bits(to);
  if (is.is_no_op() && is.permutation == meant.permutation) return {};
  if (counts && meant.permutation.empty() && is_reshape_by_exhaustion(from, to).value_or(false)) return {};
  if (counts)
    return fmt::format("the bytes of {} are not the same elements as {}", to_text(from), to_text(to));
  const Result<LayoutMap> map_from = LayoutMap::make(from), map_to = LayoutMap::make(to);
  const bool whole = map_from && map_to && map_from->exhaustive();
  if (whole) return {};
  return fmt::format("{} reads padding of {}", to_text(to), to_text(from));
}

void ValueStore::check_bitcast(Place from, Place to) {
  const ShapeRef bytes = view(from), declared = analysis_.places.shape(from),
                 shape = analysis_.places.shape(to);
  if (failed() || !bytes || !bytes->is_array() || (bytes == shape && declared == shape)) return;
  const auto [known, is_new] = bitcasts_.try_emplace({bytes, declared, shape});
  if (is_new) known->second = bitcast_problem(bytes, declared, shape);
  if (!known->second.empty()) return add_fault(FaultKind::kNotANoOp, known->second);
  const ValueIndex value = value_at(to);
  if (value == kNoValue || placement_.of(value).image < 0) return;
  if (bytes_of(shape).size() > placement_.of(value).size)
    add_fault(FaultKind::kOutside,
              fmt::format("{} takes {} bytes, {} has {}", to_text(shape), grouped(bytes_of(shape).size()),
                          name(value), grouped(placement_.of(value).size)));
}

// ── reading ─────────────────────────────────────────────────────

bool ValueStore::check_read(Place place, bool may_be_under_way) {
  if (failed()) return false;
  const ValueIndex value = value_at(place);
  const Current& now = current(value);
  const Seen& meant = seen_[static_cast<size_t>(place)];
  const Location& at = placement_.of(value);
  if (meant.turn == 0 || at.image < 0) {
    add_fault(FaultKind::kReadPoison, fmt::format("nothing has made {} yet", name(value)));
    return false;
  }
  if (now.transfer >= 0 && !may_be_under_way) {
    add_fault(FaultKind::kReadBeforeDone,
              fmt::format("{} is still under way to {}", name(value), describe(at)));
    return false;
  }
  if (meant.turn == now.turn &&
      (now.failure >= 0 || image(at).belongs_to(at.start, at.end(), writing(value))))
    return true;
  const WrittenPiece other = image(at).first_other(at.start, at.end(), {value, meant.turn});
  if (other.by.value < 0)
    add_fault(FaultKind::kReadPoison, fmt::format("{} at {}: bytes {} to {} were never written", name(value),
                                                  describe(at), grouped(other.start), grouped(other.end)));
  else if (other.is_free)
    add_fault(FaultKind::kReadPoison,
              fmt::format("{} at {}: the memory was given up", name(value), describe(at)));
  else
    add_fault(FaultKind::kReadOverwritten,
              fmt::format("{} at {}: {} was written there since", name(value), describe(at),
                          other.by.value == value ? "a later " + name(value) : name(other.by.value)));
  return false;
}

Array ValueStore::read(Place place) {
  Array out;
  out.shape = analysis_.places.shape(place);
  const ValueIndex value = value_at(place);
  if (value == kNoValue || !check_read(place, false)) return out;
  const Current& now = current(value);
  if (!now.has_data || !out.shape->is_array()) {
    out.data = now.carried.data;
    out.sizes = now.carried.sizes;
    return out;
  }
  const Location& at = placement_.of(value);
  out.data = pool_.allocate(data_bytes(out.shape));
  out.sizes = now.sizes;
  bytes_of(view(place)).read(image(at).bytes(at.start), out.bytes());
  return out;
}

Array ValueStore::expected(Place place) const {
  Array out;
  out.shape = analysis_.places.shape(place);
  if (const ValueIndex value = value_at(place); value != kNoValue) {
    out.data = current(value).carried.data;
    out.sizes = current(value).carried.sizes;
  }
  return out;
}

}  // namespace hlosim
