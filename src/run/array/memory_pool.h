// Where the bytes of arrays come from.
//
// Fresh pages cost more than the operation that fills them (a page fault per 4 KiB), so memory that an
// array gave back is handed out again. Large blocks lie in one reserved range of addresses, backed by
// huge pages: freed neighbours merge, the best fit is taken, and only what was ever touched is
// resident. Small blocks come in classes of powers of two.
//
//   MemoryPool pool;
//   Buffer bytes = pool.allocate(1024);            // 64-byte aligned; back in the pool with its last copy
//   std::memset(bytes.data(), 0, 1024);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hlosim {

class MemoryPool;

namespace internal {
struct Block {
  std::atomic<int64_t> references;
  int64_t capacity;  // bytes of data
  MemoryPool* pool;
  std::byte* data;
  Block* next;  // in a list of free blocks
};
void release(Block* block);
}  // namespace internal

/// Shared bytes of a MemoryPool, 64-byte aligned. Copies share; the last one to go gives them back.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer& other) : block_(other.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() {
    if (block_ && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) internal::release(block_);
  }

  std::byte* data() const { return block_ ? block_->data : nullptr; }
  /// Bytes that may be used, at least those asked for.
  int64_t capacity() const { return block_ ? block_->capacity : 0; }
  /// These bytes aren't held elsewhere, so they may be overwritten.
  bool unique() const { return block_ && block_->references.load(std::memory_order_acquire) == 1; }
  explicit operator bool() const { return block_ != nullptr; }

 private:
  friend class MemoryPool;
  explicit Buffer(internal::Block* block) : block_(block) {}
  internal::Block* block_ = nullptr;
};

/// Outlives its buffers. All functions may be called from several threads.
class MemoryPool {
 public:
  MemoryPool();
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `bytes` uninitialised bytes, 0 allowed. Running out of memory aborts with the number: ask for
  /// the peak of a program first (Program::peak_bytes()).
  Buffer allocate(int64_t bytes);

  int64_t live_bytes() const;     // in blocks handed out
  int64_t peak_bytes() const;     // the most live_bytes() ever was
  int64_t touched_bytes() const;  // high-water mark of the range: what may be resident

 private:
  friend void internal::release(internal::Block* block);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hlosim
