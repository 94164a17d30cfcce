// What the threads of a pass work with.
//
//   WorkerPool<AlignedBytes> pool;
//   const auto scratch = pool.take([] { return std::make_unique<AlignedBytes>(4096); });
//   std::byte* bytes = (*scratch).data();      // goes back when `scratch` ends
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/rounding.h"
#include "elementwise/element_program.h"
#include "exec/cluster_load.h"

namespace hlosim {

/// Things that are dear to make and that one thread uses at a time.
template <class T>
class WorkerPool {
 public:
  /// Goes back to the pool by itself.
  class Lease {
   public:
    Lease(WorkerPool& pool, std::unique_ptr<T> worker) : pool_(pool), worker_(std::move(worker)) {}
    Lease(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.rest_.push_back(std::move(worker_));
    }
    T& operator*() const { return *worker_; }

   private:
    WorkerPool& pool_;
    std::unique_ptr<T> worker_;
  };

  /// One that rests, or what `make` returns.
  template <class Make>
  Lease take(Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!rest_.empty()) {
        std::unique_ptr<T> worker = std::move(rest_.back());
        rest_.pop_back();
        return Lease(*this, std::move(worker));
      }
    }
    return Lease(*this, make());
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> rest_;
};

class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes) : storage_(std::make_unique_for_overwrite<std::byte[]>(bytes + 64)) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.get());
    data_ = storage_.get() + (64 - address % 64) % 64;
  }
  std::byte* data() const { return data_; }

 private:
  std::unique_ptr<std::byte[]> storage_;
  std::byte* data_;
};

/// How many elements a program is given at once: few enough that all its registers stay in the L1 cache,
/// enough that calls cost little.
class BlockLengths {
 public:
  BlockLengths() = default;
  /// `widths`: of what streams in and out. `count`: elements there are.
  BlockLengths(const ElementProgram& program, std::span<const int64_t> widths, int64_t count) {
    constexpr int64_t kCacheBytes = 20 << 10;  // of the 32 KiB of L1
    int64_t bytes = static_cast<int64_t>(program.register_count()) * program.widest();
    for (const int64_t width : widths) bytes += width;
    longest_ = 1024;
    while (longest_ > 128 && longest_ * bytes > kCacheBytes) longest_ /= 2;
    longest_ = piece_ = std::min(longest_, count);
    count_ = count;
  }
  /// Blocks are whole rows, or end where rows do.
  void follow(BlockRows rows) {
    rows_ = rows;
    if (rows.length == 0) return;
    if (rows.several) {
      piece_ = std::max<int64_t>(1, longest_ / rows.length) * rows.length;
      longest_ = piece_ = std::min(piece_, count_);
      return;
    }
    // Equal pieces, which begin where a cache line does if rows do.
    const int64_t pieces = ceil_div(rows.length, longest_);
    piece_ = std::min(longest_, round_up(ceil_div(rows.length, pieces), 16));
  }

  int64_t longest() const { return longest_; }
  /// Elements from `position` on that make a block.
  int64_t at(int64_t position) const {
    if (rows_.length == 0) return piece_;
    const int64_t in_row = position % rows_.length;
    return rows_.several && in_row == 0 ? piece_ : std::min(piece_, rows_.length - in_row);
  }

 private:
  int64_t longest_ = 1, piece_ = 1, count_ = 1;
  BlockRows rows_;
};

}  // namespace hlosim
