// Protos and texts of the same module: text → proto → text is the text.
#include "dumps/proto_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "dumps/hlo_file.h"
#include "dumps/proto_values.h"
#include "support/modules.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

std::vector<Module> modules_of(const SourcePtr& source) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source, op_table(), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << source->name() << "\n" << test::rendered(diagnostics);
  return modules;
}

/// What has no place in a proto (the compiler's configuration, notes of debuggers) doesn't come back.
bool is_kept(const Attr& attr) {
  switch (attr.key) {
    case AttrKey::kDebugAttributes:
    case AttrKey::kAliasPassthroughParams:
    case AttrKey::kAllowSpmdShardingPropagationToOutput:
    case AttrKey::kAllowSpmdShardingPropagationToParameters:
    case AttrKey::kOrigin:
    case AttrKey::kOriginRecoveryTable:
    case AttrKey::kStatistics: return false;
    case AttrKey::kDimensions: return !attr.ints().empty();
    case AttrKey::kFeatureGroupCount:
    case AttrKey::kBatchGroupCount: return attr.integer() != 1;
    case AttrKey::kIsAssociative: return true;
    default: return attr.syntax != AttrSyntax::kBool || attr.flag();
  }
}

/// What text can say and the messages can't.
bool has_no_place(const std::string& error) {
  return error.find("HloProto has no place for sharding of") != std::string::npos ||   // meshes with names
         error.find("HloProto has no place for slice_sizes of") != std::string::npos;  // of collective-permute
}

/// The text of a module after a way through a proto; empty with a failure of the test.
std::string through_proto(const Module& module, const std::string& name) {
  const Result<std::string> bytes = proto_of(module);
  if (!bytes && has_no_place(bytes.error().message)) return {};
  EXPECT_TRUE(bytes) << name << ": " << bytes.error().message;
  if (!bytes) return {};
  const Result<std::string> text = text_of_proto(*bytes, name);
  EXPECT_TRUE(text) << name << ": " << text.error().message;
  return text ? *text : std::string();
}

/// The same meaning in one spelling: blanks and quotes of texts that modules keep as written.
Attr one_spelling(Module& module, const Attr& attr) {
  std::string text;
  switch (attr.syntax) {
    case AttrSyntax::kConfig: text = config_text(unquoted(attr.text())); break;
    case AttrSyntax::kSharding:
    case AttrSyntax::kFrontend:
    case AttrSyntax::kMetadata:
    case AttrSyntax::kAccuracy:
      std::copy_if(attr.text().begin(), attr.text().end(), std::back_inserter(text), [](char c) { return c > ' ' && c != ','; });
      break;
    default: return attr;
  }
  return Attr::make_text(attr.key, attr.syntax, module.arena().copy(std::string_view(text)));
}

/// Attributes in one order, without those that no proto has and those that say what is so without them.
std::string normal_text(Module& module) {
  const auto sorted = [&](std::span<const Attr> attrs) {
    std::vector<Attr> kept;
    std::copy_if(attrs.begin(), attrs.end(), std::back_inserter(kept), is_kept);
    for (Attr& attr : kept) attr = one_spelling(module, attr);
    std::stable_sort(kept.begin(), kept.end(), [](const Attr& a, const Attr& b) { return a.key < b.key; });
    return module.arena().copy(kept);
  };
  module.attrs = sorted(module.attrs);
  for (Instruction& instruction : module.instructions) {
    instruction.attrs = sorted(instruction.attrs);
    const Literal* literal = instruction.literal;
    if (!literal || literal->elided || !literal->shape->is_array()) continue;
    std::vector<std::byte> all(static_cast<size_t>(literal->shape->element_count() * byte_width(literal->shape->element_type)));
    std::copy_n(literal->data.begin(), std::min(all.size(), literal->data.size()), all.begin());
    Literal filled = *literal;
    filled.data = module.arena().copy(all);
    instruction.literal = module.arena().make<Literal>(filled);
  }
  return to_text(module, op_table());
}

/// Computations around one operation are written as `<op>-start`, where their names have no place.
bool renames_async(const Module& module) {
  return std::any_of(module.instructions.begin(), module.instructions.end(), [&](const Instruction& instruction) {
    return instruction.opcode == Opcode::kAsyncStart && !module[instruction.find(AttrKey::kCalls)->computations()[0]].is_async_sugar;
  });
}

std::string first_difference(const std::string& a, const std::string& b) {
  size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  at = a.rfind('\n', at) == std::string::npos ? 0 : a.rfind('\n', at) + 1;
  return "in  " + a.substr(at, a.find('\n', at) - at) + "\nout " + b.substr(std::min(at, b.size()), b.find('\n', at) - at);
}

std::vector<fs::path> corpus() {
  const fs::path folder = fs::path(HLOSIM_SHARED_DIR) / "corpus" / "ok";
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".hlo") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (std::getenv("HLOSIM_WHOLE_CORPUS")) return files;
  std::vector<fs::path> sample;
  for (size_t i = 0; i < files.size(); i += 10) sample.push_back(files[i]);
  return sample;
}

TEST(ProtoCorpus, TextsComeBackFromProtos) {
  const std::vector<fs::path> files = corpus();
  if (files.empty()) GTEST_SKIP() << "no texts in " HLOSIM_SHARED_DIR "/corpus/ok";
  for (const fs::path& file : files)
    for (Module& module : modules_of(*read_source(file.string()))) {
      const std::string text = through_proto(module, file.filename().string());
      if (text.empty()) continue;
      std::vector<Module> again = modules_of(std::make_shared<const SourceFile>(file.filename().string(), text));
      ASSERT_EQ(again.size(), 1u) << file;
      EXPECT_EQ(through_proto(again[0], file.filename().string()), text) << file;
      EXPECT_EQ(again[0].instructions.size(), module.instructions.size()) << file;
      if (renames_async(module) || renames_async(again[0])) continue;
      const std::string wanted = normal_text(module), got = normal_text(again[0]);
      EXPECT_TRUE(got == wanted) << file << "\n" << first_difference(wanted, got);
    }
}

}  // namespace
}  // namespace hlosim
