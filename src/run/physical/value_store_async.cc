// Values under way, what holds memory meanwhile, and when memory is given up.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "physical/value_store.h"

namespace hlosim {

int32_t ValueStore::begin() { return next_transfer_++; }

void ValueStore::hold_source(int32_t transfer, Place place) {
  const ValueIndex value = value_at(place);
  if (failed() || value == kNoValue || placement_.of(value).size == 0) return;
  const Location& at = placement_.of(value);
  const bool is_target = std::any_of(holds_.begin(), holds_.end(), [&](const Hold& hold) {
    return hold.transfer == transfer && hold.image == at.image && hold.start < at.end() &&
           at.start < hold.end;
  });
  if (!is_target) holds_.push_back({transfer, at.image, at.start, at.end(), value, true});
}

void ValueStore::hold_target(int32_t transfer, ValueIndex value) {
  const Location& at = placement_.of(value);
  if (!failed() && at.size > 0) holds_.push_back({transfer, at.image, at.start, at.end(), value, false});
}

void ValueStore::send_off(Place place, int32_t transfer) {
  const ValueIndex value = value_at(place);
  if (failed() || value == kNoValue) return;
  Array data = read(place);
  if (failed()) return;
  const Location& at = placement_.of(value);
  image(at).poison(at.start, at.end());
  Current& now = current(value);
  now.carried = std::move(data);
  now.transfer = transfer;
  hold_target(transfer, value);
}

bool ValueStore::is_under_way(Place place) const { return transfer_at(place) >= 0; }

int32_t ValueStore::transfer_at(Place place) const {
  const ValueIndex value = value_at(place);
  return value == kNoValue ? -1 : current(value).transfer;
}

void ValueStore::arrive(Place place, const Array& data) {
  const ValueIndex value = value_at(place);
  if (failed() || value == kNoValue || !is_under_way(place) || !check_read(place, true)) return;
  Current& now = current(value);
  now.transfer = -1;
  const Array sent = std::exchange(now.carried, {});
  write(value, data.data ? data : sent);
}

void ValueStore::end(int32_t transfer) {
  std::erase_if(holds_, [&](const Hold& hold) { return hold.transfer == transfer; });
}

void ValueStore::free_ending_at(int32_t step) {
  if (failed()) return;
  for (const ValueIndex value : ending_at_[static_cast<size_t>(step)]) {
    const Location& at = placement_.of(value);
    if (at.image < 0 || at.size == 0 || current(value).turn == 0 ||
        !image(at).belongs_to(at.start, at.end(), writing(value)))
      continue;
    for (const Hold& hold : holds_)
      if (hold.image == at.image && hold.start < at.end() && at.start < hold.end)
        add_fault(FaultKind::kOperandChanged,
                  fmt::format("the memory of {}, {}, is given up while an asynchronous operation uses it",
                              name(value), describe(at)));
    image(at).free(at.start, at.end(), writing(value));
  }
}

}  // namespace hlosim
