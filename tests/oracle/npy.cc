#include "oracle/npy.h"

#include <fstream>
#include <iterator>

#include "oracle/elementwise.h"

namespace hlosim::test {

std::optional<ValuePtr> read_npy(const std::filesystem::path& path, ShapeRef shape) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.size() < 12 || bytes.compare(1, 5, "NUMPY") != 0) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const bool wide_header = byte(6) > 1;
  const size_t header = wide_header ? 12 : 10;
  const size_t begin = header + byte(8) + 256 * byte(9) + (wide_header ? 65536 * byte(10) : 0);
  auto value = zero_value(shape);
  const auto width = static_cast<size_t>(byte_width(shape->element_type));
  if (bytes.size() != begin + value->data.size() * width) return std::nullopt;
  if (bytes.substr(0, begin).find("'fortran_order': True") != std::string::npos) return std::nullopt;
  for (size_t i = 0; i < value->data.size(); ++i)
    value->data[i] = load_element(shape->element_type,
                                  reinterpret_cast<const std::byte*>(bytes.data()) + begin + i * width);
  return value;
}

}  // namespace hlosim::test
