#include "profile/wire.h"

namespace hlosim {

bool WireReader::varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) return false;
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireReader::fixed(size_t size) {
  if (bytes_.size() - at_ < size) return false;
  field_.value = 0;
  for (size_t i = 0; i < size; ++i)
    field_.value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
  at_ += size;
  return true;
}

bool WireReader::read() {
  uint64_t tag = 0;
  if (!varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
  field_.number = static_cast<uint32_t>(tag >> 3);
  field_.type = static_cast<WireType>(tag & 7);
  field_.bytes = {};
  field_.offset = base_ + at_;
  switch (field_.type) {
    case WireType::kVarint:
      return varint(field_.value);
    case WireType::kFixed64:
      return fixed(8);
    case WireType::kFixed32:
      return fixed(4);
    case WireType::kBytes: {
      uint64_t size = 0;
      if (!varint(size) || size > bytes_.size() - at_) return false;
      field_.bytes = bytes_.substr(at_, static_cast<size_t>(size));
      field_.offset = base_ + at_;
      at_ += static_cast<size_t>(size);
      return true;
    }
  }
  return false;  // groups are no more
}

const WireField* WireReader::next() {
  if (damaged_) return nullptr;
  begin_ = at_;
  if (at_ == bytes_.size()) return nullptr;
  damaged_ = !read();
  return damaged_ ? nullptr : &field_;
}

}  // namespace hlosim
