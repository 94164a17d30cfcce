#include "mlir_bytecode/exported.h"

#include <algorithm>

#include "mlir_bytecode/flatbuffer.h"
#include "mlir_bytecode/read_bytecode.h"

namespace hlosim::mlir {
namespace {

/// Fields of the tables by their numbers.
enum ExportedField : uint8_t {
  kFunctionName = 1,
  kInAvals = 3,
  kOutAvals = 5,
  kDevicesShort = 6,
  kInShardings = 7,
  kOutShardings = 8,
  kPlatforms = 9,
  kModule = 13,
  kKeptInputs = 15,
  kDevices = 18,
  kUniqueAvals = 19,
  kUniqueMeshes = 20,
  kUniqueShardings = 21,
  kInAvalIndices = 22,
  kOutAvalIndices = 23,
  kInShardingIndices = 24,
  kOutShardingIndices = 25,
};
enum AvalField : uint8_t { kShape = 1, kDType = 2 };
enum ShardingField : uint8_t { kKind, kProto, kNamedSharding };
constexpr uint8_t kIsProto = 1;  // of kKind
enum NamedShardingField : uint8_t { kMesh, kSpec, kMemoryKind, kMeshIndex };
enum MeshField : uint8_t { kAxisSizes, kAxisNames };

constexpr std::string_view kTypes[] = {
    "pred",     "s8",         "s16",      "s32",        "s64",      "u8",
    "u16",      "u32",        "u64",      "f16",        "f32",      "f64",
    "c64",      "c128",       "bf16",     "s4",         "u4",       "f8e4m3b11fnuz",
    "f8e4m3fn", "f8e4m3fnuz", "f8e5m2",   "f8e5m2fnuz", "f0",       "f8e4m3",
    "f8e3m4",   "f8e8m0fnu",  "f4e2m1fn", "key<fry>",   "key<rbg>", "key<unsafe_rbg>"};

class ExportedReader {
 public:
  ExportedReader(const SourcePtr& source, Fault& fault)
      : source_(source),
        fault_(fault),
        root_(FlatTable::root(source->text(), fault)),
        left_(8 * source->text().size() + kSmall) {}

  Exported read() {
    Exported made;
    made.function = kept(root_.text(kFunctionName));
    for (size_t i = 0; i < root_.count(kPlatforms) && !fault_.is_set; ++i)
      made.platforms.push_back(kept(root_.text_of(kPlatforms, i)));
    const uint32_t devices = root_.integer<uint32_t>(kDevices);
    made.devices = devices != 0 ? devices : std::max<int64_t>(root_.integer<int16_t>(kDevicesShort), 1);
    made.inputs = values(kInAvals, kInAvalIndices, kInShardings, kInShardingIndices);
    made.outputs = values(kOutAvals, kOutAvalIndices, kOutShardings, kOutShardingIndices);
    const size_t kept = root_.bytes(kKeptInputs, 2).size() / 2;
    for (size_t i = 0; i < kept; ++i) made.kept_inputs.push_back(root_.integer_of<uint16_t>(kKeptInputs, i));
    const std::string_view module = root_.bytes(kModule, 1);
    made.begin = module.empty() ? 0 : static_cast<size_t>(module.data() - source_->text().data());
    made.size = module.size();
    return made;
  }

 private:
  /// Each by itself, or, in files since 2026, by the number of one that several share.
  std::vector<ExportedValue> values(size_t avals, size_t indices, size_t shardings, size_t sharding_indices) {
    std::vector<ExportedValue> made;
    const size_t shared = root_.count(indices);
    const size_t count = shared > 0 ? shared : root_.count(avals);
    for (size_t i = 0; i < count && may_hold(sizeof(ExportedValue)); ++i) {
      ExportedValue value;
      describe(shared > 0 ? root_.table_of(kUniqueAvals, root_.integer_of<uint32_t>(indices, i))
                          : root_.table_of(avals, i),
               value);
      if (i < root_.count(sharding_indices)) {
        const auto number = root_.integer_of<uint32_t>(sharding_indices, i);  // from 1 on
        if (number > 0) value.sharding = sharding_of(root_.table_of(kUniqueShardings, number - 1));
      } else if (i < root_.count(shardings)) {
        value.sharding = old_sharding(root_.table_of(shardings, i));
      }
      made.push_back(std::move(value));
    }
    return made;
  }

  /// Tables may point to one another as often as they like: what is made of them stays within eight times the
  /// file.
  bool may_hold(size_t bytes) {
    if (bytes > left_) {
      left_ = 0;
      fault_.set(0, "tables that point to the same ones too often");
      return false;
    }
    left_ -= bytes;
    return true;
  }
  std::string kept(std::string_view text) {
    return may_hold(text.size() + sizeof(std::string)) ? std::string(text) : std::string();
  }

  void describe(const FlatTable& aval, ExportedValue& value) {
    const auto type = aval.integer<uint8_t>(kDType);
    value.type = type < std::size(kTypes) ? kTypes[type] : "?";
    value.type += '[';
    for (size_t i = 0; i < aval.count(kShape) && !fault_.is_set; ++i) {
      value.sizes.push_back(kept(aval.text_of(kShape, i)));
      value.type += (i > 0 ? "," : "") + value.sizes.back();
    }
    value.type += ']';
  }

  ExportedSharding old_sharding(const FlatTable& sharding) {
    if (sharding.has(kNamedSharding)) return sharding_of(sharding.table(kNamedSharding));
    ExportedSharding made;
    if (sharding.integer<uint8_t>(kKind) == kIsProto) made.proto = kept(sharding.bytes(kProto, 1));
    return made;
  }

  ExportedSharding sharding_of(const FlatTable& sharding) {
    ExportedSharding made;
    if (!sharding.is_there()) return made;
    FlatTable mesh = sharding.table(kMesh);
    if (!mesh.is_there()) mesh = root_.table_of(kUniqueMeshes, sharding.integer<uint32_t>(kMeshIndex));
    for (size_t i = 0; i < mesh.count(kAxisNames) && !fault_.is_set; ++i)
      made.mesh.emplace_back(kept(mesh.text_of(kAxisNames, i)), mesh.integer_of<uint32_t>(kAxisSizes, i));
    const FlatTable spec = sharding.table(kSpec);
    for (size_t i = 0; i < spec.count(0) && may_hold(sizeof(made.dimensions[0])); ++i) {
      const FlatTable axes = spec.table_of(0, i);
      std::vector<std::string>& dimension = made.dimensions.emplace_back();
      for (size_t k = 0; k < axes.count(0) && !fault_.is_set; ++k)
        dimension.push_back(kept(axes.text_of(0, k)));
    }
    return made;
  }

  static constexpr size_t kSmall = 64 << 10;
  const SourcePtr& source_;
  Fault& fault_;
  FlatTable root_;
  size_t left_;
};

}  // namespace

bool is_exported(std::string_view content) {
  if (content.size() < 64 || is_bytecode(content)) return false;
  Fault fault;
  const FlatTable root = FlatTable::root(content, fault);
  return is_bytecode(root.bytes(kModule, 1));
}

Result<Exported> read_exported(const SourcePtr& source) {
  Fault fault;
  Exported made = ExportedReader(source, fault).read();
  if (!fault.is_set && made.size == 0) fault.set(0, "the file holds no module");
  if (fault.is_set) return tl::unexpected<Diagnostic>(fault.diagnostic(source));
  return made;
}

}  // namespace hlosim::mlir
