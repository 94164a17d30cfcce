// Bytes → the module that they hold → text.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "hlo/printer.h"
#include "hlo/reader.h"
#include "input/hlo.pb.h"
#include "input/proto_text.h"
#include "input/proto_writer.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Unknown fields anywhere inside: "Instruction.shape.layout field 99".
std::string unknown_field(const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const auto& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty())
    return fmt::format("field {} of {}", unknown.field(0).number(), message.GetDescriptor()->name());
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const Message& inner = field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                  : reflection.GetMessage(message, field);
      if (std::string found = unknown_field(inner); !found.empty()) return found;
    }
  }
  return {};
}

/// The messages that a module may stand in.
struct Inputs {
  pb::Module bare;
  pb::HloProto proto;
  pb::UnoptimizedSnapshot unoptimized;
  pb::Snapshot snapshot;
};
struct Found {
  const Message* outer = nullptr;
  const pb::Module* module = nullptr;  // null: the bytes are none of them
};

/// Protos don't say what they are, and the bytes of one may parse as another: what counts is a module whose
/// parts have names, in the message that leaves fewest fields unknown.
Found find_module(std::string_view bytes, Inputs& inputs) {
  const int size = static_cast<int>(bytes.size());
  const auto complete = [](const pb::Module& one) {
    if (one.entry_computation_name().empty() || one.computations_size() == 0) return false;
    return std::all_of(
        one.computations().begin(), one.computations().end(), [](const pb::Computation& computation) {
          return computation.instructions_size() > 0 && !computation.instructions(0).name().empty();
        });
  };
  Found found;
  const auto consider = [&](auto& outer, auto&& module_of) {
    if (found.outer && found.outer->GetReflection()->GetUnknownFields(*found.outer).empty()) return;
    if (!outer.ParseFromArray(bytes.data(), size) || !complete(module_of(outer))) return;
    if (!found.outer || outer.GetReflection()->GetUnknownFields(outer).empty())
      found = {&outer, &module_of(outer)};
  };
  consider(inputs.bare, [](const pb::Module& module) -> const pb::Module& { return module; });
  consider(inputs.proto, [](const pb::HloProto& proto) -> const pb::Module& { return proto.hlo_module(); });
  consider(inputs.unoptimized,
           [](const pb::UnoptimizedSnapshot& proto) -> const pb::Module& { return proto.hlo_module(); });
  consider(inputs.snapshot,
           [](const pb::Snapshot& proto) -> const pb::Module& { return proto.hlo().hlo_module(); });
  return found;
}

/// What the text of `<op>-start` says once is of both: what one of them has the other has too. Metadata that
/// the start alone has may become that of the operation.
bool says_the_same(const Instruction& start, const Instruction& operation) {
  const auto has = [](const Instruction& there, const Attr& attr) {
    const Attr* same = there.find(attr.key);
    return same && same->text() == attr.text();
  };
  const auto is_text = [](const Attr& attr) {
    return attr.syntax == AttrSyntax::kConfig || attr.syntax == AttrSyntax::kFrontend;
  };
  for (const Attr& attr : operation.attrs)
    if ((is_text(attr) || attr.syntax == AttrSyntax::kMetadata || attr.syntax == AttrSyntax::kSharding) &&
        !has(start, attr))
      return false;
  return std::all_of(start.attrs.begin(), start.attrs.end(),
                     [&](const Attr& attr) { return !is_text(attr) || has(operation, attr); });
}

/// Computations that hold one operation for an async-start become `<op>-start` again, as XLA prints them.
void restore_sugar(Module& module) {
  std::vector<int> callers(module.computations.size(), 0);
  const auto goes_on =
      [&](const Instruction& instruction) {  // from a start, by a chain that the sugar implies
        if (op_table()[instruction.opcode].has(kAsyncStart)) return true;
        return op_table()[instruction.opcode].has(kAsyncUpdate | kAsyncDone) &&
               !instruction.operands.empty() &&
               op_table()[module[instruction.operands[0]].opcode].has(kAsyncStart | kAsyncUpdate);
      };
  for (const Instruction& instruction : module.instructions)
    if (!goes_on(instruction))
      for_each_called(instruction, [&](ComputationId id) { callers[static_cast<size_t>(id.index)] = 2; });
  for (const Instruction& start : module.instructions) {
    const Attr* calls = start.opcode == Opcode::kAsyncStart ? start.find(AttrKey::kCalls) : nullptr;
    if (!calls) continue;
    const ComputationId id = calls->computations()[0];
    Computation& computation = module.computations[id];
    const Instruction& root = module.root(id);
    const OpDef& def = op_table()[root.opcode];
    if (callers[static_cast<size_t>(id.index)]++ > 0 ||
        def.has(kNoAsyncSugar | kAsyncStart | kAsyncUpdate | kAsyncDone))
      continue;
    if (id == module.entry || root.operands.empty() || start.operands.size() != root.operands.size())
      continue;
    if (computation.instructions.size() != computation.parameters.size() + 1) continue;
    if (!std::equal(root.operands.begin(), root.operands.end(), computation.parameters.begin(),
                    computation.parameters.end()))
      continue;
    // What the start leaves open, and aliases of the wrapped operation, such a text has no place for.
    if (start.shape->elements.size() < 2 || !compatible(start.shape->elements[1], root.shape) ||
        root.find(AttrKey::kOutputToOperandAliasing))
      continue;
    if (says_the_same(start, root)) computation.is_async_sugar = true;
  }
}

}  // namespace

Result<std::string> text_of_proto(std::string_view bytes, const std::string& name) {
  if (bytes.size() > (size_t{1} << 31) - 1)
    return failure(fmt::format("cannot read '{}': protos have at most 2 GiB", name));
  Inputs inputs;
  const Found found = find_module(bytes, inputs);
  if (!found.module)
    return failure(
        fmt::format("cannot read '{}': it is not an HloProto, HloModuleProto, HloSnapshot or "
                    "HloUnoptimizedSnapshot that is whole",
                    name));
  if (const std::string unknown = unknown_field(*found.outer); !unknown.empty())
    return failure(fmt::format("cannot read '{}': the proto has {}, which is not known", name, unknown));
  std::string problem;
  std::string text = hlo_text(*found.module, problem);
  if (!problem.empty())
    return failure(
        fmt::format("cannot read '{}': the proto has {}, which HLO text can't express", name, problem));
  DiagnosticList problems;
  std::vector<Module> modules =
      read_modules(std::make_shared<const SourceFile>(name + " as text", text), op_table(), problems);
  if (problems.has_errors() || modules.size() != 1) return text;  // its reader will say what is wrong
  restore_sugar(modules[0]);
  return to_text(modules[0], op_table());
}

}  // namespace hlosim
