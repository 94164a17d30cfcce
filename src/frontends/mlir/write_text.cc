#include "mlir/write_text.h"

#include <fmt/format.h>

#include "mlir/writer.h"

namespace hlosim::mlir {

void Writer::number_results(const Operation& operation) {
  if (operation.results.empty()) return;
  numbers_[&operation] = results_;
  out_ += fmt::format("%{}", results_++);
  if (operation.results.size() > 1) out_ += fmt::format(":{}", operation.results.size());
  out_ += " = ";
}

void Writer::value(const Value& value) {
  if (value.owner == nullptr) {
    out_ += fmt::format("%arg{}", numbers_[&value]);
    return;
  }
  out_ += fmt::format("%{}", numbers_[value.owner]);
  if (value.owner->results.size() > 1) out_ += fmt::format("#{}", value.number);
}

void Writer::block(const Block& block, bool labelled, int indent) {
  if (labelled || !block.arguments.empty() || block.operations.empty()) {
    out_ += fmt::format("{:{}}^bb{}", "", indent - 2, blocks_++);
    const char* separator = "(";
    for (const Value* argument : block.arguments) {
      numbers_[argument] = arguments_;
      out_ += fmt::format("{}%arg{}: ", separator, arguments_++);
      type(*argument->type);
      if (options_.locations && argument->location != nullptr) {
        out_ += " ";
        location(*argument->location);
      }
      separator = ", ";
    }
    out_ += block.arguments.empty() ? ":\n" : "):\n";
  }
  for (const Operation* inner : block.operations) operation(*inner, indent);
}

void Writer::region(const Region& region, int indent) {
  out_ += "{\n";
  bool labelled = false;
  for (const Block* inner : region.blocks) {
    block(*inner, labelled, indent + 2);
    labelled = true;
  }
  out_ += fmt::format("{:{}}}}", "", indent);
}

void Writer::operation(const Operation& operation, int indent) {
  const bool starts_anew = operation.name == "func.func" || operation.name == "builtin.module";
  out_ += fmt::format("{:{}}", "", indent);
  number_results(operation);
  string(operation.name);
  out_ += '(';
  const char* separator = "";
  for (const Value* operand : operation.operands) {
    out_ += separator;
    value(*operand);
    separator = ", ";
  }
  out_ += ')';
  if (!operation.attributes.empty()) dictionary(operation.attributes, " <{", "}>");
  if (!operation.regions.empty()) {
    const size_t results = results_, arguments = arguments_, blocks = blocks_;
    if (starts_anew) results_ = arguments_ = blocks_ = 0;
    separator = " (";
    for (const Region& inner : operation.regions) {
      out_ += separator;
      region(inner, indent);
      separator = ", ";
    }
    out_ += ')';
    if (starts_anew) {
      results_ = results;
      arguments_ = arguments;
      blocks_ = blocks;
    }
  }
  out_ += " : (";
  separator = "";
  for (const Value* operand : operation.operands) {
    out_ += separator;
    type(*operand->type);
    separator = ", ";
  }
  out_ += ") -> ";
  const bool alone = operation.results.size() == 1 && operation.results[0]->type->kind != TypeKind::kFunction;
  separator = alone ? "" : "(";
  if (operation.results.empty()) out_ += separator;
  for (const Value* result : operation.results) {
    out_ += separator;
    type(*result->type);
    separator = ", ";
  }
  if (!alone) out_ += ')';
  if (options_.locations && operation.location != nullptr) {
    out_ += " ";
    location(*operation.location);
  }
  out_ += '\n';
}

namespace {

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c < ' ' || c > '~' || c == '"') {
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_place(std::string& out, const Location& location) {
  switch (location.kind) {
    case LocationKind::kUnknown:
      out += "unknown";
      return;
    case LocationKind::kFile:
      append_string(out, location.text);
      out += fmt::format(":{}:{}", location.line, location.column);
      return;
    case LocationKind::kName:
      append_string(out, location.text);
      if (location.inner.empty()) return;
      break;
    case LocationKind::kCallSite:
      out += "callsite";
      break;
    case LocationKind::kFused:
      out += "fused";
      break;
  }
  const bool fused = location.kind == LocationKind::kFused;
  out += fused ? '[' : '(';
  const char* separator = "";
  for (const Location* inner : location.inner) {
    out += separator;
    append_place(out, *inner);
    separator = fused ? ", " : " at ";
  }
  out += fused ? ']' : ')';
}

}  // namespace

void Writer::string(std::string_view text) { append_string(out_, text); }

void Writer::location(const Location& location) {
  out_ += "loc(";
  append_place(out_, location);
  out_ += ')';
}

std::string write_text(const Operation& operation, const WriteOptions& options) {
  Writer writer(options);
  writer.operation(operation, 0);
  writer.resources();
  return writer.take();
}

std::string write_text(const File& file, const WriteOptions& options) {
  return write_text(*file.top, options);
}

std::string to_text(const Type& type) {
  const WriteOptions options;
  Writer writer(options);
  writer.type(type);
  return writer.take();
}

std::string to_text(const Attribute& attribute, const WriteOptions& options) {
  Writer writer(options);
  writer.attribute(attribute);
  return writer.take();
}

}  // namespace hlosim::mlir
