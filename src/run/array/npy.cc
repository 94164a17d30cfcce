#include "array/npy.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "array/byte_packing.h"
#include "array/npy_header.h"
#include "base/check.h"
#include "base/text.h"

namespace hlosim {
namespace {

/// Where the bytes of one .npy file come from.
class ByteReader {
 public:
  virtual ~ByteReader() = default;
  /// Reads up to `count` bytes; 0 at the end.
  virtual Result<size_t> read(std::byte* out, size_t count) = 0;
  /// Bytes in all, where that is known beforehand.
  virtual std::optional<uint64_t> size() const = 0;
};

class FileReader final : public ByteReader {
 public:
  explicit FileReader(int fd) : fd_(fd) {}
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader() override { ::close(fd_); }

  Result<size_t> read(std::byte* out, size_t count) override {
    for (;;) {
      const ssize_t got = ::read(fd_, out, std::min(count, size_t{1} << 30));
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return failure(std::strerror(errno));
    }
  }
  std::optional<uint64_t> size() const override {
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    return static_cast<uint64_t>(info.st_size);
  }

 private:
  int fd_;
};

class MemoryReader final : public ByteReader {
 public:
  explicit MemoryReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<size_t> read(std::byte* out, size_t count) override {
    const size_t got = std::min(count, bytes_.size());
    if (got > 0) std::memcpy(out, bytes_.data(), got);
    bytes_ = bytes_.subspan(got);
    return got;
  }
  std::optional<uint64_t> size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;  // that are left
};

class MemberReader final : public ByteReader {
 public:
  MemberReader(zip_file_t* file, std::optional<uint64_t> size) : file_(file), size_(size) {}
  MemberReader(const MemberReader&) = delete;
  MemberReader& operator=(const MemberReader&) = delete;
  ~MemberReader() override { zip_fclose(file_); }

  Result<size_t> read(std::byte* out, size_t count) override {
    const zip_int64_t got = zip_fread(file_, out, std::min(count, size_t{1} << 30));
    if (got < 0) return failure(zip_error_strerror(zip_file_get_error(file_)));
    return static_cast<size_t>(got);
  }
  std::optional<uint64_t> size() const override { return size_; }

