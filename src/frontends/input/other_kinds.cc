#include "input/other_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "base/text.h"

namespace hlosim {
namespace {

/// How much of a file is looked at: reports and traces name their kind in it.
constexpr size_t kLookedAt = 16384;

struct Kind {
  std::string_view name;  // "Python source"
  std::string hint;
};

/// The part of a text that tells its kind.
struct Head {
  std::string_view all;    // the first kLookedAt bytes
  std::string_view first;  // from the first line that is neither empty nor a comment of `#` or `//`
};

Head head_of(std::string_view text) {
  Head head{text.substr(0, kLookedAt), {}};
  std::string_view rest = head.all;
  while (!rest.empty()) {
    const std::string_view line = trimmed(rest.substr(0, rest.find('\n')));
    if (!line.empty() && line[0] != '#' && !line.starts_with("//")) break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  head.first = rest;
  return head;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}

/// Lines `key:` in the first column, as a YAML file has them.
bool has_key(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1))
    if ((at == 0 || text[at - 1] == '\n') && text.substr(at + key.size()).starts_with(":")) return true;
  return false;
}

bool has_any_key(std::string_view text, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return has_key(text, key); });
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::optional<Kind> python_kind(const Head& head, std::string_view name) {
  std::string_view first = trimmed(head.first);
  const bool is_docstring = starts_with_any(first, {"\"\"\"", "'''", "r\"\"\""});
  const bool is_statement =
      starts_with_any(first, {"import ", "from ", "def ", "class ", "async def ", "@", "if __name__"});
  const bool is_script = head.all.starts_with("#!") &&
                         head.all.substr(0, head.all.find('\n')).find("python") != std::string_view::npos;
  if (!is_docstring && !is_statement && !is_script) return std::nullopt;
  return Kind{
      "Python source, not a compiled program",
      fmt::format("dump what it compiles: XLA_FLAGS=--xla_dump_to=dump python {} && hlosim report dump "
                  "--device=v5e; or write jax.jit(f).lower(*args).as_text() to a file",
                  name)};
}

/// JSON, and texts with braces at their beginning.
std::optional<Kind> braced_kind(const Head& head, std::string_view path) {
  const std::string_view text = trimmed(head.first);
  const auto has = [&](std::string_view word) { return head.all.find(word) != std::string_view::npos; };
  if (text.starts_with("{ lambda") || text.starts_with("{lambda"))
    return Kind{"a jaxpr, not a lowered program",
                "use the StableHLO of jax.jit(f).lower(*args).as_text() instead of jax.make_jaxpr(f)(*args)"};
  if (!starts_with_any(text, {"{", "["})) return std::nullopt;
  if (has("\"nbformat\"") || has("\"cell_type\""))
    return Kind{"a notebook, not a compiled program",
                "in a cell: import hlosim; hlosim.load(jax.jit(f).lower(*args)).report(\"v5e\")"};
  if (has("\"schema_version\"") && has("\"hlosim\""))
    return Kind{"a saved report, not a program",
                fmt::format("its page: hlosim report {0} --format=html -o page.html; compared with another: "
                            "hlosim diff {0} OTHER.json",
                            path)};
  if (has("\"traceEvents\""))
    return Kind{
        "a trace, not a program",
        fmt::format("a measured one: hlosim profile {} --module=module.hlo --device=v5e; to look at it: "
                    "https://ui.perfetto.dev",
                    path)};
  if (has("\"hloModule\"") || has("\"hlo_module\"") || has("\"entryComputationName\""))
    return Kind{"an HLO proto as JSON",
                "hlosim reads binary protos and HLO text: --xla_dump_hlo_as_text or --xla_dump_hlo_as_proto"};
  return Kind{"JSON, not HLO text", "HLO text starts with `HloModule name`, StableHLO with `module`"};
}

std::optional<Kind> proto_text_kind(const Head& head) {
  const std::string_view text = trimmed(head.first);
  if (!starts_with_any(text, {"hlo_module {", "hlo_module:", "hlo_module <"}) &&
      !(text.starts_with("name: \"") && head.all.find("\nentry_computation_name:") != std::string_view::npos))
    return std::nullopt;
  return Kind{"an HLO proto in text format",
              "hlosim reads binary protos and HLO text: --xla_dump_hlo_as_text writes text; in Python: "
              "text_format.Parse(text, hlo_pb2.HloProto()).SerializeToString()"};
}

