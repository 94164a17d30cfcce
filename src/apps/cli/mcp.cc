#include "cli/mcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <ostream>
#include <system_error>
#include <vector>

#include "base/source.h"
#include "text/json.h"

namespace hlosim {
namespace {

constexpr std::string_view kProtocol = "2025-06-18";
constexpr int kNoJson = -32700, kNoRequest = -32600, kNoMethod = -32601, kWrongParameters = -32602;
constexpr size_t kLongestLine = 64 << 20;  // bytes of one request

enum class ArgumentKind {
  kFile,    // a file or folder below the root: a positional argument
  kOption,  // the value of an option of the command
  kDevice,  // a built-in device or slice, or a device file below the root
  kWord,    // a positional argument
  kFormat,  // text or json
};

struct ToolArgument {
  std::string_view name, description;
  ArgumentKind kind;
  bool is_required = false;
};

struct Tool {
  std::string_view name, description;
  std::span<const ToolArgument> arguments;  // in the order of the command line
};

constexpr ToolArgument kDeviceArgument = {
    "device", "Device or slice, as v5e, v6e-8, v5p-128; or a device file", ArgumentKind::kDevice, true};
constexpr ToolArgument kTopology = {"topology", "Slice of chips, as 2x4", ArgumentKind::kOption};
constexpr ToolArgument kMesh = {"mesh", "Named axes of devices, as fsdp=4,tensor=2", ArgumentKind::kOption};
constexpr ToolArgument kFlags = {"xla_flags", "Flags of the TPU compiler, as --xla_name=value",
                                 ArgumentKind::kOption};
constexpr ToolArgument kFormat = {"format", "text (default) or json", ArgumentKind::kFormat};

constexpr ToolArgument kReportArguments[] = {
    {"file", "HLO, StableHLO, a proto, or a folder of dumps", ArgumentKind::kFile, true},
    kDeviceArgument,
    kTopology,
    kMesh,
    kFlags,
    {"module", "Regular expression for names of modules in a folder", ArgumentKind::kOption},
    kFormat};
constexpr ToolArgument kExplainArguments[] = {
    {"file", "The module", ArgumentKind::kFile, true},
    {"instruction", "Name of the instruction", ArgumentKind::kWord, true},
    kDeviceArgument,
    kTopology,
    kFlags,
    kFormat};
constexpr ToolArgument kDiffArguments[] = {{"old", "The module before", ArgumentKind::kFile, true},
                                           {"new", "The module after", ArgumentKind::kFile, true},
                                           kDeviceArgument,
                                           kTopology,
                                           kFlags,
                                           kFormat};
constexpr ToolArgument kCheckArguments[] = {{"file", "The module", ArgumentKind::kFile, true}};

constexpr Tool kTools[] = {
    {"report", "Step time, bottleneck, memory and communication of a module on a TPU, simulated.",
     kReportArguments},
    {"explain", "The equation behind the time of one instruction, with the source of every number.",
     kExplainArguments},
    {"diff", "What changed between two modules, and what each change costs or saves.", kDiffArguments},
    {"check", "Verifies a module: every error with file, line, column and a hint.", kCheckArguments},
};

/// A request that can't be carried out, by JSON-RPC's numbers.
struct Fault {
  int code;
  std::string message;
};

template <class T>
using Answered = tl::expected<T, Fault>;

tl::unexpected<Fault> wrong(std::string message) {
  return tl::unexpected(Fault{kWrongParameters, std::move(message)});
}

Json schema_of(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    Json property = {{"type", "string"}, {"description", argument.description}};
    if (argument.kind == ArgumentKind::kFormat) property["enum"] = Json::array({"text", "json"});
    properties[argument.name] = std::move(property);
    if (argument.is_required) required.push_back(argument.name);
  }
  Json schema = {{"type", "object"}};
  schema["properties"] = std::move(properties);
  schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json tool_list() {
  Json tools = Json::array();
  for (const Tool& tool : kTools) {
    Json row = {{"name", tool.name}, {"description", tool.description}};
    row["inputSchema"] = schema_of(tool);
    tools.push_back(std::move(row));
  }
  Json result = Json::object();
  result["tools"] = std::move(tools);
  return result;
}

class McpServer {
 public:
  McpServer(const std::filesystem::path& root, std::string_view version, const RunCommandLine& run)
      : root_(std::filesystem::weakly_canonical(root)), version_(version), run_(run) {}

  /// The answer to one line; nothing for a notification.
  std::optional<Json> answer(const std::string& line) const {
    const std::optional<Json> request = Json::parse(line);
    if (!request) return error(nullptr, {kNoJson, "the line is not JSON"});
    const Json* method = request->find("method");
    const Json* id = request->find("id");
    if (!method || !method->is_text()) return error(id, {kNoRequest, "expected an object with a method"});
    if (!id) return std::nullopt;
    const Json* given = request->find("params");
    Answered<Json> result = call(method->text(), given ? *given : Json::object());
    if (!result) return error(id, result.error());
    Json reply = {{"jsonrpc", "2.0"}};
    reply["id"] = *id;
    reply["result"] = std::move(*result);
    return reply;
  }

 private:
  static Json error(const Json* id, const Fault& fault) {
    Json reply = {{"jsonrpc", "2.0"}};
    reply["id"] = id ? *id : Json();
    reply["error"] = {{"code", fault.code}, {"message", fault.message}};
    return reply;
  }

