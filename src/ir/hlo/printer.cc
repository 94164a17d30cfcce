#include "hlo/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "hlo/graph.h"

namespace hlosim {
namespace {

class Printer {
 public:
  Printer(const Module& module, const OpTable& table, const PrintOptions& options)
      : module_(module), table_(table), options_(options) {}

  std::string take() { return std::move(out_); }

  void module() {
    out_ += "HloModule ";
    out_ += module_.name;
    for (const Attr& attr : module_.attrs) attribute(attr);
    out_ += "\n\n";
    if (!module_.stack_frames.empty()) {
      out_ += module_.stack_frames;
      out_ += "\n\n";
    }
    for (const ComputationId id : callees_first(module_))
      if (!module_[id].is_async_sugar) computation(id);
    out_.pop_back();
  }

  void instruction(const Instruction& instruction) {
    name(instruction.name);
    out_ += " = ";
    shape(instruction.shape);
    out_ += ' ';
    const Instruction* wrapped = sugared(instruction);
    opcode(instruction, wrapped);
    out_ += '(';
    operands(instruction);
    out_ += ')';
    attributes(instruction, wrapped);
  }

 private:
  void name(std::string_view text) {
    if (options_.percent) out_ += '%';
    out_ += text;
  }
  void number(int64_t value) {
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
  }
  /// Most shapes come more than once: what was written stands further up.
  void shape(ShapeRef shape) {
    const auto [known, is_new] = shapes_.try_emplace(shape);
    if (!is_new) return void(out_.append(out_, known->second.first, known->second.second));
    const size_t start = out_.size();
    append_text(out_, shape);
    known->second = {start, out_.size() - start};
  }
  template <class List, class F>
  void joined(const List& list, const char* separator, F&& one) {
    bool first = true;
    for (const auto& item : list) {
      if (!first) out_ += separator;
      first = false;
      one(item);
    }
  }
  void int_list(std::span<const int64_t> values) {
    out_ += '{';
    joined(values, ",", [&](int64_t v) { number(v); });
    out_ += '}';
  }

  void computation(ComputationId id) {
    const Computation& computation = module_[id];
    if (id == module_.entry) out_ += "ENTRY ";
    name(computation.name);
    if (options_.signature) {
      out_ += " (";
      joined(computation.parameters, ", ", [&](InstructionId parameter) {
        out_ += module_[parameter].name;
        out_ += ": ";
        out_ += to_text_without_layout(module_[parameter].shape);
      });
      out_ += ") -> ";
      shape(module_[computation.root].shape);
    }
    out_ += " {\n";
    for (const InstructionId i : computation.instructions) {
      out_ += i == computation.root ? "  ROOT " : "  ";
      instruction(module_[i]);
      out_ += '\n';
    }
    out_ += '}';
    if (computation.execution_thread != "main")
      fmt::format_to(std::back_inserter(out_), ", execution_thread=\"{}\"", computation.execution_thread);
    out_ += "\n\n";
  }

  /// The operation that a sugared async instruction wraps; null for all others.
  const Instruction* sugared(const Instruction& instruction) const {
    if (!table_[instruction.opcode].has(kAsyncStart | kAsyncUpdate | kAsyncDone)) return nullptr;
    const Instruction* start = async_start_of(module_, instruction);
    const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
    if (!calls || !module_[calls->computations()[0]].is_async_sugar) return nullptr;
    return &module_.root(calls->computations()[0]);
  }

  void opcode(const Instruction& instruction, const Instruction* wrapped) {
    if (!wrapped) {
      out_ += to_text(instruction.opcode);
      return;
    }
    const OpDef& def = table_[instruction.opcode];
    out_ += to_text(wrapped->opcode);
    out_ += def.has(kAsyncStart) ? "-start" : def.has(kAsyncUpdate) ? "-update" : "-done";
  }

  void operands(const Instruction& instruction) {
    if (instruction.literal) {
      append_text(out_, *instruction.literal);
      return;
    }
    if (instruction.parameter_number >= 0) {
      number(instruction.parameter_number);
      return;
    }
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      if (i) out_ += ", ";
      if (i && i % 5 == 0) fmt::format_to(std::back_inserter(out_), "/*index={}*/", i);
      const Instruction& operand = module_[instruction.operands[i]];
      if (options_.operand_shapes) {
        shape(operand.shape);
        out_ += ' ';
      }
      name(operand.name);
    }
  }

