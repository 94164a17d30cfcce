#include "mutate_proto.h"

#include <algorithm>
#include <optional>

#include "mutate_text.h"

namespace hlosim::fuzz {
namespace {

enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint64_t number = 0, wire = 0, value = 0;  // value: of a varint
  std::string bytes;                         // of all others
};

bool take_varint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

void put_varint(std::string& bytes, uint64_t value) {
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  bytes += static_cast<char>(value);
}

/// Null: it is no message.
std::optional<std::vector<Field>> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    Field field;
    uint64_t tag = 0, length = 0;
    if (!take_varint(bytes, tag) || tag >> 3 == 0) return std::nullopt;
    field.number = tag >> 3;
    field.wire = tag & 7;
    if (field.wire == kVarint && !take_varint(bytes, field.value)) return std::nullopt;
    if (field.wire == kBytes && !take_varint(bytes, length)) return std::nullopt;
    if (field.wire == kFixed64) length = 8;
    if (field.wire == kFixed32) length = 4;
    if (field.wire == 3 || field.wire == 4 || field.wire > 5 || length > bytes.size()) return std::nullopt;
    field.bytes = bytes.substr(0, length);
    bytes.remove_prefix(length);
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string bytes_of(const std::vector<Field>& fields) {
  std::string bytes;
  for (const Field& field : fields) {
    put_varint(bytes, field.number << 3 | field.wire);
    if (field.wire == kVarint) put_varint(bytes, field.value);
    if (field.wire == kBytes) put_varint(bytes, field.bytes.size());
    bytes += field.bytes;
  }
  return bytes;
}

std::string other_bytes(std::string bytes, Random& random) {
  if (bytes.empty()) return bytes;
  if (random.one_in(4)) bytes.resize(random.below(bytes.size()));
  for (size_t i = 0; !bytes.empty() && i < 1 + random.below(3); ++i)
    bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
  return bytes;
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c < 127; });
}

void change_value(Field& field, const Pool& pool, Random& random) {
  if (field.wire == kVarint) {
    constexpr uint64_t kValues[] = {
        0, 1, 2, 3, 5, 7, 8, 64, 127, 128, 1u << 31, ~uint64_t{0}, ~uint64_t{0} >> 1};
    field.value = random.one_in(2) ? random.pick(kValues) : field.value + random.below(3) - 1;
  } else if (field.wire == kBytes && is_text(field.bytes)) {
    field.bytes = with_other_token(field.bytes, pool, random);
  } else {
    field.bytes = other_bytes(field.bytes, random);
  }
}

void change_fields(std::vector<Field>& fields, const Pool& pool, Random& random) {
  const size_t at = random.below(fields.size());
  const auto place = fields.begin() + static_cast<ptrdiff_t>(at);
  switch (random.below(8)) {
    case 0:
      fields.erase(place);
      break;
    case 1:
      fields.insert(place, Field(fields[random.below(fields.size())]));
      break;
    case 2:
      std::swap(fields[at], fields[random.below(fields.size())]);
      break;
    case 3:
      place->number = 1 + random.below(90);
      break;
    default:
      change_value(*place, pool, random);
      break;
  }
}

/// The message with a change somewhere in it.
std::string changed(std::string_view bytes, const Pool& pool, Random& random) {
  std::optional<std::vector<Field>> fields = fields_of(bytes);
  if (!fields || fields->empty()) return other_bytes(std::string(bytes), random);
  Field& inner = (*fields)[random.below(fields->size())];
  const bool is_message = inner.wire == kBytes && inner.bytes.size() > 1 && fields_of(inner.bytes);
  if (is_message && !random.one_in(5))
    inner.bytes = changed(inner.bytes, pool, random);
  else
    change_fields(*fields, pool, random);
  return bytes_of(*fields);
}

}  // namespace

std::string mutated_proto(std::string_view bytes, const Pool& pool, Random& random) {
  if (random.one_in(10)) return other_bytes(std::string(bytes), random);
  std::string result(bytes);
  do result = changed(result, pool, random);
  while (random.one_in(3));
  return result;
}

}  // namespace hlosim::fuzz
