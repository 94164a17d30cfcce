// What tests of MLIR texts share: reading one text, holding two files against each other.
//
//   const File file = read_one("func.func @main() { return }");
//   EXPECT_EQ(difference(*file.top, *read_one(write_text(file)).top), "");
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "mlir/attribute_reader.h"
#include "mlir/read_text.h"
#include "mlir/write_text.h"

namespace hlosim::mlir {

inline std::vector<File> read_all(const std::string& name, const std::string& text) {
  DiagnosticList findings;
  std::vector<File> files = read_text(std::make_shared<SourceFile>(name, text), findings);
  for (const Diagnostic& finding : findings.items()) ADD_FAILURE() << render(finding);
  return files;
}

/// The only piece of a text; an empty module where it can't be read.
inline File read_one(const std::string& text) {
  std::vector<File> files = read_all("test.mlir", text);
  if (files.size() != 1) files = read_all("empty.mlir", "module {}");
  return std::move(files[0]);
}

std::string difference(const Operation& a, const Operation& b);

inline std::string difference(const Block& a, const Block& b) {
  if (a.arguments.size() != b.arguments.size()) return "arguments of a block";
  if (a.operations.size() != b.operations.size()) return "operations of a block";
  for (size_t i = 0; i < a.arguments.size(); ++i)
    if (!same(*a.arguments[i]->type, *b.arguments[i]->type)) return "the type of an argument";
  for (size_t i = 0; i < a.operations.size(); ++i)
    if (const std::string found = difference(*a.operations[i], *b.operations[i]); !found.empty())
      return found;
  return "";
}

/// Where two operations differ, names of values and offsets aside; empty: nowhere.
inline std::string difference(const Operation& a, const Operation& b) {
  const auto is = [&](const std::string& what) { return std::string(a.name) + ": " + what; };
  if (a.name != b.name) return is("is " + std::string(b.name));
  if (a.operands.size() != b.operands.size() || a.results.size() != b.results.size()) return is("values");
  for (size_t i = 0; i < a.operands.size(); ++i) {
    if (!same(*a.operands[i]->type, *b.operands[i]->type)) return is("the type of an operand");
    if (a.operands[i]->number != b.operands[i]->number) return is("an operand");
  }
  for (size_t i = 0; i < a.results.size(); ++i)
    if (!same(*a.results[i]->type, *b.results[i]->type)) return is("the type of a result");
  if (a.attributes.size() != b.attributes.size()) return is("the number of attributes");
  for (size_t i = 0; i < a.attributes.size(); ++i)
    if (a.attributes[i].name != b.attributes[i].name || !same(*a.attributes[i].value, *b.attributes[i].value))
      return is(std::string(a.attributes[i].name));
  if (a.regions.size() != b.regions.size()) return is("the number of regions");
  for (size_t i = 0; i < a.regions.size(); ++i) {
    if (a.regions[i].blocks.size() != b.regions[i].blocks.size()) return is("the number of blocks");
    for (size_t j = 0; j < a.regions[i].blocks.size(); ++j)
      if (const std::string found = difference(*a.regions[i].blocks[j], *b.regions[i].blocks[j]);
          !found.empty())
        return found;
  }
  return "";
}

}  // namespace hlosim::mlir
