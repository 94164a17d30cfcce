// The memories of a device while a module runs on real bytes: one range per memory space, and who wrote each
// piece of it.
//
//   MemoryImage memory(4096);
//   memory.claim(0, 64, {value, 1});               // poison until it is written
//   memory.belongs_to(0, 64, {value, 1})
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace hlosim {

/// Something that was written: a value, and which time it was.
struct Writing {
  int32_t value = -1;
  uint32_t turn = 0;
  bool operator==(const Writing&) const = default;
};

/// A piece of memory that one writing filled.
struct WrittenPiece {
  int64_t start = 0, end = 0;  // bytes, the end not included
  Writing by;
  bool is_free = false;  // given up since: poison
};

class MemoryImage {
 public:
  /// `size` bytes, none of them written.
  explicit MemoryImage(int64_t size);

  int64_t size() const { return size_; }
  std::byte* bytes(int64_t offset) { return bytes_.get() + offset; }

  /// The bytes belong to `by` from now on, and are poison until it writes them.
  void claim(int64_t start, int64_t end, Writing by);
  /// The bytes stay as they are and belong to `by`.
  void hand_over(int64_t start, int64_t end, Writing by);
  /// All of these bytes, if they still belong to `by`, are poison and belong to no value.
  void free(int64_t start, int64_t end, Writing by);
  void poison(int64_t start, int64_t end);

  /// All of these bytes were written by `by`, and by nothing since.
  bool belongs_to(int64_t start, int64_t end, Writing by) const;
  /// The first piece there that `by` didn't write; without a writing: nothing ever wrote there.
  WrittenPiece first_other(int64_t start, int64_t end, Writing by) const;
  /// Calls f(const WrittenPiece&) for what was written there and not given up.
  template <class F>
  void for_each_written(int64_t start, int64_t end, F&& f) const {
    for (auto at = first_behind(start); at != pieces_.end() && at->first < end; ++at)
      if (!at->second.is_free) f(at->second);
  }

 private:
  using Pieces = std::map<int64_t, WrittenPiece>;  // by start; none overlap
  Pieces::const_iterator first_behind(int64_t start) const;

  int64_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  Pieces pieces_;
};

}  // namespace hlosim
