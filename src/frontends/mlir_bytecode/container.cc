#include "mlir_bytecode/container.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace hlosim::mlir {
namespace {

constexpr std::string_view kMagic = "ML\xEFR";

enum SectionId : uint8_t {
  kStrings,
  kDialects,
  kAttributesAndTypes,
  kOffsets,
  kIr,
  kResources,
  kResourceOffsets,
  kDialectVersions,
  kProperties,
  kSections,
};
constexpr std::array<std::string_view, kSections> kSectionNames = {
    "strings",    "dialects",  "attributes and types", "offsets of attributes and types",
    "operations", "resources", "resource offsets",     "dialect versions",
    "properties"};

class ContainerReader {
 public:
  ContainerReader(std::string_view file, Arena& arena, Budget& budget, Fault& fault)
      : file_(file), arena_(arena), budget_(budget), fault_(fault) {}

  Container read(size_t begin, size_t end) {
    ByteReader in(file_, begin + kMagic.size(), end, fault_);
    read_header(in);
    read_sections(in);
    if (in.ok()) read_strings(section(kStrings));
    if (in.ok()) read_dialects(section(kDialects));
    if (in.ok()) read_entries(section(kOffsets), section(kAttributesAndTypes));
    if (in.ok() && sections_[kResourceOffsets].is_there)
      read_resources(section(kResourceOffsets), section(kResources));
    if (in.ok() && sections_[kProperties].is_there) read_properties(section(kProperties));
    made_.ir = sections_[kIr];
    return std::move(made_);
  }

 private:
  ByteReader section(SectionId id) {
    return ByteReader(file_, sections_[id].begin, sections_[id].end, fault_);
  }

  void read_header(ByteReader& in) {
    const size_t at = in.offset();
    made_.version = in.varint();
    made_.producer = in.take_text("the producer's name");
    if (in.ok() && made_.version > Container::kNewest)
      in.fail_at(at, fmt::format("bytecode of version {}, written by {}; the newest that is known is {}",
                                 made_.version, shown(made_.producer), Container::kNewest));
  }

  void read_sections(ByteReader& in) {
    const size_t begin = in.offset();
    while (in.ok() && in.left() > 0) {
      const size_t at = in.offset();
      uint8_t id = 0;
      const Extent found = read_section(in, id);
      if (!in.ok()) return;
      if (id >= kSections) return in.fail_at(at, fmt::format("a section {} isn't known", id));
      if (sections_[id].is_there) return in.fail_at(at, fmt::format("{} twice", kSectionNames[id]));
      sections_[id] = found;
    }
    for (const SectionId id : {kStrings, kDialects, kAttributesAndTypes, kOffsets, kIr})
      if (in.ok() && !sections_[id].is_there)
        in.fail_at(begin, fmt::format("there is no section of {}", kSectionNames[id]));
    if (in.ok() && sections_[kResourceOffsets].is_there && !sections_[kResources].is_there)
      in.fail_at(begin, "there is no section of resources");
  }

  void read_strings(ByteReader in) {
    const size_t count = in.count("strings");
    if (!budget_.take(count * sizeof(std::string_view), in)) return;
    // The lengths stand in reverse order, so that the last of them belongs to the first string.
    made_.strings.resize(count);
    std::vector<uint32_t> lengths(count);
    for (size_t i = count; i-- > 0 && in.ok();) {
      const size_t at = in.offset();
      const uint64_t length = in.varint();
      if (length == 0 || length > file_.size()) return in.fail_at(at, "a string has no length");
      lengths[i] = static_cast<uint32_t>(length);
    }
    for (size_t i = 0; i < count && in.ok(); ++i) {
      const std::string_view text = in.take(lengths[i], "a string");
      if (text.empty()) return;
      if (text.back() != '\0') return in.fail("a string doesn't end where it should");
      made_.strings[i] = text.substr(0, text.size() - 1);
    }
  }

  std::string_view string(ByteReader& in) {
    const uint32_t index = in.index(made_.strings.size(), "string");
    return in.ok() ? made_.strings[index] : std::string_view{};
  }

  void read_dialects(ByteReader in) {
    const size_t count = in.count("dialects");
    if (!budget_.take(count * sizeof(std::string_view), in)) return;
    for (size_t i = 0; i < count && in.ok(); ++i) made_.dialects.push_back(read_dialect(in));
    if (made_.version >= 4) in.varint();  // how many names of operations there are
    while (in.ok() && in.left() > 0) {
      const uint32_t dialect = in.index(made_.dialects.size(), "dialect");
      const size_t names = in.count("operations");
      for (size_t i = 0; i < names && in.ok(); ++i) read_operation_name(in, made_.dialects[dialect]);
    }
  }