 private:
  zip_file_t* file_;
  std::optional<uint64_t> size_;
};

/// Fills `out` as far as the file goes.
Result<size_t> read_fully(ByteReader& reader, std::byte* out, size_t count) {
  size_t done = 0;
  while (done < count) {
    const Result<size_t> got = reader.read(out + done, count - done);
    if (!got) return got;
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

Result<NpyHeader> read_header(ByteReader& reader) {
  std::string text(kNpyPrefixBytes, '\0');
  Result<size_t> got = read_fully(reader, reinterpret_cast<std::byte*>(text.data()), text.size());
  if (!got) return tl::unexpected(got.error());
  const Result<NpyPrefix> prefix = parse_npy_prefix(std::string_view(text).substr(0, *got));
  if (!prefix) return tl::unexpected(prefix.error());
  const size_t have = *got;
  const size_t end = prefix->header_start + prefix->header_bytes;
  if (end < have) return failure("its header is too short");
  text.resize(end);
  got = read_fully(reader, reinterpret_cast<std::byte*>(text.data()) + have, end - have);
  if (!got) return tl::unexpected(got.error());
  if (have + *got < end) return failure("it ends within the header");
  return parse_npy_header(std::string_view(text).substr(prefix->header_start));
}

/// "float32 of shape (2, 3)"
std::string described(std::string_view type, std::span<const int64_t> shape) {
  std::string sizes = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1) sizes += ',';
  return fmt::format("{} of shape ({})", type, shown(sizes, 200));
}

std::string word_of(const NpyType& type) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto element = static_cast<ElementType>(i);
    if (type.kind != 'V' && npy_type_fits(type, element) &&
        (type.kind == 0 || npy_descr(element)[1] == type.kind))
      return std::string(npy_name(element));
  }
  return fmt::format("'{}'", shown(type.text));
}

bool sizes_fit(std::span<const int64_t> sizes, ShapeRef expected) {
  // numpy.ascontiguousarray() and others make a vector of a scalar.
  if (expected->is_scalar() && sizes.size() == 1 && sizes[0] == 1) return true;
  if (static_cast<int64_t>(sizes.size()) != expected->rank()) return false;
  for (int64_t i = 0; i < expected->rank(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    if (expected->is_dynamic(i) ? size > expected->dim(i) : size != expected->dim(i)) return false;
  }
  return true;
}

Result<void> check_header(const NpyHeader& header, ShapeRef expected) {
  const bool type_fits = npy_type_fits(header.type, expected->element_type);
  if (type_fits && sizes_fit(header.shape, expected)) return {};
  std::string hint;
  if (!type_fits && npy_descr(expected->element_type)[1] != 'V')
    hint = fmt::format("array.astype('{}') converts in NumPy", npy_name(expected->element_type));
  else if (!type_fits)
    hint = fmt::format("save {} as it is with ml_dtypes, or as array.view('u{}')",
                       to_text(expected->element_type), byte_width(expected->element_type));
  return failure(fmt::format("expected {}, got {}", to_text_without_layout(expected),
                             described(word_of(header.type), header.shape)),
                 hint);
}

/// Bytes of the data. Error: more than the file can hold.
Result<int64_t> bytes_of_data(const ByteReader& reader, const NpyHeader& header, ElementType type) {
  int64_t bytes = byte_width(type);
  bool overflow = false;
  for (const int64_t size : header.shape) overflow |= __builtin_mul_overflow(bytes, size, &bytes);
  if (overflow) return failure("its size exceeds 64 bits");
  const std::optional<uint64_t> size = reader.size();
  if (size && *size < static_cast<uint64_t>(bytes))
    return failure(fmt::format("it has {} bytes, fewer than the {} of its data", *size, bytes));
  return bytes;
}

/// Reads the data and nothing more.
Result<void> read_data(ByteReader& reader, std::byte* out, int64_t bytes) {
  const Result<size_t> got = read_fully(reader, out, static_cast<size_t>(bytes));
  if (!got) return tl::unexpected(got.error());
  if (*got < static_cast<size_t>(bytes))
    return failure(fmt::format("it ends after {} of {} bytes of data", *got, bytes));
  std::byte more{};
  const Result<size_t> rest = reader.read(&more, 1);
  if (!rest) return tl::unexpected(rest.error());
  if (*rest > 0) return failure(fmt::format("more follows the {} bytes of data", bytes));
  return {};
}

Result<Array> read_array(ByteReader& reader, const Result<NpyHeader>& header, ShapeRef expected,
                         MemoryPool& pool) {
  HLOSIM_CHECK(expected->is_array(), "{}", to_text(expected));
  if (expected->is_unbounded())
    return failure(fmt::format("expected {}, whose size is not known", to_text_without_layout(expected)));
  const ElementType type = expected->element_type;
  if (!header) return tl::unexpected(header.error());
  if (const Result<void> fits = check_header(*header, expected); !fits) return tl::unexpected(fits.error());
  const Result<int64_t> bytes = bytes_of_data(reader, *header, type);
  if (!bytes) return tl::unexpected(bytes.error());
  Array array = make_array(pool, expected);
  if (!expected->is_scalar() &&
      !std::equal(header->shape.begin(), header->shape.end(), expected->dimensions.begin()))
    array.sizes = std::make_shared<const std::vector<int64_t>>(header->shape);
  const bool in_place = !array.sizes && (!header->fortran_order || header->shape.size() < 2);
  const Buffer dense = in_place ? array.data : pool.allocate(*bytes);
  if (const Result<void> done = read_data(reader, dense.data(), *bytes); !done)
    return tl::unexpected(done.error());
  const int64_t count = *bytes / byte_width(type);
  if (header->type.big_endian) swap_bytes(dense.data(), count, type);
  if (const Result<void> done = normalise(dense.data(), count, type); !done)
    return tl::unexpected(done.error());
  if (!in_place) unpack(dense.data(), header->fortran_order, array);
  return array;
}

Result<Array> read_array(ByteReader& reader, ShapeRef expected, MemoryPool& pool) {
  return read_array(reader, read_header(reader), expected, pool);
}

/// `result`, with the file's name in front of what is wrong.
Result<Array> naming(Result<Array> result, const std::string& file) {
  if (!result) result.error().message = fmt::format("'{}': {}", shown(file, 200), result.error().message);
  return result;
}

}  // namespace

Result<Array> read_npy(const std::string& path, ShapeRef expected, MemoryPool& pool) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  FileReader reader(fd);
  return naming(read_array(reader, expected, pool), path);
}

