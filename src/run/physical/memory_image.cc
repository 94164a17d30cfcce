#include "physical/memory_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "physical/tiled_bytes.h"

namespace hlosim {

// Uninitialised: pages that nothing ever lies in are never touched.
MemoryImage::MemoryImage(int64_t size) : size_(size), bytes_(new std::byte[static_cast<size_t>(size)]) {}

/// The first piece that ends behind `start`.
MemoryImage::Pieces::const_iterator MemoryImage::first_behind(int64_t start) const {
  auto at = pieces_.upper_bound(start);
  if (at != pieces_.begin() && std::prev(at)->second.end > start) --at;
  return at;
}

void MemoryImage::hand_over(int64_t start, int64_t end, Writing by) {
  HLOSIM_CHECK(0 <= start && start <= end && end <= size_, "{} to {} of {}", start, end, size_);
  if (start == end) return;
  const auto exact = pieces_.find(start);
  if (exact != pieces_.end() && exact->second.end == end) {
    exact->second = {start, end, by, false};
    return;
  }
  auto at = first_behind(start);
  while (at != pieces_.end() && at->first < end) {
    const WrittenPiece piece = at->second;
    at = pieces_.erase(at);
    if (piece.start < start) pieces_[piece.start] = {piece.start, start, piece.by, piece.is_free};
    if (piece.end > end) at = pieces_.insert({end, {end, piece.end, piece.by, piece.is_free}}).first;
    if (piece.end > end) break;
  }
  pieces_[start] = {start, end, by, false};
}

void MemoryImage::poison(int64_t start, int64_t end) {
  std::memset(bytes(start), std::to_integer<int>(kPoison), static_cast<size_t>(end - start));
}

void MemoryImage::claim(int64_t start, int64_t end, Writing by) {
  hand_over(start, end, by);
  poison(start, end);
}

void MemoryImage::free(int64_t start, int64_t end, Writing by) {
  if (start == end || !belongs_to(start, end, by)) return;
  pieces_[start].is_free = true;
  poison(start, end);
}

bool MemoryImage::belongs_to(int64_t start, int64_t end, Writing by) const {
  if (start == end) return true;
  const auto at = pieces_.find(start);
  return at != pieces_.end() && at->second.end == end && at->second.by == by && !at->second.is_free;
}

WrittenPiece MemoryImage::first_other(int64_t start, int64_t end, Writing by) const {
  for (auto at = first_behind(start); at != pieces_.end() && at->first < end; ++at) {
    if (at->first > start) return {start, at->first, {}, false};
    if (at->second.by != by || at->second.is_free) return at->second;
    start = at->second.end;
  }
  return {start, end, {}, false};
}

}  // namespace hlosim