  std::string_view read_dialect(ByteReader& in) {
    if (made_.version < 1) return string(in);
    const size_t at = in.offset();
    const uint64_t word = in.varint();
    if (word >> 1 >= made_.strings.size()) {
      in.fail_at(at, fmt::format("names string {} of {}", word >> 1, made_.strings.size()));
      return {};
    }
    uint8_t id = 0;
    if (word & 1) read_section(in, id);
    return made_.strings[word >> 1];
  }

  void read_operation_name(ByteReader& in, std::string_view dialect) {
    OperationName made;
    made.dialect = dialect;
    const size_t at = in.offset();
    uint64_t word = in.varint();
    if (made_.version >= 5) {
      made.is_registered = word & 1;
      word >>= 1;
    }
    if (word >= made_.strings.size())
      return in.fail_at(at, fmt::format("names string {} of {}", word, made_.strings.size()));
    const std::string_view name = made_.strings[word];
    const size_t bytes = dialect.size() + 1 + name.size();
    if (!budget_.take(sizeof(made) + bytes, in)) return;
    auto* text = static_cast<char*>(arena_.allocate(bytes, 1));
    fmt::format_to(text, "{}.{}", dialect, name);
    made.name = {text, bytes};
    made_.operations.push_back(made);
  }

  void read_entries(ByteReader in, ByteReader data) {
    const size_t attributes = in.count("attributes"), types = in.count("types");
    if (!budget_.take((attributes + types) * sizeof(EncodedEntry), in)) return;
    made_.attributes.reserve(attributes);
    made_.types.reserve(types);
    for (auto* entries : {&made_.attributes, &made_.types}) {
      const size_t count = entries == &made_.attributes ? attributes : types;
      while (in.ok() && entries->size() < count) read_group(in, data, count, *entries);
    }
  }

  void read_group(ByteReader& in, ByteReader& data, size_t count, std::vector<EncodedEntry>& entries) {
    const size_t at = in.offset();
    const uint32_t dialect = in.index(made_.dialects.size(), "dialect");
    const size_t size = in.count("attributes or types");
    if (in.ok() && (size > count - entries.size() || size == 0))
      return in.fail_at(at, "a group of attributes or types with more of them than there are, or none");
    for (size_t i = 0; i < size && in.ok(); ++i) {
      const uint64_t word = in.varint();
      EncodedEntry entry;
      entry.begin = static_cast<uint32_t>(data.offset());
      entry.dialect = dialect;
      entry.is_custom = word & 1;
      entry.size = static_cast<uint32_t>(data.take(word >> 1, "an attribute or a type").size());
      entries.push_back(entry);
    }
  }

  void read_resources(ByteReader in, ByteReader data) {
    const uint64_t external = in.varint();
    for (uint64_t group = 0; in.ok() && in.left() > 0; ++group) {
      const bool is_external = group < external;
      if (is_external)
        string(in);
      else
        in.index(made_.dialects.size(), "dialect");
      const size_t count = in.count("resources");
      for (size_t i = 0; i < count && in.ok(); ++i) read_resource(in, data, is_external);
    }
  }

  void read_resource(ByteReader& in, ByteReader& data, bool is_external) {
    Resource made;
    made.key = string(in);
    const uint64_t size = in.varint();
    const uint8_t kind = in.byte();
    const size_t begin = data.offset();
    const std::string_view bytes = data.take(size, "a resource");
    if (!in.ok() || is_external || !budget_.take(sizeof(made), in)) return;
    if (kind == 0) {
      ByteReader blob(file_, begin, begin + bytes.size(), fault_);
      const uint64_t alignment = blob.varint();
      const uint64_t length = blob.varint();
      if (alignment > 0) blob.align(alignment);
      made.bytes = blob.take(length, "a resource");
      made.is_given = true;
    }
    made_.resources.push_back(made);
  }

  void read_properties(ByteReader in) {
    const size_t count = in.count("properties");
    if (!budget_.take(count * sizeof(std::string_view), in)) return;
    made_.properties.reserve(count);
    for (size_t i = 0; i < count && in.ok(); ++i)
      made_.properties.push_back(in.take(in.varint(), "an operation's properties"));
  }

  std::string_view file_;
  Arena& arena_;
  Budget& budget_;
  Fault& fault_;
  Container made_;
  std::array<Extent, kSections> sections_;
};

}  // namespace

bool is_bytecode(std::string_view content) { return content.starts_with(kMagic); }

Extent read_section(ByteReader& in, uint8_t& id) {
  const uint8_t word = in.byte();
  id = word & 0x7f;
  const uint64_t length = in.varint();
  if (word & 0x80) in.align(in.varint());
  const size_t begin = in.offset();
  const std::string_view data = in.take(length, "a section");
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + data.size()), true};
}

Container read_container(std::string_view file, size_t begin, size_t end, Arena& arena, Budget& budget,
                         Fault& fault) {
  return ContainerReader(file, arena, budget, fault).read(begin, end);
}

}  // namespace hlosim::mlir
