#include "array/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "array/arguments.h"
#include "array/npy_header.h"

namespace hlosim {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A .npy file as NumPy lays it out, of any header and data.
std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  const size_t start = version == 1 ? 10 : 12;
  std::string header = dictionary;
  header.append(63 - (start + header.size()) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (size_t i = 0; i < start - 8; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

class Npy : public ::testing::Test {
 protected:
  Npy() {
    std::string name = (std::filesystem::temp_directory_path() / "hlosim_npy.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Npy() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& bytes, const std::string& name = "a.npy") const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string content(const std::string& file) const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Result<Array> read(const std::string& bytes, ShapeRef expected) {
    return read_npy(write(bytes), expected, pool_);
  }
  /// What is wrong with reading `bytes`, without the file's name.
  std::string error(const std::string& bytes, ShapeRef expected) {
    const Result<Array> array = read(bytes, expected);
    if (array) return "none";
    const std::string name = "'" + path("a.npy") + "': ";
    EXPECT_EQ(array.error().message.substr(0, name.size()), name);
    return array.error().message.substr(std::min(name.size(), array.error().message.size()));
  }
  template <class T>
  std::vector<T> elements(const Result<Array>& array) {
    if (!array) {
      ADD_FAILURE() << render(array.error());
      return {};
    }
    return {array->as<T>(), array->as<T>() + array->count()};
  }
  ShapeRef shape(ElementType type, std::vector<int64_t> sizes) { return shapes_.array(type, sizes); }
  ShapeRef bounded(ElementType type, std::vector<int64_t> sizes, std::array<bool, 2> dynamic) {
    return shapes_.array(type, sizes, nullptr, dynamic);
  }

  std::filesystem::path folder_;
  ShapePool shapes_;
  MemoryPool pool_;
};

TEST_F(Npy, ReadsEveryVersionOfTheFormat) {
  const std::string data = bytes_of<float>({1.5F, -2});
  for (const int version : {1, 2, 3})
    EXPECT_THAT(
        elements<float>(read(npy(dictionary("<f4", "(2,)"), data, version), shape(ElementType::kF32, {2}))),
        ElementsAre(1.5F, -2.0F));
}

TEST_F(Npy, ReadsScalarsAndEmptyArrays) {
  EXPECT_THAT(elements<int64_t>(
                  read(npy(dictionary("<i8", "()"), bytes_of<int64_t>({-7})), shape(ElementType::kS64, {}))),
              ElementsAre(-7));
  EXPECT_THAT(elements<double>(read(npy(dictionary("<f8", "(3, 0)"), ""), shape(ElementType::kF64, {3, 0}))),
              IsEmpty());
}

TEST_F(Npy, AVectorOfOneMayStandForAScalar) {
  const Result<Array> array =
      read(npy(dictionary("<i4", "(1,)"), bytes_of<int32_t>({5})), shape(ElementType::kS32, {}));
  EXPECT_THAT(elements<int32_t>(array), ElementsAre(5));
  EXPECT_FALSE(array->sizes);
  EXPECT_FALSE(read(npy(dictionary("<i4", "(1, 1)"), bytes_of<int32_t>({5})), shape(ElementType::kS32, {})));
  EXPECT_FALSE(read(npy(dictionary("<i4", "()"), bytes_of<int32_t>({5})), shape(ElementType::kS32, {1})));
}

TEST_F(Npy, TurnsFortranOrderAround) {
  const std::string data = bytes_of<int16_t>({0, 10, 1, 11, 2, 12});  // a[i][j] = 10 i + j
  EXPECT_THAT(
      elements<int16_t>(read(npy(dictionary("<i2", "(2, 3)", true), data), shape(ElementType::kS16, {2, 3}))),
      ElementsAre(0, 1, 2, 10, 11, 12));
  std::string cube;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) cube += static_cast<char>(100 * i + 10 * j + k);
  std::vector<uint8_t> row_major;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) row_major.push_back(static_cast<uint8_t>(100 * i + 10 * j + k));
  EXPECT_THAT(elements<uint8_t>(
                  read(npy(dictionary("|u1", "(2, 3, 4)", true), cube), shape(ElementType::kU8, {2, 3, 4}))),
              ElementsAreArray(row_major));
}

TEST_F(Npy, TurnsBigEndianAround) {
  EXPECT_THAT(elements<uint32_t>(read(npy(dictionary(">u4", "(2,)"), {"\0\0\0\1\1\2\3\4", 8}),
                                      shape(ElementType::kU32, {2}))),
              ElementsAre(1u, 0x01020304u));
  // Both parts of a complex number, each by itself.
  const std::string one_two({0x3f, -128, 0, 0, 0x40, 0, 0, 0});
  EXPECT_THAT(elements<float>(read(npy(dictionary(">c8", "()"), one_two), shape(ElementType::kC64, {}))),
              ElementsAre(1.0F));
  EXPECT_EQ(read(npy(dictionary(">c8", "()"), one_two), shape(ElementType::kC64, {}))->as<float>()[1], 2.0F);
}

// Each of the types that NumPy has, under its own descr, and no other.
TEST_F(Npy, TypesOfNumpyMustAgree) {
  const std::pair<const char*, ElementType> rows[] = {
      {"|b1", ElementType::kPred}, {"|i1", ElementType::kS8},   {"<i2", ElementType::kS16},
      {"<i4", ElementType::kS32},  {"<i8", ElementType::kS64},  {"|u1", ElementType::kU8},
      {"<u2", ElementType::kU16},  {"<u4", ElementType::kU32},  {"<u8", ElementType::kU64},
      {"<f2", ElementType::kF16},  {"<f4", ElementType::kF32},  {"<f8", ElementType::kF64},
      {"<c8", ElementType::kC64},  {"<c16", ElementType::kC128}};
  for (const auto& [descr, type] : rows) {
    for (const auto& [other, other_type] : rows) {
      const std::string file =
          npy(dictionary(descr, "(1,)"), std::string(static_cast<size_t>(byte_width(type)), '\1'));
      EXPECT_EQ(read(file, shape(other_type, {1})).has_value(), type == other_type)
          << descr << " as " << other;
    }
    EXPECT_EQ(npy_descr(type), descr);
  }
}

TEST_F(Npy, TypesThatNumpyLacksComeAsVoidUnsignedOrByName) {
  const std::string bits = bytes_of<uint16_t>({0x3f80, 0xc000});
  const ShapeRef bf16 = shape(ElementType::kBF16, {2});
  for (const char* descr : {"<V2", "|V2", "V2", "<u2", "bfloat16"})
    EXPECT_THAT(elements<uint16_t>(read(npy(dictionary(descr, "(2,)"), bits), bf16)),
                ElementsAre(0x3f80, 0xc000))
        << descr;
  const std::string field = "{'descr': [('bfloat16', '<u2')], 'fortran_order': False, 'shape': (2,)}";
  EXPECT_THAT(elements<uint16_t>(read(npy(field, bits), bf16)), ElementsAre(0x3f80, 0xc000));
  for (const char* descr : {"<f2", "<i2", "<V4", "float16", "float8_e5m2"})
    EXPECT_FALSE(read(npy(dictionary(descr, "(2,)"), bits), bf16)) << descr;
  for (const char* descr : {"<V1", "|u1", "<f1", "float8_e5m2"})
    EXPECT_TRUE(read(npy(dictionary(descr, "(2,)"), "ab"), shape(ElementType::kF8E5M2, {2}))) << descr;
  EXPECT_FALSE(read(npy(dictionary("<f1", "(2,)"), "ab"), shape(ElementType::kF8E4M3FN, {2})));
  EXPECT_FALSE(read(npy(dictionary("float8_e4m3", "(2,)"), "ab"), shape(ElementType::kF8E4M3FN, {2})));
}

TEST_F(Npy, SubByteElementsAreExtended) {
  const ShapeRef s4 = shape(ElementType::kS4, {4});
  for (const char* descr : {"|V1", "|u1", "|i1", "int4"})
    EXPECT_THAT(elements<int8_t>(read(npy(dictionary(descr, "(4,)"), {"\x07\x08\x0f\xff", 4}), s4)),
                ElementsAre(7, -8, -1, -1));
  EXPECT_EQ(error(npy(dictionary("|u1", "(4,)"), {"\0\1\x18\0", 4}), s4),
            "element 2 is 24, which is outside s4");
  EXPECT_THAT(
      elements<uint8_t>(read(npy(dictionary("|u1", "(2,)"), {"\0\x0f", 2}), shape(ElementType::kU4, {2}))),
      ElementsAre(0, 15));
  EXPECT_EQ(error(npy(dictionary("|u1", "(2,)"), {"\xff\0", 2}), shape(ElementType::kU4, {2})),
            "element 0 is 255, which is outside u4");
  EXPECT_EQ(error(npy(dictionary("|V1", "(1,)"), "\x40"), shape(ElementType::kF6E2M3FN, {1})),
            "element 0 is 64, which is outside f6e2m3fn");
  EXPECT_THAT(
      elements<uint8_t>(read(npy(dictionary("|b1", "(3,)"), {"\0\1\7", 3}), shape(ElementType::kPred, {3}))),
      ElementsAre(0, 1, 1));
}

TEST_F(Npy, RuntimeSizesWithinTheBounds) {
  const ShapeRef expected = bounded(ElementType::kS32, {3, 4}, {true, true});
  const Result<Array> array =
      read(npy(dictionary("<i4", "(2, 3)"), bytes_of<int32_t>({1, 2, 3, 4, 5, 6})), expected);
  ASSERT_TRUE(array) << render(array.error());
  ASSERT_TRUE(array->sizes);
  EXPECT_THAT(*array->sizes, ElementsAre(2, 3));
  EXPECT_EQ(array->as<int32_t>()[2], 3);
  EXPECT_EQ(array->as<int32_t>()[4], 4);
  const std::string again = path("b.npy");
  ASSERT_TRUE(write_npy(again, *array));
  EXPECT_EQ(content(again), npy(dictionary("<i4", "(2, 3)"), bytes_of<int32_t>({1, 2, 3, 4, 5, 6})));
  EXPECT_FALSE(read(npy(dictionary("<i4", "(4, 3)"), std::string(48, 'a')), expected));
  EXPECT_FALSE(read(npy(dictionary("<i4", "(2, 3)"), std::string(24, 'a')),
                    bounded(ElementType::kS32, {3, 4}, {false, true})));
  const Result<Array> full = read(npy(dictionary("<i4", "(3, 4)"), std::string(48, 'a')), expected);
  ASSERT_TRUE(full);
  EXPECT_FALSE(full->sizes);
}

TEST_F(Npy, SaysWhatWasExpectedAndWhatCame) {
  const ShapeRef expected = shape(ElementType::kF32, {2, 3});
  EXPECT_EQ(error(npy(dictionary("<f8", "(2, 3)"), ""), expected),
            "expected f32[2,3], got float64 of shape (2, 3)");
  EXPECT_EQ(read(npy(dictionary("<f8", "(2, 3)"), ""), expected).error().hint,
            "array.astype('float32') converts in NumPy");
  EXPECT_EQ(error(npy(dictionary("<f4", "(6,)"), ""), expected),
            "expected f32[2,3], got float32 of shape (6,)");
  EXPECT_EQ(error(npy(dictionary("<f4", "()"), ""), expected), "expected f32[2,3], got float32 of shape ()");
  EXPECT_EQ(error(npy(dictionary("<V2", "(2, 3)"), ""), expected),
            "expected f32[2,3], got '<V2' of shape (2, 3)");
  EXPECT_EQ(error(npy(dictionary("bfloat16", "(2, 3)"), ""), expected),
            "expected f32[2,3], got bfloat16 of shape (2, 3)");
  EXPECT_EQ(error(npy(dictionary("<f4", "(1,)"), ""), shape(ElementType::kBF16, {1})),
            "expected bf16[1], got float32 of shape (1,)");
}

TEST_F(Npy, SaysWhatInTheFileIsWrong) {
  const ShapeRef expected = shape(ElementType::kF32, {2});
  const std::string data(8, 'a');
  const auto header = [&](const std::string& text) { return error(npy(text, data), expected); };
  EXPECT_EQ(error("", expected), "it is empty");
  EXPECT_EQ(error("PK\3\4", expected), "it is no .npy file: it starts with 'PK\\x03\\x04'");
  EXPECT_EQ(error(std::string("\x93NUMPY\4\0ab", 10), expected),
            "it has version 4.0 of the .npy format; 1.0, 2.0 and 3.0 are known");
  EXPECT_EQ(error(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12), expected),
            "it has a header of 4294967295 bytes; 1048576 are the most");
  EXPECT_EQ(header("[1, 2]"),
            "header has '[1, 2]                                  ...' where '{' is expected");
  EXPECT_EQ(header(dictionary("|O", "(2,)")), "it holds Python objects ('|O')");
  EXPECT_EQ(header(dictionary("<U5", "(2,)")),
            "its type '<U5' is none of bool, integer, float, complex or void");
  EXPECT_EQ(header(dictionary("<f4", "(99999999999999999999,)")),
            "header has a size too large for 64 bits: '99999999999999999999,), }               ...'");
  EXPECT_THAT(header(dictionary("<f4", "(-1,)")), HasSubstr("where a size is expected"));
  EXPECT_EQ(header(dictionary("<f4", "(2)")), "header has '(2)', which is not a tuple");
  EXPECT_EQ(header("{'descr': '<f4', 'shape': (2,)}"), "header lacks 'fortran_order'");
  EXPECT_EQ(header("{'descr': '<f4', 'descr': '<f4'}"), "header has 'descr' twice");
  EXPECT_EQ(header("{'colour': 1}"), "header has an unknown key 'colour'");
  EXPECT_EQ(header("{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
            "it holds records of several fields");
  EXPECT_EQ(error(npy(dictionary("<f4", "(2,)"), "abc"), shape(ElementType::kF32, {2})),
            "it ends after 3 of 8 bytes of data");
  EXPECT_EQ(error(npy(dictionary("<f4", "(2,)"), data + "x"), expected), "more follows the 8 bytes of data");
  EXPECT_EQ(read_npy(path("none.npy"), expected, pool_).error().message,
            "cannot read '" + path("none.npy") + "': No such file or directory");
  EXPECT_THAT(read_npy(folder_.string(), expected, pool_).error().message, HasSubstr("Is a directory"));
}

TEST_F(Npy, HugeSizesAreRefusedBeforeAnythingIsAllocated) {
  const std::string sizes = "(3000000, 3000000)";
  EXPECT_EQ(error(npy(dictionary("<f4", sizes), "abcd"), shape(ElementType::kF32, {3000000, 3000000})),
            "it has 132 bytes, fewer than the 36000000000000 of its data");
  EXPECT_EQ(error(npy(dictionary("<f4", "(3000000000, 3000000000)"), "abcd"),
                  shape(ElementType::kF32, {3000000000, 3000000000})),
            "its size exceeds 64 bits");
  EXPECT_EQ(pool_.peak_bytes(), 0);
}

// Whatever is done to a file, reading it ends with an array or a message.
TEST_F(Npy, DamagedFilesAreNeverMoreThanErrors) {
  const ShapeRef expected = shape(ElementType::kU8, {2, 3});
  const std::string good = npy(dictionary("|u1", "(2, 3)", true), "abcdef");
  ASSERT_TRUE(read(good, expected));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(read(good.substr(0, length), expected)) << length;
  int read_well = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', '(', '9'}) {
      std::string damaged = good;
      damaged[at] = byte;
      const Result<Array> array = read(damaged, expected);
      read_well += array.has_value();
      EXPECT_TRUE(array || !array.error().message.empty());
    }
  }
  EXPECT_GT(read_well, 15);  // in the data and the padding
}

TEST_F(Npy, WritesWhatItReadsForEveryType) {
  for (int t = 1; t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {3}, {2, 5}, {0}, {2, 1, 3}}) {
      const Array array = random_array(shape(type, sizes), 1, 0, pool_);
      const std::string file = path("w.npy");
      ASSERT_TRUE(write_npy(file, array));
      const std::string written = content(file);
      EXPECT_EQ(written.size() % 64, static_cast<size_t>(data_bytes(array.shape)) % 64) << to_text(type);
      const Result<Array> back = read_npy(file, array.shape, pool_);
      ASSERT_TRUE(back) << render(back.error());
      EXPECT_EQ(std::memcmp(back->bytes(), array.bytes(), static_cast<size_t>(data_bytes(array.shape))), 0);
    }
  }
  EXPECT_EQ(npy_descr(ElementType::kBF16), "|V2");
  EXPECT_EQ(npy_descr(ElementType::kS4), "|V1");
  EXPECT_EQ(npy_preamble(ElementType::kF32, std::vector<int64_t>{3, 4}),
            npy(dictionary("<f4", "(3, 4)"), ""));
  EXPECT_EQ(npy_preamble(ElementType::kPred, std::vector<int64_t>{3}), npy(dictionary("|b1", "(3,)"), ""));
}

