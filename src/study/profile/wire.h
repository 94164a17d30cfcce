// The fields of a protobuf message one after the other, each with the place where it begins, so that files
// larger than memory would allow as messages are read piece by piece, and damage is said with its offset.
//
//   WireReader fields(bytes, 0);
//   while (const WireField* field = fields.next())
//     if (field->number == 1) …                    // field->bytes, a piece of `bytes`
//   if (fields.damaged()) …                        // fields.offset(): where
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hlosim {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      // of a number
  std::string_view bytes;  // of kBytes
  size_t offset = 0;       // of the field's content, in the file
};

class WireReader {
 public:
  /// `offset`: of the first byte, in the file.
  WireReader(std::string_view bytes, size_t offset) : bytes_(bytes), base_(offset) {}
  /// Null at the end, and where the message is damaged.
  const WireField* next();
  bool damaged() const { return damaged_; }
  /// Where the next field begins, or the damaged one.
  size_t offset() const { return base_ + begin_; }

 private:
  bool varint(uint64_t& value);
  bool fixed(size_t size);
  bool read();

  std::string_view bytes_;
  size_t base_;
  size_t at_ = 0, begin_ = 0;
  bool damaged_ = false;
  WireField field_;
};

}  // namespace hlosim
