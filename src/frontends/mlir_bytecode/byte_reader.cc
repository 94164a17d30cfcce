#include "mlir_bytecode/byte_reader.h"

#include <fmt/format.h>

#include <bit>

namespace hlosim::mlir {

void Fault::set(size_t at, std::string what, std::string advice) {
  if (is_set) return;
  is_set = true;
  offset = at;
  message = std::move(what);
  hint = std::move(advice);
}

Diagnostic Fault::diagnostic(const SourcePtr& source) const {
  Diagnostic made;
  made.message = message;
  made.hint = hint;
  made.source = source;
  made.offset = static_cast<uint32_t>(offset);
  return made;
}

void ByteReader::fail_at(size_t offset, std::string message, std::string hint) {
  fault_->set(offset, std::move(message), std::move(hint));
  at_ = end_;
}

uint8_t ByteReader::ended() {
  fail("the data ends too early");
  return 0;
}

uint64_t ByteReader::long_varint(uint8_t first) {
  const auto more = static_cast<size_t>(std::countr_zero(static_cast<unsigned>(first) | 0x100u));
  if (left() <= more) {
    fail("the data ends inside a number");
    return 0;
  }
  uint64_t value = 0;
  if (more == 8) {
    std::memcpy(&value, bytes_ + at_ + 1, 8);
  } else {
    std::memcpy(&value, bytes_ + at_, more + 1);
    value >>= more + 1;
  }
  at_ += more + 1;
  return value;
}

uint32_t ByteReader::out_of_range(size_t at, uint64_t value, size_t limit, std::string_view what) {
  fail_at(at, limit == 0 ? fmt::format("names {} {}, but there is none", what, value)
                         : fmt::format("names {} {} of {}", what, value, limit));
  return 0;
}

size_t ByteReader::too_many(size_t at, uint64_t value, std::string_view what) {
  fail_at(at, fmt::format("counts {} {}, more than the {} bytes left can hold", value, what, left()));
  return 0;
}

std::string_view ByteReader::take(uint64_t size, std::string_view what) {
  if (size > left()) {
    fail(fmt::format("{} of {} bytes, but {} are left", what, size, left()));
    return {};
  }
  const std::string_view taken(bytes_ + at_, size);
  at_ += size;
  return taken;
}

std::string_view ByteReader::take_text(std::string_view what) {
  const void* nul = left() == 0 ? nullptr : std::memchr(bytes_ + at_, 0, left());
  if (!nul) {
    fail(fmt::format("{} has no end", what));
    return {};
  }
  const std::string_view text(bytes_ + at_,
                              static_cast<size_t>(static_cast<const char*>(nul) - (bytes_ + at_)));
  at_ += text.size() + 1;
  return text;
}

void ByteReader::align(uint64_t alignment) {
  if (!std::has_single_bit(alignment))
    return fail(fmt::format("aligned to {} bytes, no power of two", alignment));
  const uint64_t beyond = at_ & (alignment - 1);
  if (beyond == 0) return;
  if (alignment - beyond > left()) return fail("the data ends inside padding");
  at_ += alignment - beyond;
}

}  // namespace hlosim::mlir