  Answered<Json> call(const std::string& method, const Json& parameters) const {
    if (method == "initialize") return initialized(parameters);
    if (method == "ping") return Json::object();
    if (method == "tools/list") return tool_list();
    if (method == "tools/call") return called(parameters);
    return tl::unexpected(Fault{kNoMethod, fmt::format("no method '{}'", method)});
  }

  Json initialized(const Json& parameters) const {
    const Json* asked = parameters.find("protocolVersion");
    Json result = Json::object();
    result["protocolVersion"] = asked && asked->is_text() ? asked->text() : std::string(kProtocol);
    result["capabilities"]["tools"] = Json::object();
    result["serverInfo"] = {{"name", "hlosim"}, {"version", version_}};
    return result;
  }

  Answered<Json> called(const Json& parameters) const {
    const Json* name = parameters.find("name");
    if (!name || !name->is_text()) return wrong("expected the name of a tool");
    const auto tool = std::find_if(std::begin(kTools), std::end(kTools),
                                   [&](const Tool& one) { return one.name == name->text(); });
    if (tool == std::end(kTools)) return wrong(fmt::format("no tool '{}'", name->text()));
    const Json* given = parameters.find("arguments");
    const Answered<std::vector<std::string>> line = command_line(*tool, given ? *given : Json::object());
    if (!line) return tl::unexpected(line.error());
    std::string out, err;
    const int code = run_(*line, out, err);
    Json content = Json::array();
    content.push_back({{"type", "text"}, {"text", code > 1 ? err : out + err}});
    Json result = Json::object();
    result["content"] = std::move(content);
    result["isError"] = code > 1;
    return result;
  }

  Answered<std::vector<std::string>> command_line(const Tool& tool, const Json& given) const {
    if (!given.is_object()) return wrong("arguments: expected an object");
    for (const Json::Member& member : given.members())
      if (std::none_of(tool.arguments.begin(), tool.arguments.end(),
                       [&](const ToolArgument& one) { return one.name == member.first; }))
        return wrong(fmt::format("arguments: {} has no '{}'", tool.name, member.first));
    std::vector<std::string> line = {std::string(tool.name)}, names;
    for (const ToolArgument& argument : tool.arguments) {
      const Json* value = given.find(argument.name);
      if (!value && argument.is_required)
        return wrong(fmt::format("arguments: {} needs '{}'", tool.name, argument.name));
      if (!value) continue;
      if (!value->is_text()) return wrong(fmt::format("arguments: '{}' is not a string", argument.name));
      const Answered<std::string> text = checked(argument, value->text());
      if (!text) return tl::unexpected(text.error());
      if (argument.kind == ArgumentKind::kFile || argument.kind == ArgumentKind::kWord)
        names.push_back(*text);
      else
        line.push_back(fmt::format("--{}={}", argument.name, *text));
    }
    line.push_back("--");
    line.insert(line.end(), names.begin(), names.end());
    return line;
  }

  /// The value as the command takes it.
  Answered<std::string> checked(const ToolArgument& argument, const std::string& text) const {
    switch (argument.kind) {
      case ArgumentKind::kFile:
        return below_root(argument.name, text);
      case ArgumentKind::kDevice: {
        const bool is_path = text.find('/') != std::string::npos || text.ends_with(".yaml");
        std::error_code ignored;
        return is_path || std::filesystem::exists(root_ / text, ignored) ? below_root(argument.name, text)
                                                                         : text;
      }
      case ArgumentKind::kFormat:
        if (text != "text" && text != "json")
          return wrong(fmt::format("arguments: '{}' is text or json, not '{}'", argument.name, text));
        return text;
      case ArgumentKind::kOption:
        // `--xla-flags=@FILE` reads a file.
        if (text.find('@') != std::string::npos)
          return wrong(fmt::format("arguments: '{}' may not name files", argument.name));
        return text;
      case ArgumentKind::kWord:
        return text;
    }
    return text;
  }

  Answered<std::string> below_root(std::string_view name, const std::string& text) const {
    std::error_code failed;
    const std::filesystem::path path = std::filesystem::weakly_canonical(root_ / text, failed);
    const auto [end, ignored] = std::mismatch(root_.begin(), root_.end(), path.begin(), path.end());
    if (failed || text.empty() || text == "-" || end != root_.end())
      return wrong(
          fmt::format("arguments: '{}' names '{}', which is not inside {}", name, text, root_.string()));
    return path.string();
  }

  std::filesystem::path root_;
  std::string_view version_;
  const RunCommandLine& run_;
};

/// A line of at most `kLongestLine` bytes; false at the end of the input. A longer line is cut, so that it is
/// no JSON.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  char c;
  bool is_there = false;
  while (in.get(c)) {
    is_there = true;
    if (c == '\n') return true;
    if (line.size() < kLongestLine) line += c;
  }
  return is_there;
}

}  // namespace

void serve_mcp(std::istream& in, std::ostream& out, const std::filesystem::path& root,
               std::string_view version, const RunCommandLine& run) {
  const McpServer server(root, version, run);
  std::string line;
  while (next_line(in, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::optional<Json> reply = server.answer(line);
    if (reply) out << reply->dump() << "\n" << std::flush;
  }
}

}  // namespace hlosim
