#include "input/packed.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace hlosim {
namespace {

tl::unexpected<Diagnostic> damaged(std::string_view name, const char* program, std::string_view what) {
  return failure(fmt::format("cannot unpack '{}': the {} data is {}", name, program, what));
}

tl::unexpected<Diagnostic> too_large(std::string_view name, size_t limit) {
  return failure(fmt::format("cannot unpack '{}': it holds more than {} MiB", name, limit >> 20),
                 "unpacked by hand, up to 4 GiB are read");
}

/// Room at the end of `out` for the next piece: at most one byte more than `limit` in all. Past half of it
/// there is room for all at once, as a string that grows once more would take twice as much.
size_t make_room(std::string& out, size_t used, size_t limit) {
  const size_t size = used + std::max<size_t>(size_t{1} << 16, used);
  out.resize(size > limit / 2 ? limit + 1 : size);
  return out.size() - used;
}

Result<std::string> gunzipped(std::string_view bytes, std::string_view name, size_t limit) {
  constexpr int kGzipHeader = 16;  // added to the window bits
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + kGzipHeader) != Z_OK) return failure("zlib could not be started");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  std::string out;
  size_t used = 0;
  bool at_end = false;  // of a piece
  while (!at_end || !bytes.empty()) {
    if (at_end) {
      if (!is_gzip(bytes)) return damaged(name, "gzip", "followed by something else");
      inflateReset(&stream);
    }
    const size_t piece = std::min<size_t>(bytes.size(), size_t{1} << 30);
    const size_t room = std::min<size_t>(make_room(out, used, limit), size_t{1} << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int state = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    bytes.remove_prefix(piece - stream.avail_in);
    if (used > limit) return too_large(name, limit);
    at_end = state == Z_STREAM_END;
    if (state == Z_BUF_ERROR || (state == Z_OK && bytes.empty() && stream.avail_out > 0))
      return damaged(name, "gzip", "cut off");
    if (state != Z_OK && state != Z_STREAM_END) return damaged(name, "gzip", "damaged");
  }
  out.resize(used);
  return out;
}

Result<std::string> unzstandarded(std::string_view bytes, std::string_view name, size_t limit) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  if (!stream) return failure("Zstandard could not be started");
  std::string out;
  size_t used = 0;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t missing = 1;  // 0: a frame is complete
  while (in.pos < in.size || missing != 0) {
    const size_t read_before = in.pos, used_before = used;
    const size_t room = make_room(out, used, limit);
    ZSTD_outBuffer to{out.data() + used, room, 0};
    missing = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(missing)) return damaged(name, "Zstandard", "damaged");
    used += to.pos;
    if (used > limit) return too_large(name, limit);
    if (missing != 0 && in.pos == in.size && in.pos == read_before && used == used_before)
      return damaged(name, "Zstandard", "cut off");
  }
  out.resize(used);
  return out;
}

}  // namespace

Result<std::string> unpacked(std::string_view bytes, std::string_view name, size_t limit) {
  return is_gzip(bytes) ? gunzipped(bytes, name, limit) : unzstandarded(bytes, name, limit);
}

}  // namespace hlosim