std::optional<Kind> yaml_kind(const Head& head, std::string_view path) {
  const std::string_view line = head.first.substr(0, head.first.find('\n'));
  const size_t colon = line.find(':');
  const bool is_key =
      colon != std::string_view::npos && colon > 0 &&
      std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon),
                  [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  if (!is_key && !line.starts_with("---")) return std::nullopt;
  const std::string_view text = head.all;
  if (has_any_key(text, {"layers", "d_model", "q_heads"}))
    return Kind{"a model file, not a program",
                fmt::format("hlosim model {} -o step.hlo && hlosim report step.hlo --device=v6e-8", path)};
  if (has_any_key(text, {"extends", "mxu", "generation"}))
    return Kind{"a device file, not a program", fmt::format("hlosim report module.hlo --device={}", path)};
  if (has_key(text, "modules") && has_any_key(text, {"baseline", "metrics", "policy"}))
    return Kind{"a gate's configuration, not a program", fmt::format("hlosim gate --config={}", path)};
  if (has_any_key(text, {"modules", "columns", "objectives"}))
    return Kind{"a sweep, not a program", fmt::format("hlosim sweep {}", path)};
  return Kind{"YAML, not HLO text", "HLO text starts with `HloModule name`, StableHLO with `module`"};
}

std::optional<Kind> page_kind(const Head& head) {
  if (!starts_with_any(trimmed(head.first), {"<!DOCTYPE", "<!doctype", "<html", "<svg", "<?xml"}))
    return std::nullopt;
  return Kind{"a page or a picture, not a program", "open it in a browser"};
}

/// Formats that begin with bytes of their own.
std::optional<Kind> binary_kind(std::string_view bytes) {
  struct Magic {
    std::string_view bytes, name, hint;
  };
  constexpr std::string_view kFromJax =
      "write jax.jit(f).lower(*args).as_text() to a file, or dump HLO with XLA_FLAGS=--xla_dump_to=DIR";
  constexpr std::string_view kUnpack = "unpack it and give the folder: hlosim report FOLDER --device=v5e";
  constexpr std::array<Magic, 8> kMagics = {{
      {"PK\x03\x04", "a zip archive (a PyTorch checkpoint and an .npz are some), not a program", kUnpack},
      {"\x89PNG", "a picture, not a program", kFromJax},
      {"\x80\x04\x95", "a pickle, not a program", kFromJax},
      {"\x80\x05\x95", "a pickle, not a program", kFromJax},
      {"%PDF", "a PDF, not a program", kFromJax},
      {"\x7f"
       "ELF",
       "an executable or a library, not a program in HLO", kFromJax},
      {"\x93NUMPY", "an array, not a program", kFromJax},
      {"BZh", "a bzip2 archive", "unpack it; hlosim reads .gz and .zst"},
  }};
  for (const Magic& magic : kMagics)
    if (bytes.starts_with(magic.bytes)) return Kind{magic.name, std::string(magic.hint)};
  return std::nullopt;
}

}  // namespace

std::optional<Diagnostic> other_kind(const SourcePtr& source) {
  const std::string_view text = source->text();
  const std::string path = shown(source->name(), 200);
  if (std::optional<Kind> binary = binary_kind(text))
    return failure(fmt::format("'{}' is {}", path, binary->name), std::move(binary->hint)).value();
  const Head head = head_of(text);
  if (trimmed(head.first).starts_with("HloModule")) return std::nullopt;
  std::optional<Kind> kind = python_kind(head, file_name(path));
  if (!kind) kind = braced_kind(head, path);
  if (!kind) kind = proto_text_kind(head);
  if (!kind) kind = page_kind(head);
  if (!kind) kind = yaml_kind(head, path);
  if (!kind) return std::nullopt;
  return failure(fmt::format("'{}' is {}", path, kind->name), std::move(kind->hint)).value();
}

bool looks_like_xplane(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kLookedAt);
  if (head.empty() || head[0] != '\n') return false;  // field 1 of XSpace: planes
  size_t at = 1;
  while (at < head.size() && (head[at] & '\x80') != 0) ++at;  // the plane's size
  // A plane begins with its number or its name; the module of an HloProto has its name as field 1.
  if (++at >= head.size() || (head[at] != '\x08' && head[at] != '\x12')) return false;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"/device:TPU", "/host:CPU", "/host:metadata",
                                              "Task Environment"},
      [&](std::string_view plane) { return head.find(plane) != std::string_view::npos; });
}

Diagnostic xplane_as_module(std::string_view name) {
  return failure(fmt::format("'{}' is a profile (XSpace), not a program", shown(name, 200)),
                 fmt::format("hlosim profile {} --module=module.hlo --device=v5e", shown(name, 200)))
      .value();
}

}  // namespace hlosim
