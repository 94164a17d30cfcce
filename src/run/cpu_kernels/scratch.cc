#include "cpu_kernels/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/rounding.h"

namespace hlosim {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmallest = 4096;
constexpr size_t kMostKept = size_t{64} << 20;  // a larger piece goes back to the system

struct Piece {
  void* data = nullptr;
  size_t capacity = 0;
};

size_t rounded(size_t bytes) {
  const size_t step = bytes >= kHugePage ? kHugePage : kSmallest;
  return round_up(std::max<size_t>(bytes, 1), step);
}

// The pieces a thread gave back last.
struct KeptPieces {
  std::array<Piece, 8> pieces;

  ~KeptPieces() {
    for (const Piece& piece : pieces) std::free(piece.data);
  }

  /// The smallest that holds `bytes` and isn't wasted on it, or none.
  Piece take(size_t bytes) {
    const size_t most = std::max(bytes * 8, size_t{64} << 10);
    Piece* best = nullptr;
    for (Piece& piece : pieces)
      if (piece.capacity >= bytes && piece.capacity <= most &&
          (best == nullptr || piece.capacity < best->capacity))
        best = &piece;
    return best == nullptr ? Piece{} : std::exchange(*best, Piece{});
  }

  /// Keeps the larger ones.
  void give(Piece piece) {
    Piece& smallest = *std::min_element(
        pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.capacity < b.capacity; });
    if (smallest.capacity < piece.capacity && piece.capacity <= kMostKept) std::swap(smallest, piece);
    std::free(piece.data);
  }
};

KeptPieces& kept() {
  static thread_local KeptPieces instance;
  return instance;
}

}  // namespace

Scratch::Scratch(int64_t bytes) {
  HLOSIM_CHECK(bytes >= 0, "{} bytes", bytes);
  if (bytes == 0) return;
  const Piece piece = kept().take(static_cast<size_t>(bytes));
  data_ = piece.data;
  capacity_ = piece.capacity;
  if (data_ != nullptr) return;
  capacity_ = rounded(static_cast<size_t>(bytes));
  const bool huge = capacity_ >= kHugePage;
  data_ = std::aligned_alloc(huge ? kHugePage : 64, capacity_);
  HLOSIM_CHECK(data_ != nullptr, "out of memory for {} bytes of scratch", bytes);
  if (huge) madvise(data_, capacity_, MADV_HUGEPAGE);
}

Scratch::~Scratch() {
  if (data_ != nullptr) kept().give({data_, capacity_});
}

}  // namespace hlosim
