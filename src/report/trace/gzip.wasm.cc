// Without zlib: the format of gzip around bytes as they are, for what is unpacked on the same page.
#include <algorithm>
#include <array>
#include <cstdint>

#include "report/trace/trace.h"

namespace hlosim {
namespace {

/// The checksum of gzip (RFC 1952), of all bytes added.
class Crc32 {
 public:
  Crc32() {
    for (uint32_t i = 0; i < table_.size(); ++i) {
      uint32_t entry = i;
      for (int bit = 0; bit < 8; ++bit) entry = (entry & 1) != 0 ? 0xedb88320u ^ (entry >> 1) : entry >> 1;
      table_[i] = entry;
    }
  }
  void add(std::string_view bytes) {
    for (const char c : bytes)
      state_ = table_[(state_ ^ static_cast<unsigned char>(c)) & 0xff] ^ (state_ >> 8);
  }
  uint32_t value() const { return ~state_; }

 private:
  std::array<uint32_t, 256> table_{};
  uint32_t state_ = ~0u;
};

std::string little_endian(uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

}  // namespace

void write_gzip(const TextSource& text, const TextSink& out) {
  constexpr size_t kMost = 0xffff;  // of one stored block (RFC 1951, 3.2.4)
  out(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
  Crc32 sum;
  uint32_t size = 0;
  text([&](std::string_view part) {
    sum.add(part);
    size += static_cast<uint32_t>(part.size());
    for (; !part.empty(); part.remove_prefix(std::min(part.size(), kMost))) {
      const std::string_view block = part.substr(0, kMost);
      const auto length = static_cast<uint32_t>(block.size());
      out(std::string(1, '\0') + little_endian(length, 2) + little_endian(~length, 2));
      out(block);
    }
  });
  out(std::string("\1\0\0\xff\xff", 5) + little_endian(sum.value(), 4) + little_endian(size, 4));
}

std::string gzip(std::string_view bytes) {
  std::string packed;
  write_gzip([&](const TextSink& all) { all(bytes); }, [&](std::string_view part) { packed += part; });
  return packed;
}

}  // namespace hlosim