TEST_F(Npy, AFailedWriteLeavesNothing) {
  Array array = make_array(pool_, shape(ElementType::kF32, {}));
  EXPECT_THAT(write_npy(path("none/a.npy"), array).error().message, HasSubstr("cannot write"));
  {
    StagedFiles files;
    ASSERT_TRUE(stage_npy(files, path("a.npy"), array));
    EXPECT_FALSE(std::filesystem::exists(path("a.npy")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

class Npz : public Npy {
 protected:
  std::string archive(const std::vector<std::pair<std::string, std::string>>& members, zip_int32_t method) {
    zip_t* zip = zip_open(path("a.npz").c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const auto& [name, bytes] : members) {
      zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
      const zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
      zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), method, 0);
    }
    EXPECT_EQ(zip_close(zip), 0);
    return path("a.npz");
  }
};

TEST_F(Npz, ReadsStoredAndDeflatedMembers) {
  const std::string floats = npy(dictionary("<f4", "(2,)"), bytes_of<float>({3, 4}));
  const std::string integers = npy(dictionary("<i4", "(100, 3)"), std::string(1200, '\2'));
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const Result<NpzFile> file =
        NpzFile::open(archive({{"arr_0.npy", floats}, {"arr_1.npy", integers}}, method));
    ASSERT_TRUE(file) << render(file.error());
    EXPECT_THAT(file->members(), ElementsAre("arr_0.npy", "arr_1.npy"));
    EXPECT_THAT(elements<float>(file->read(0, shape(ElementType::kF32, {2}), pool_)),
                ElementsAre(3.0F, 4.0F));
    EXPECT_EQ(elements<int32_t>(file->read(1, shape(ElementType::kS32, {100, 3}), pool_)),
              std::vector<int32_t>(300, 0x02020202));
    const Result<Array> wrong = file->read(0, shape(ElementType::kF32, {3}), pool_);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message,
              "'" + path("a.npz") + ":arr_0.npy': expected f32[3], got float32 of shape (2,)");
  }
}

TEST_F(Npz, DamagedArchivesAreNeverMoreThanErrors) {
  const std::string integers = npy(dictionary("<i4", "(100, 3)"), std::string(1200, '\2'));
  const std::string good = content(archive({{"arr_0.npy", integers}}, ZIP_CM_DEFLATE));
  const auto try_reading = [&](const std::string& bytes) {
    const Result<NpzFile> file = NpzFile::open(write(bytes, "b.npz"));
    return file && !file->members().empty() &&
           file->read(0, shape(ElementType::kS32, {100, 3}), pool_).has_value();
  };
  EXPECT_TRUE(try_reading(good));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(try_reading(good.substr(0, length))) << length;
  int wrong = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    wrong += !try_reading(damaged);
  }
  EXPECT_GT(wrong, 50);
  EXPECT_THAT(NpzFile::open(archive({{"readme.txt", "x"}}, ZIP_CM_STORE)).error().message,
              HasSubstr("member 'readme.txt' is no .npy file"));
}

}  // namespace
}  // namespace hlosim
