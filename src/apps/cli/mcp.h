// A server of the Model Context Protocol over standard input and output: reports for agents and editors.
//
//   {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
//    "params": {"name": "report", "arguments": {"file": "step.hlo", "device": "v6e-8"}}}
//
// One JSON object per line in both directions. Sources: the specification of 2025-06-18, sections Base
// Protocol, Transports
// (stdio) and Server Features (Tools).
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace hlosim {

/// Runs one command line as the program does, with no standard input. Returns the exit code; appends standard
/// output and standard error.
using RunCommandLine =
    std::function<int(std::span<const std::string> line, std::string& out, std::string& err)>;

/// Serves until `in` ends. Tools read files inside `root` only; paths that leave it, through `..` or links,
/// are refused.
/// Malformed requests are answered with JSON-RPC errors: -32700 no JSON, -32600 no request, -32601 no such
/// method, -32602 wrong
/// parameters. A command that fails is a result with `isError`, whose text is the command's messages.
void serve_mcp(std::istream& in, std::ostream& out, const std::filesystem::path& root,
               std::string_view version, const RunCommandLine& run);

}  // namespace hlosim
