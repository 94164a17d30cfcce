// Writes small MLIR artifacts of any container version, for tests of their reader.
//
//   ArtifactWriter out(6, "StableHLO_v1.13.1");
//   const int f32 = out.type("vhlo", {4});
//   out.ir = …;                                            // bytes by number() and the numbers that it gave
//   const std::string bytes = out.finish();
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hlosim::test {

inline std::string number(uint64_t value) {
  for (int more = 0; more < 8; ++more) {
    if (more < 8 && value >> (7 * (more + 1)) != 0) continue;
    const uint64_t word = value << (more + 1) | uint64_t{1} << more;
    std::string out;
    for (int i = 0; i <= more; ++i) out += static_cast<char>(word >> (8 * i));
    return out;
  }
  std::string out(1, '\0');
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
inline std::string signed_number(int64_t value) {
  return number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}
inline std::string numbers(std::initializer_list<uint64_t> values) {
  std::string out;
  for (const uint64_t value : values) out += number(value);
  return out;
}
inline std::string blob(std::string_view bytes) { return number(bytes.size()) + std::string(bytes); }

class ArtifactWriter {
 public:
  explicit ArtifactWriter(int version, std::string producer = "test")
      : version_(version), producer_(producer) {}

  uint64_t string(std::string_view text) {
    const auto at = std::find(strings_.begin(), strings_.end(), text);
    if (at != strings_.end()) return static_cast<uint64_t>(at - strings_.begin());
    strings_.emplace_back(text);
    return strings_.size() - 1;
  }
  uint64_t dialect(std::string_view name) {
    const auto at = std::find(dialects_.begin(), dialects_.end(), name);
    if (at != dialects_.end()) return static_cast<uint64_t>(at - dialects_.begin());
    string(name);
    dialects_.emplace_back(name);
    return dialects_.size() - 1;
  }
  uint64_t attribute(std::string_view of, std::string bytes) {
    return entry(attributes_, of, std::move(bytes), true);
  }
  uint64_t attribute_text(std::string_view of, std::string text) {
    return entry(attributes_, of, std::move(text) + '\0', false);
  }
  uint64_t type(std::string_view of, std::string bytes) { return entry(types_, of, std::move(bytes), true); }
  uint64_t operation(std::string_view of, std::string_view name) {
    string(name);
    operations_.emplace_back(dialect(of), name);
    return operations_.size() - 1;
  }
  uint64_t properties(std::string bytes) {
    properties_.push_back(std::move(bytes));
    return properties_.size() - 1;
  }
  /// A string of VHLO, of the builtin dialect.
  uint64_t vhlo_string(std::string_view text) { return attribute("vhlo", number(14) + number(string(text))); }
  uint64_t builtin_string(std::string_view text) {
    return attribute("builtin", number(2) + number(string(text)));
  }

  std::string ir;

  /// A section of operations within an operation.
  std::string region_section(const std::string& bytes) const {
    return version_ < 2 ? bytes : section(4, bytes);
  }
  int version() const { return version_; }

  std::string finish() {
    const std::string dialects = dialect_bytes();
    std::string out = "ML\xEFR" + number(static_cast<uint64_t>(version_)) + producer_ + '\0';
    out += section(1, dialects);
    out += section(3, offset_bytes());
    std::string data;
    for (const auto* entries : {&attributes_, &types_})
      for (const Entry& item : *entries) data += item.bytes;
    out += section(2, data);
    out += section(4, ir);
    if (version_ >= 5) {
      std::string records = number(properties_.size());
      for (const std::string& record : properties_) records += blob(record);
      out += section(8, records);
    }
    return out + section(0, string_bytes());
  }

 private:
  struct Entry {
    uint64_t dialect;
    std::string bytes;
    bool is_custom;
  };

  uint64_t entry(std::vector<Entry>& entries, std::string_view of, std::string bytes, bool is_custom) {
    entries.push_back({dialect(of), std::move(bytes), is_custom});
    return entries.size() - 1;
  }

  static std::string section(int id, const std::string& bytes) {
    return static_cast<char>(id) + number(bytes.size()) + bytes;
  }

  std::string string_bytes() const {
    std::string out = number(strings_.size()), bytes;
    for (size_t i = strings_.size(); i-- > 0;) out += number(strings_[i].size() + 1);
    for (const std::string& text : strings_) bytes += text + '\0';
    return out + bytes;
  }

  std::string dialect_bytes() {
    std::string out = number(dialects_.size());
    for (const std::string& name : dialects_) out += number(version_ >= 1 ? string(name) << 1 : string(name));
    if (version_ >= 4) out += number(operations_.size());
    for (const auto& [of, name] : operations_)
      out += number(of) + number(1) + number(version_ >= 5 ? string(name) << 1 | 1 : string(name));
    return out;
  }

  std::string offset_bytes() const {
    std::string out = number(attributes_.size()) + number(types_.size());
    for (const auto* entries : {&attributes_, &types_})
      for (const Entry& item : *entries)
        out += number(item.dialect) + number(1) + number(item.bytes.size() << 1 | item.is_custom);
    return out;
  }

  int version_;
  std::string producer_;
  std::vector<std::string> strings_, dialects_;
  std::vector<Entry> attributes_, types_;
  std::vector<std::pair<uint64_t, std::string>> operations_;
  std::vector<std::string> properties_;
};

/// One operation of VHLO in a function: its attributes by name (in alphabetical order), as numbers of
/// attributes that were made before.
struct ArtifactOperation {
  std::string name;
  std::vector<std::pair<std::string, uint64_t>> attributes;
  std::string dialect = "vhlo";
  uint64_t operands = 2;  // 1: the first argument alone
};

/// The artifact of `func @f(T, T) -> T`, T being tensor<2x`columns`xf32>, whose only operation (`count` of
/// it) takes both arguments; `make` gives the operation once the writer is there.
template <class Make>
std::string artifact_of(int version, Make make, std::string producer = "StableHLO_v1.13.1",
                        uint64_t count = 1, int64_t columns = 3) {
  ArtifactWriter out(version, std::move(producer));
  const uint64_t place = out.attribute("builtin", number(15));
  const uint64_t f32 = out.type("vhlo", number(4));
  const uint64_t tensor =
      out.type("vhlo", number(20) + number(2) + signed_number(2) + signed_number(columns) + number(f32));
  const uint64_t function = out.type("vhlo", numbers({8, 2, tensor, tensor, 1, tensor}));
  const uint64_t no_items = out.attribute("vhlo", numbers({1, 0}));
  const ArtifactOperation made = make(out);
  const std::vector<std::pair<std::string, uint64_t>> of_function = {
      {"arg_attrs", no_items},
      {"function_type", out.attribute("vhlo", numbers({17, function}))},
      {"res_attrs", no_items},
      {"sym_name", out.vhlo_string("f")},
      {"sym_visibility", out.vhlo_string("public")}};
  const auto held = [&](const auto& attributes) {  // mask, and what stands behind the location
    std::string record;
    if (version >= 5) {
      for (const auto& item : attributes) record += number(item.second);
      return std::pair<int, std::string>(0x40, number(out.properties(record)));
    }
    record = number(1) + number(attributes.size());
    for (const auto& item : attributes)
      record += number(out.builtin_string(item.first)) + number(item.second);
    return std::pair<int, std::string>(0x01, number(out.attribute("builtin", record)));
  };
  const auto argument = [&] { return version >= 4 ? number(tensor << 1) : number(tensor) + number(place); };
  const auto byte = [](int value) { return std::string(1, static_cast<char>(value)); };
  const auto [mask, attributes] =
      made.dialect == "vhlo" ? held(made.attributes) : std::pair<int, std::string>(0, "");
  const std::string operands = made.operands == 1 ? numbers({1, 0}) : numbers({2, 0, 1});
  const std::string operation = number(out.operation(made.dialect, made.name)) + byte(mask | 0x06) +
                                number(place) + attributes + numbers({1, tensor}) + operands;
  const std::string end =
      number(out.operation("vhlo", "return_v1")) + byte(0x04) + number(place) + numbers({1, 2});
  std::string body =
      numbers({1, 2 + count}) + number((count + 1) << 1 | 1) + number(2) + argument() + argument();
  if (version >= 3) body += byte(0);
  for (uint64_t i = 0; i < count; ++i) body += operation;
  body += end;
  const auto [function_mask, function_attributes] = held(of_function);
  const std::string func = number(out.operation("vhlo", "func_v1")) + byte(function_mask | 0x10) +
                           number(place) + function_attributes + number(1 << 1 | 1) +
                           out.region_section(body);
  const std::string module_body = numbers({1, 0}) + number(1 << 1) + func;
  std::string module = number(out.operation("builtin", "module"));
  module += byte(version >= 5 ? 0x50 : 0x10) + number(place);
  if (version >= 5) module += number(out.properties(std::string(2, '\x01')));
  module += number(1 << 1 | 1) + out.region_section(module_body);
  out.ir = number(1 << 1) + module;
  return out.finish();
}

/// The same with an addition.
inline std::string small_artifact(int version, int64_t columns = 3) {
  return artifact_of(
      version,
      [](ArtifactWriter&) {
        return ArtifactOperation{"add_v1", {}};
      },
      "StableHLO_v1.13.1", 1, columns);
}

}  // namespace hlosim::test
