// Writes small files of jax.export, for tests of their reader.
//
//   const std::string bytes = exported(small_artifact(6));
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hlosim::test {

/// Builds a flatbuffer from its root on: what is pointed to stands behind what points to it.
class FlatWriter {
 public:
  FlatWriter() { bytes_.resize(4); }

  /// A table of fields of four bytes each (numbers, or offsets that are filled in by point()), by number.
  struct Table {
    size_t at = 0;
    std::vector<std::pair<int, size_t>> fields;
    size_t field(int number) const {
      for (const auto& [known, place] : fields)
        if (known == number) return place;
      return 0;
    }
  };
  Table table(std::vector<int> numbers) {
    align();
    const size_t list = bytes_.size();
    const int last = numbers.empty() ? -1 : numbers.back();
    const size_t list_size = 4 + 2 * static_cast<size_t>(last + 1);
    bytes_.resize(list + list_size);
    align();
    Table made;
    made.at = bytes_.size();
    bytes_.resize(made.at + 4 + 4 * numbers.size());
    put<uint16_t>(list, static_cast<uint16_t>(list_size));
    put<uint16_t>(list + 2, static_cast<uint16_t>(4 + 4 * numbers.size()));
    put<int32_t>(made.at, static_cast<int32_t>(made.at - list));
    for (size_t i = 0; i < numbers.size(); ++i) {
      put<uint16_t>(list + 4 + 2 * static_cast<size_t>(numbers[i]), static_cast<uint16_t>(4 + 4 * i));
      made.fields.emplace_back(numbers[i], made.at + 4 + 4 * i);
    }
    return made;
  }
  size_t list(size_t count, std::string_view data) {
    align();
    const size_t at = bytes_.size();
    bytes_.resize(at + 4);
    put<uint32_t>(at, static_cast<uint32_t>(count));
    bytes_ += data;
    return at;
  }
  size_t text(std::string_view text) { return list(text.size(), text); }
  /// A list of `count` offsets; where each stands.
  size_t offsets(size_t count) { return list(count, std::string(4 * count, '\0')); }
  void point(size_t from, size_t to) { put<uint32_t>(from, static_cast<uint32_t>(to - from)); }
  template <class T>
  void put(size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
  }
  std::string bytes() const { return bytes_; }

 private:
  void align() { bytes_.resize((bytes_.size() + 3) / 4 * 4); }
  std::string bytes_;
};

/// A file of jax.export around an artifact: a function of f32[2,b], its first dimension sharded over x and
/// `second_axis`, of a mesh x=4,y=2. The input is the last argument of the artifact.
inline std::string exported(const std::string& module, std::string_view second_axis = "y") {
  FlatWriter out;
  const auto root = out.table({1, 3, 7, 9, 13, 15, 18});
  out.point(0, root.at);
  out.put<uint32_t>(root.field(18), 8);
  out.point(root.field(1), out.text("f"));
  const size_t avals = out.offsets(1);
  out.point(root.field(3), avals);
  const auto aval = out.table({1, 2});
  out.point(avals + 4, aval.at);
  out.put<uint32_t>(aval.field(2), 10);
  const size_t shape = out.offsets(2);
  out.point(aval.field(1), shape);
  out.point(shape + 4, out.text("2"));
  out.point(shape + 8, out.text("b"));
  const size_t shardings = out.offsets(1);
  out.point(root.field(7), shardings);
  const auto sharding = out.table({2});
  out.point(shardings + 4, sharding.at);
  const auto named = out.table({0, 1});
  out.point(sharding.field(2), named.at);
  const auto mesh = out.table({0, 1});
  out.point(named.field(0), mesh.at);
  const size_t names = out.offsets(2);
  out.point(mesh.field(1), names);
  out.point(names + 4, out.text("x"));
  out.point(names + 8, out.text("y"));
  out.point(mesh.field(0), out.list(2, std::string("\4\0\0\0\2\0\0\0", 8)));
  const auto spec = out.table({0});
  out.point(named.field(1), spec.at);
  const size_t parts = out.offsets(2);
  out.point(spec.field(0), parts);
  for (const size_t i : {1, 2}) {
    const auto part = out.table({0});
    out.point(parts + 4 * i, part.at);
    const size_t axes = out.offsets(i == 1 ? 2 : 0);
    out.point(part.field(0), axes);
    if (i == 1) out.point(axes + 4, out.text("x"));
    if (i == 1) out.point(axes + 8, out.text(second_axis));
  }
  const size_t platforms = out.offsets(1);
  out.point(root.field(9), platforms);
  out.point(platforms + 4, out.text("tpu"));
  out.point(root.field(13), out.text(module));
  out.point(root.field(15), out.list(1, std::string_view("\0\0", 2)));
  return out.bytes();
}

}  // namespace hlosim::test
