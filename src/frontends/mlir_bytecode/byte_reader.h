// A window on the bytes of an artifact that is read from front to back. The first thing that is wrong is
// kept with its place; from then on every read yields zeros and no loop goes on.
//
//   Fault fault;
//   ByteReader in(file, 4, file.size(), fault);
//   const uint64_t version = in.varint();
//   if (!in.ok()) … fault.message, fault.offset
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim::mlir {

/// What is wrong with an artifact, and at which byte.
struct Fault {
  std::string message;
  std::string hint;
  size_t offset = 0;
  bool is_set = false;

  void set(size_t at, std::string what, std::string advice = {});
  Diagnostic diagnostic(const SourcePtr& source) const;
};

class ByteReader {
 public:
  ByteReader() = default;
  /// Requires: begin <= end <= file.size().
  ByteReader(std::string_view file, size_t begin, size_t end, Fault& fault)
      : bytes_(file.data()), at_(begin), end_(end), fault_(&fault) {}

  size_t offset() const { return at_; }
  size_t end() const { return end_; }
  size_t left() const { return end_ - at_; }
  bool ok() const { return !fault_->is_set; }
  Fault& fault() const { return *fault_; }

  /// A fault at the byte that is read next; the rest is skipped.
  void fail(std::string message, std::string hint = {}) { fail_at(at_, std::move(message), std::move(hint)); }
  void fail_at(size_t offset, std::string message, std::string hint = {});

  uint8_t byte() {
    if (at_ == end_) [[unlikely]]
      return ended();
    return static_cast<uint8_t>(bytes_[at_++]);
  }

  /// An integer whose first byte tells, by its trailing zeros, how many more it takes.
  uint64_t varint() {
    if (at_ == end_) [[unlikely]]
      return ended();
    const auto first = static_cast<uint8_t>(bytes_[at_]);
    if (first & 1) [[likely]] {
      ++at_;
      return first >> 1;
    }
    return long_varint(first);
  }
  /// The same, zigzag.
  int64_t svarint() {
    const uint64_t value = varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }

  /// A varint below `limit`; `what` names it in the fault. 0 after one.
  uint32_t index(size_t limit, std::string_view what) {
    const size_t at = at_;
    const uint64_t value = varint();
    if (value >= limit) [[unlikely]]
      return out_of_range(at, value, limit, what);
    return static_cast<uint32_t>(value);
  }

  /// How many items follow, each of which takes a byte at least.
  size_t count(std::string_view what) {
    const size_t at = at_;
    const uint64_t value = varint();
    if (value > left()) [[unlikely]]
      return too_many(at, value, what);
    return static_cast<size_t>(value);
  }

  /// The next `size` bytes.
  std::string_view take(uint64_t size, std::string_view what);
  /// Up to the NUL, which is skipped.
  std::string_view take_text(std::string_view what);
  /// Skips padding up to a multiple of `alignment` of the file's bytes.
  void align(uint64_t alignment);

 private:
  uint8_t ended();
  uint64_t long_varint(uint8_t first);
  uint32_t out_of_range(size_t at, uint64_t value, size_t limit, std::string_view what);
  size_t too_many(size_t at, uint64_t value, std::string_view what);

  const char* bytes_ = nullptr;
  size_t at_ = 0, end_ = 0;
  Fault* fault_ = nullptr;
};

}  // namespace hlosim::mlir
