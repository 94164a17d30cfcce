#include "array/memory_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/rounding.h"

namespace hlosim {
namespace {

using internal::Block;

constexpr int64_t kAlignment = 64;
constexpr int64_t kSmallLimit = 32 << 10;   // larger blocks come from the range
constexpr int64_t kSmallChunk = 256 << 10;  // small ones are cut from chunks of this size
constexpr int kSmallClasses = 16;           // 64 bytes << class
constexpr int64_t kLargeUnit = 4 << 10;
constexpr int64_t kHugePage = 2 << 20;

int small_class(int64_t bytes) {
  return bytes <= kAlignment ? 0 : std::bit_width(static_cast<uint64_t>(bytes - 1)) - 6;
}

// Addresses cost nothing until they are touched, so the range is twice the machine's memory: room for gaps.
int64_t physical_bytes() {
  constexpr int64_t kUnknown = int64_t{1} << 30;  // WASI doesn't say
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? pages * sysconf(_SC_PAGE_SIZE) : kUnknown;
}

}  // namespace

struct MemoryPool::State {
  mutable std::mutex mutex;
  int64_t live = 0, peak = 0;

  // Small blocks.
  Block* free_small[kSmallClasses] = {};
  std::vector<std::unique_ptr<std::byte[]>> chunks;
  std::byte* chunk_at = nullptr;
  std::byte* chunk_end = nullptr;

  // Large blocks: free pieces of the range by place and by size.
  std::byte* range = nullptr;
  int64_t range_bytes = 0, touched = 0;
  void* mapping = nullptr;
  int64_t mapping_bytes = 0;
  std::map<int64_t, int64_t> free_at;                // offset → bytes
  std::set<std::pair<int64_t, int64_t>> free_sizes;  // (bytes, offset)
  Block* free_headers = nullptr;

  Block* take_small(int64_t bytes);
  Block* take_large(int64_t bytes);
  void give_back(Block* block);
  void reserve_range();
  void add_free(int64_t offset, int64_t bytes);
  void remove_free(std::map<int64_t, int64_t>::iterator piece);
  std::byte* cut(int64_t bytes);
};

// `bytes` of a chunk that is never given back before the pool goes.
std::byte* MemoryPool::State::cut(int64_t bytes) {
  if (chunk_end - chunk_at < bytes) {
    const auto size = static_cast<size_t>(kSmallChunk + kAlignment);
    chunks.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    const auto address = reinterpret_cast<uintptr_t>(chunks.back().get());
    chunk_at = chunks.back().get() + (kAlignment - address % kAlignment) % kAlignment;
    chunk_end = chunk_at + kSmallChunk;
  }
  std::byte* result = chunk_at;
  chunk_at += bytes;
  return result;
}

Block* MemoryPool::State::take_small(int64_t bytes) {
  const int index = small_class(bytes);
  if (Block* block = free_small[index]) {
    free_small[index] = block->next;
    return block;
  }
  const int64_t capacity = kAlignment << index;
  std::byte* place = cut(kAlignment + capacity);
  auto* block = new (place) Block{};
  block->capacity = capacity;
  block->data = place + kAlignment;
  return block;
}

void MemoryPool::State::reserve_range() {
  // Where a limit is set on addresses, as much as there is.
  for (range_bytes = round_up(2 * physical_bytes(), kHugePage);;
       range_bytes = round_up(range_bytes / 2, kHugePage)) {
    mapping_bytes = range_bytes + kHugePage;
    mapping = mmap(nullptr, static_cast<size_t>(mapping_bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping != MAP_FAILED) break;
    HLOSIM_CHECK(range_bytes > kHugePage, "cannot reserve {} bytes of addresses: {}", mapping_bytes,
                 strerror(errno));
  }
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  range = static_cast<std::byte*>(mapping) +
          (static_cast<uintptr_t>(kHugePage) - address % kHugePage) % kHugePage;
  madvise(range, static_cast<size_t>(range_bytes), MADV_HUGEPAGE);  // a wish: without it all is slower
  add_free(0, range_bytes);
}

void MemoryPool::State::add_free(int64_t offset, int64_t bytes) {
  auto next = free_at.lower_bound(offset);
  if (next != free_at.end() && next->first == offset + bytes) {
    bytes += next->second;
    auto merged = next++;
    remove_free(merged);
  }
  if (next != free_at.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      remove_free(before);
    }
  }
  free_at.emplace(offset, bytes);
  free_sizes.emplace(bytes, offset);
}

void MemoryPool::State::remove_free(std::map<int64_t, int64_t>::iterator piece) {
  free_sizes.erase({piece->second, piece->first});
  free_at.erase(piece);
}

Block* MemoryPool::State::take_large(int64_t bytes) {
  if (!range) reserve_range();
  const int64_t size = round_up(bytes, kLargeUnit);
  const auto fit = free_sizes.lower_bound({size, 0});
  HLOSIM_CHECK(fit != free_sizes.end(), "{} bytes do not fit: {} of {} bytes are in use", bytes, live,
               range_bytes);
  const auto [piece_bytes, offset] = *fit;
  remove_free(free_at.find(offset));
  if (piece_bytes > size) add_free(offset + size, piece_bytes - size);
  touched = std::max(touched, offset + size);
  Block* block = free_headers;
  if (block)
    free_headers = block->next;
  else
    block = new (cut(kAlignment)) Block{};
  block->capacity = size;
  block->data = range + offset;
  return block;
}

void MemoryPool::State::give_back(Block* block) {
  live -= block->capacity;
  if (block->capacity <= kSmallLimit) {
    const int index = small_class(block->capacity);
    block->next = free_small[index];
    free_small[index] = block;
    return;
  }
  add_free(block->data - range, block->capacity);
  block->next = free_headers;
  free_headers = block;
}

MemoryPool::MemoryPool() : state_(std::make_unique<State>()) {}

MemoryPool::~MemoryPool() {
  HLOSIM_CHECK(state_->live == 0, "{} bytes of a memory pool outlive it", state_->live);
  if (state_->mapping) munmap(state_->mapping, static_cast<size_t>(state_->mapping_bytes));
}

Buffer MemoryPool::allocate(int64_t bytes) {
  HLOSIM_CHECK(bytes >= 0, "{} bytes", bytes);
  const std::lock_guard lock(state_->mutex);
  Block* block = bytes <= kSmallLimit ? state_->take_small(bytes) : state_->take_large(bytes);
  block->pool = this;
  block->references.store(1, std::memory_order_relaxed);
  state_->live += block->capacity;
  state_->peak = std::max(state_->peak, state_->live);
  return Buffer(block);
}

int64_t MemoryPool::live_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->live;
}
int64_t MemoryPool::peak_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->peak;
}
int64_t MemoryPool::touched_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->touched;
}

void internal::release(Block* block) {
  MemoryPool& pool = *block->pool;
  const std::lock_guard lock(pool.state_->mutex);
  pool.state_->give_back(block);
}

}  // namespace hlosim