  void attributes(const Instruction& instruction, const Instruction* wrapped) {
    if (wrapped && table_[instruction.opcode].has(kAsyncStart))
      for (const Attr& attr : wrapped->attrs)
        if (attr.key == AttrKey::kCalls || !instruction.find(attr.key))
          attribute(attr);  // its own, not the start's
    for (const Attr& attr : instruction.attrs) {
      if (wrapped && attr.key == AttrKey::kCalls) continue;
      if (!options_.metadata && attr.key == AttrKey::kMetadata) continue;
      attribute(attr);
    }
  }

  void attribute(const Attr& attr) {
    out_ += ", ";
    out_ += to_text(attr.key);
    out_ += '=';
    value(attr);
  }

  void value(const Attr& attr) {
    switch (attr.syntax) {
      case AttrSyntax::kBool:
        out_ += attr.flag() ? "true" : "false";
        return;
      case AttrSyntax::kInt:
        return number(attr.integer());
      case AttrSyntax::kInts:
      case AttrSyntax::kInts1:
        return int_list(attr.ints());
      case AttrSyntax::kComputation:
        return name(module_[attr.computations()[0]].name);
      case AttrSyntax::kPadding:
        return padding(attr);
      case AttrSyntax::kWindow:
        return window(attr.window());
      case AttrSyntax::kShape:
        return append_text(out_, attr.shapes()[0]);
      case AttrSyntax::kEntryLayout:
        return entry_layout(attr.shapes());
      case AttrSyntax::kLiteral:
        return typed_literal(attr.literal());
      case AttrSyntax::kReplicaGroups:
        return replica_groups(attr.replica_groups());
      case AttrSyntax::kAliases:
      case AttrSyntax::kDonors:
        return aliases(attr);
      case AttrSyntax::kDimLabels:
        out_ += attr.dim_labels().text;
        return;
      case AttrSyntax::kWords:
      case AttrSyntax::kIntLists:
      case AttrSyntax::kPairs:
      case AttrSyntax::kBools:
      case AttrSyntax::kBoolOrBools:
      case AttrSyntax::kSlices:
      case AttrSyntax::kComputations:
      case AttrSyntax::kInstructions:
      case AttrSyntax::kShapes:
        return list(attr);
      case AttrSyntax::kNumber:
      case AttrSyntax::kWord:
      case AttrSyntax::kString:
      case AttrSyntax::kConfig:
      case AttrSyntax::kSharding:
      case AttrSyntax::kMetadata:
      case AttrSyntax::kFrontend:
      case AttrSyntax::kAccuracy:
      case AttrSyntax::kBraces:
        out_ += attr.text();
        return;
    }
  }

  /// `{…}` around values of one kind.
  void list(const Attr& attr) {
    out_ += '{';
    switch (attr.syntax) {
      case AttrSyntax::kWords:
        joined(attr.words(), ",", [&](std::string_view word) { out_ += word; });
        break;
      case AttrSyntax::kBools:
      case AttrSyntax::kBoolOrBools:
        joined(attr.ints(), ",", [&](int64_t v) { out_ += v ? "true" : "false"; });
        break;
      case AttrSyntax::kSlices:
        joined(attr.int_lists(), ", ", [&](std::span<const int64_t> s) {
          fmt::format_to(std::back_inserter(out_), "[{}:{}", s[0], s[1]);
          if (s[2] != 1) fmt::format_to(std::back_inserter(out_), ":{}", s[2]);
          out_ += ']';
        });
        break;
      case AttrSyntax::kComputations:
        joined(attr.computations(), ", ", [&](ComputationId id) { name(module_[id].name); });
        break;
      case AttrSyntax::kInstructions:
        joined(attr.instructions(), ", ", [&](InstructionId id) { name(module_[id].name); });
        break;
      case AttrSyntax::kShapes:
        joined(attr.shapes(), ", ", [&](ShapeRef shape) { append_text(out_, shape); });
        break;
      default:
        joined(attr.int_lists(), ",", [&](std::span<const int64_t> values) { int_list(values); });
    }
    out_ += '}';
  }

  void padding(const Attr& attr) {
    joined(attr.int_lists(), "x", [&](std::span<const int64_t> p) {
      fmt::format_to(std::back_inserter(out_), "{}_{}", p[0], p[1]);
      if (p[2] != 0) fmt::format_to(std::back_inserter(out_), "_{}", p[2]);
    });
  }