Result<Array> from_numpy(const NumpyArray& given, ShapeRef expected, MemoryPool& pool) {
  MemoryReader reader({given.data, static_cast<size_t>(given.bytes)});
  Result<NpyHeader> header =
      parse_npy_header(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (), }}", given.type));
  if (header) header->shape = given.shape;
  return read_array(reader, header, expected, pool);
}

struct NpzFile::State {
  std::string path;
  zip_t* archive = nullptr;
  std::vector<std::string> members;
  std::vector<zip_uint64_t> indices;  // of the members in the archive

  ~State() {
    if (archive) zip_discard(archive);
  }
};

NpzFile::NpzFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
NpzFile::NpzFile(NpzFile&&) noexcept = default;
NpzFile& NpzFile::operator=(NpzFile&&) noexcept = default;
NpzFile::~NpzFile() = default;

Result<NpzFile> NpzFile::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  int code = 0;
  state->archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (!state->archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return failure(fmt::format("cannot read '{}': {}", path, text));
  }
  const zip_int64_t entries = zip_get_num_entries(state->archive, 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* name = zip_get_name(state->archive, index, ZIP_FL_ENC_GUESS);
    if (!name) return failure(fmt::format("'{}': {}", path, zip_strerror(state->archive)));
    if (!std::string_view(name).ends_with(".npy"))
      return failure(fmt::format("'{}': member '{}' is no .npy file", path, shown(name)));
    state->members.emplace_back(name);
    state->indices.push_back(index);
  }
  return NpzFile(std::move(state));
}

const std::string& NpzFile::path() const { return state_->path; }
const std::vector<std::string>& NpzFile::members() const { return state_->members; }

Result<Array> NpzFile::read(size_t member, ShapeRef expected, MemoryPool& pool) const {
  const std::string name = state_->path + ":" + state_->members[member];
  zip_file_t* file = zip_fopen_index(state_->archive, state_->indices[member], 0);
  if (!file) return failure(fmt::format("cannot read '{}': {}", name, zip_strerror(state_->archive)));
  zip_stat_t info;
  const bool sized = zip_stat_index(state_->archive, state_->indices[member], 0, &info) == 0 &&
                     (info.valid & ZIP_STAT_SIZE) != 0;
  MemberReader reader(file, sized ? std::optional<uint64_t>(info.size) : std::nullopt);
  return naming(read_array(reader, expected, pool), name);
}

Result<void> stage_npy(StagedFiles& files, const std::string& path, const Array& array) {
  HLOSIM_CHECK(array.shape->is_array(), "{}", to_text(array.shape));
  const std::vector<int64_t> sizes = runtime_sizes(array);
  const std::vector<std::byte> packed = array.sizes ? pack(array) : std::vector<std::byte>();
  const auto* const data = array.sizes ? packed.data() : array.bytes();
  const auto bytes = array.sizes ? packed.size() : static_cast<size_t>(data_bytes(array.shape));
  const std::string preamble = npy_preamble(array.type(), sizes);
  const std::string_view parts[] = {preamble, {reinterpret_cast<const char*>(data), bytes}};
  return files.add(path, parts);
}

Result<void> write_npy(const std::string& path, const Array& array) {
  StagedFiles files;
  const Result<void> staged = stage_npy(files, path, array);
  return staged ? files.commit() : staged;
}

}  // namespace hlosim
