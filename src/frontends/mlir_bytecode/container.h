// The container of MLIR's bytecode: its header and sections, which name strings, dialects, operations,
// attributes and types by number, but for what these are.
//
//   Fault fault;
//   Budget budget(file.size());
//   const Container container = read_container(file, begin, end, budget, fault);
//   if (!fault.is_set) … container.producer, container.operations[2].name
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "mlir_bytecode/byte_reader.h"

namespace hlosim::mlir {

/// What an artifact may become in memory: eight times its own size, but 64 MiB where it is smaller than 8
/// MiB, as every byte of a small one may be an operation. A file says in few bytes that there are many of
/// something; who makes room for them asks here before.
class Budget {
 public:
  static constexpr size_t kTimes = 8, kSmallest = size_t{1} << 26;

  explicit Budget(size_t file_bytes) : limit_(std::max(file_bytes * kTimes, kSmallest)) {}
  /// False, with a fault: that would be too much.
  bool take(size_t bytes, ByteReader& in) {
    used_ += bytes;
    if (used_ <= limit_) [[likely]]
      return true;
    in.fail("takes more than eight times the memory of its bytes: damaged, or made to fill memory");
    return false;
  }
  size_t used() const { return used_; }
  size_t limit() const { return limit_; }

 private:
  size_t limit_;
  size_t used_ = 0;
};

/// Bytes [begin, end) of the file.
struct Extent {
  uint32_t begin = 0, end = 0;
  bool is_there = false;
};

/// An attribute or a type as it is encoded.
struct EncodedEntry {
  uint32_t begin = 0;
  uint32_t dialect = 0;
  uint32_t size = 0;
  bool is_custom = false;  // by its dialect; else MLIR text that ends with a NUL
};

struct OperationName {
  std::string_view name;  // with its dialect: "vhlo.add_v1"
  std::string_view dialect;
  bool is_registered = false;  // its properties are encoded by it itself
};

struct Resource {
  std::string_view key;
  std::string_view bytes;
  bool is_given = false;
};

struct Container {
  static constexpr uint64_t kNewest = 6;

  uint64_t version = 0;
  std::string_view producer;
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<OperationName> operations;
  std::vector<EncodedEntry> attributes, types;
  std::vector<Resource> resources;  // those of dialects, as attributes number them
  std::vector<std::string_view> properties;
  Extent ir;
};

/// Does the content begin as bytecode does?
bool is_bytecode(std::string_view content);

/// Bytes [begin, end) of `file`; what is made lives in `arena`.
Container read_container(std::string_view file, size_t begin, size_t end, Arena& arena, Budget& budget,
                         Fault& fault);

/// The section that begins here; its data are skipped. `id` is what it says, without the mark of alignment.
Extent read_section(ByteReader& in, uint8_t& id);

}  // namespace hlosim::mlir
