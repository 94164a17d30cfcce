#include "cli/execute/elided.h"

#include <cstring>
#include <map>

#include "array/arguments.h"
#include "array/byte_packing.h"
#include "array/statistics.h"
#include "base/check.h"
#include "hlo/literal.h"

namespace hlosim {
namespace {

/// An array whose 32-bit words count up from `word`; the bytes after the last whole word count up, too.
Array counting_words(ShapeRef shape, uint32_t word, MemoryPool& pool) {
  Array array = make_array(pool, shape);
  const int64_t bytes = data_bytes(shape);
  std::byte* const data = array.bytes();
  int64_t i = 0;
  for (; i + 4 <= bytes; i += 4, ++word) std::memcpy(data + i, &word, 4);
  for (uint8_t left = 0; i < bytes; ++i, ++left) data[i] = std::byte{left};
  if (is_pred(shape->element_type)) {
    for (int64_t k = 0; k < bytes; ++k) data[k] &= std::byte{1};
  } else if (const int bits = bit_width(shape->element_type); bits < 8) {
    for (int64_t k = 0; k < bytes; ++k) data[k] &= static_cast<std::byte>((1 << bits) - 1);
    HLOSIM_CHECK(normalise(data, bytes, shape->element_type), "{}", to_text(shape));
  }
  return array;
}

/// The first word of each elided constant, in the order of the text.
std::map<const Instruction*, uint32_t> first_words(const Module& module) {
  std::map<uint32_t, const Instruction*> by_offset;
  for (const Instruction& instruction : module.instructions)
    if (instruction.literal && instruction.literal->elided)
      by_offset.emplace(instruction.offset, &instruction);
  std::map<const Instruction*, uint32_t> words;
  uint32_t next = 0;
  for (const auto& [offset, instruction] : by_offset) {
    words[instruction] = next;
    next += static_cast<uint32_t>(data_bytes(instruction->shape) / 4);
  }
  return words;
}

}  // namespace

int64_t elided_constants(const Module& module) {
  int64_t count = 0;
  for (const Instruction& instruction : module.instructions)
    count += instruction.literal && instruction.literal->elided;
  return count;
}

std::function<Array(const Instruction&, MemoryPool&)> elided_values(std::string_view word,
                                                                    const Module& module, uint64_t seed) {
  if (word == "zeros")
    return [](const Instruction& constant, MemoryPool& pool) { return zero_array(constant.shape, pool); };
  if (word == "random")
    return [seed](const Instruction& constant, MemoryPool& pool) {
      const auto* const name = reinterpret_cast<const std::byte*>(constant.name.data());
      const uint64_t stream = (uint64_t{1} << 32) + crc32c(name, static_cast<int64_t>(constant.name.size()));
      return random_array(constant.shape, seed, stream, pool);
    };
  if (word == "xla")
    return [words = first_words(module)](const Instruction& constant, MemoryPool& pool) {
      const auto found = words.find(&constant);
      return counting_words(constant.shape, found == words.end() ? 0 : found->second, pool);
    };
  return nullptr;
}

}  // namespace hlosim
