#include "mlir_bytecode/read_bytecode.h"

#include "mlir_bytecode/attribute_table.h"
#include "mlir_bytecode/container.h"
#include "mlir_bytecode/operations.h"

namespace hlosim::mlir {

Result<File> read_bytecode(const SourcePtr& source) {
  return read_bytecode(source, 0, source->text().size());
}

Result<File> read_bytecode(const SourcePtr& source, size_t begin, size_t size) {
  const std::string_view file = source->text();
  File made;
  made.source = source;
  made.is_bytecode = true;
  Fault fault;
  Budget budget(size);
  const Container container = read_container(file, begin, begin + size, made.arena, budget, fault);
  if (!fault.is_set) {
    made.producer = container.producer;
    AttributeTable table(file, container, made.arena, budget, fault);
    if (!fault.is_set) made.top = read_operations(file, container, table, fault);
  }
  if (fault.is_set) return tl::unexpected<Diagnostic>(fault.diagnostic(source));
  return made;
}

}  // namespace hlosim::mlir
