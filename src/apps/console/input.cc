#include "console/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <limits>

#include "base/text.h"
#include "console/exchange.h"
#include "console/verbosity.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "ops/op_table.h"
#include "text/escape.h"

namespace hlosim {

namespace {

/// What the program that calls gave under this name; null: nothing.
const InputAtHand* at_hand(const std::string& path, Streams streams) {
  if (!streams.exchange) return nullptr;
  const auto& inputs = streams.exchange->inputs;
  const auto found = std::ranges::find(inputs, path, &InputAtHand::path);
  return found == inputs.end() ? nullptr : &*found;
}

/// All of it, as far as positions in a text reach.
Result<std::string> read_all(std::istream& in) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max(), kStep = size_t{1} << 20;
  std::string text;
  for (bool more = true; more;) {
    const size_t old = text.size(), room = std::max(kStep, old / 2);
    text.resize(old + room);
    in.read(text.data() + old, static_cast<std::streamsize>(room));
    text.resize(old + static_cast<size_t>(in.gcount()));
    more = text.size() == old + room;
    if (text.size() >= kMost) return failure("cannot read '<stdin>': larger than 4 GiB");
  }
  return text;
}

}  // namespace

Result<SourcePtr> read_input(const std::string& path, Streams streams) {
  if (const InputAtHand* input = at_hand(path, streams)) return as_text(input->source);
  if (path != "-") {
    if (const Result<void> used = streams.files.reads(path); !used) return tl::unexpected(used.error());
    return read_text_source(path);
  }
  if (!streams.standard_input) {
    Result<std::string> text = read_all(streams.in);
    if (!text) return tl::unexpected(std::move(text.error()));
    Result<SourcePtr> source = as_text(std::make_shared<const SourceFile>("<stdin>", std::move(*text)));
    if (!source) return source;
    streams.standard_input = std::move(*source);
  }
  return streams.standard_input;
}

std::string json_documents(const std::vector<std::string>& documents) {
  if (documents.size() == 1) return documents[0];
  std::string text = "[";
  for (const std::string& document : documents) {
    text += text.size() > 1 ? ",\n" : "\n";
    text += document;
    while (!text.empty() && text.back() == '\n') text.pop_back();
  }
  return text + "\n]\n";
}

bool write_output(const std::string& path, std::string_view text, Streams streams) {
  if (path == "-") {
    streams.out << text;
    return true;
  }
  const Step step(fmt::format("wrote {}: {} bytes", path, text.size()), streams);
  Result<void> written = streams.files.writes(path);
  if (written) written = write_file(path, text);
  if (!written) tell(written.error(), streams);
  return written.has_value();
}

ModuleInput read_module_input(const std::string& path, bool parse_only, Streams streams) {
  ModuleInput input;
  if (const InputAtHand* given = at_hand(path, streams); given && !given->modules.empty()) {
    input.ok = true;
    for (const auto& module : given->modules) {
      // The file that the program read it from stays an input.
      const Result<void> used = module->source ? streams.files.reads(module->source->name()) : Result<void>();
      if (!used) tell(used.error(), streams);
      input.ok &= used.has_value();
      input.modules.push_back(module->copy());
    }
    return input;
  }
  Step reading(fmt::format("read {}", path), streams);
  const Result<SourcePtr> source = read_input(path, streams);
  if (!source) {
    tell(source.error(), streams);
    return input;
  }
  DiagnosticList diagnostics;
  const LoadOptions load{streams.limits, streams.mlir, streams.partial};
  input.modules = parse_only ? parse_modules(*source, op_table(), diagnostics, load)
                             : load_modules(*source, op_table(), diagnostics, load);
  size_t instructions = 0;
  for (const Module& module : input.modules) instructions += module.instructions.size();
  reading.add(fmt::format(": {} bytes, {} module{}, {} instructions", (*source)->text().size(),
                          input.modules.size(), input.modules.size() == 1 ? "" : "s", instructions));
  tell(diagnostics, streams);
  if (diagnostics.error_count() > diagnostics.items().size())
    streams.err << fmt::format("{}: {} more errors are not shown\n", one_line((*source)->name()),
                               diagnostics.error_count() - diagnostics.items().size());
  input.ok = !diagnostics.has_errors();
  return input;
}

}  // namespace hlosim
