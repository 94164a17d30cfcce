#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "report/trace/trace.h"

namespace hlosim {
namespace {

class Gzip {
 public:
  explicit Gzip(const TextSink& out) : out_(out) {
    constexpr int kGzip = 16;  // added to the window bits: a gzip header; its time is 0
    HLOSIM_CHECK(deflateInit2(&stream_, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() { deflateEnd(&stream_); }

  void add(std::string_view bytes) {
    constexpr size_t kMost = 1u << 30;  // what zlib counts with 32 bits
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMost))) {
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(std::min(bytes.size(), kMost));
      do write(Z_NO_FLUSH);
      while (stream_.avail_out == 0);
    }
  }

  void finish() {
    while (write(Z_FINISH) != Z_STREAM_END) {
    }
  }

 private:
  int write(int flush) {
    stream_.next_out = reinterpret_cast<Bytef*>(part_.data());
    stream_.avail_out = static_cast<uInt>(part_.size());
    const int state = deflate(&stream_, flush);
    HLOSIM_CHECK(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, "zlib: {}", state);
    if (const size_t made = part_.size() - stream_.avail_out; made > 0) out_({part_.data(), made});
    return state;
  }

  const TextSink& out_;
  z_stream stream_{};
  std::array<char, 1 << 16> part_;
};

}  // namespace

void write_gzip(const TextSource& text, const TextSink& out) {
  Gzip gzip(out);
  text([&](std::string_view part) { gzip.add(part); });
  gzip.finish();
}

std::string gzip(std::string_view bytes) {
  std::string packed;
  write_gzip([&](const TextSink& all) { all(bytes); }, [&](std::string_view part) { packed += part; });
  return packed;
}

}  // namespace hlosim