  /// Parameters and, last, the result.
  void entry_layout(std::span<const ShapeRef> shapes) {
    out_ += "{(";
    joined(shapes.first(shapes.size() - 1), ", ", [&](ShapeRef shape) { append_text(out_, shape); });
    out_ += ")->";
    append_text(out_, shapes.back());
    out_ += '}';
  }

  void window(const Window& window) {
    const auto field = [&](const char* key, bool always, auto&& differs, auto&& print) {
      if (!always && std::none_of(window.dimensions.begin(), window.dimensions.end(), differs)) return;
      if (out_.back() != '{') out_ += ' ';
      out_ += key;
      joined(window.dimensions, "x", print);
    };
    using W = WindowDimension;
    out_ += '{';
    if (!window.dimensions.empty()) {
      field(
          "size=", true, [](const W&) { return true; }, [&](const W& w) { number(w.size); });
      field(
          "stride=", false, [](const W& w) { return w.stride != 1; }, [&](const W& w) { number(w.stride); });
      field(
          "pad=", false, [](const W& w) { return w.padding_low != 0 || w.padding_high != 0; },
          [&](const W& w) {
            fmt::format_to(std::back_inserter(out_), "{}_{}", w.padding_low, w.padding_high);
          });
      field(
          "lhs_dilate=", false, [](const W& w) { return w.base_dilation != 1; },
          [&](const W& w) { number(w.base_dilation); });
      field(
          "rhs_dilate=", false, [](const W& w) { return w.window_dilation != 1; },
          [&](const W& w) { number(w.window_dilation); });
      field(
          "rhs_reversal=", false, [](const W& w) { return w.reversal; },
          [&](const W& w) { number(w.reversal); });
    }
    out_ += '}';
  }

  void typed_literal(const Literal& literal) {
    if (literal.shape->is_tuple()) {
      out_ += '(';
      joined(literal.elements, ", ", [&](const Literal* element) { typed_literal(*element); });
      out_ += ')';
      return;
    }
    append_text(out_, literal.shape);
    out_ += ' ';
    append_text(out_, literal);
  }

  void replica_groups(const ReplicaGroups& groups) {
    switch (groups.form) {
      case ReplicaGroups::Form::kMesh:
        out_ += groups.text;
        return;
      case ReplicaGroups::Form::kList:
        out_ += '{';
        joined(groups.groups, ",", [&](std::span<const int64_t> group) { int_list(group); });
        out_ += '}';
        return;
      case ReplicaGroups::Form::kIota: {
        const auto list = [&](std::span<const int64_t> values) {
          joined(values, ",", [&](int64_t v) { number(v); });
        };
        out_ += '[';
        list(groups.iota_dimensions);
        out_ += "]<=[";
        list(groups.iota_reshape);
        out_ += ']';
        if (!groups.iota_transpose.empty()) {
          out_ += "T(";
          list(groups.iota_transpose);
          out_ += ')';
        }
        return;
      }
    }
  }

  void aliases(const Attr& attr) {
    const bool donors = attr.syntax == AttrSyntax::kDonors;
    const bool with_kind = attr.key == AttrKey::kInputOutputAlias;
    out_ += "{ ";
    joined(attr.aliases(), ", ", [&](const Alias& alias) {
      if (!donors) {
        int_list(alias.output_index);
        out_ += ": ";
      }
      out_ += '(';
      number(alias.parameter);
      out_ += ", ";
      int_list(alias.parameter_index);
      if (with_kind) out_ += alias.must_alias ? ", must-alias" : ", may-alias";
      out_ += ')';
    });
    out_ += " }";
  }

  const Module& module_;
  const OpTable& table_;
  const PrintOptions& options_;
  std::string out_;
  std::unordered_map<ShapeRef, std::pair<size_t, size_t>> shapes_;  // where in out_, and how long
};

}  // namespace

std::string to_text(const Module& module, const OpTable& table, const PrintOptions& options) {
  Printer printer(module, table, options);
  printer.module();
  return printer.take();
}

std::string to_text(const Module& module, const Instruction& instruction, const OpTable& table,
                    const PrintOptions& options) {
  Printer printer(module, table, options);
  printer.instruction(instruction);
  return printer.take();
}

}  // namespace hlosim
