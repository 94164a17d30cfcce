#include "report/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hlosim {
namespace {

// Components that name a transformation or a region of control flow, and no part of the program.
constexpr std::string_view kWrappers[] = {"jit",  "pjit", "jvp",        "transpose",  "vmap",
                                          "pmap", "xmap", "custom_jvp", "custom_vjp", "shard_map"};
constexpr std::string_view kDropped[] = {"main",
                                         "while",
                                         "body",
                                         "cond",
                                         "closed_call",
                                         "core_call",
                                         "checkpoint",
                                         "remat",
                                         "remat2",
                                         "rematted_computation",
                                         "custom_jvp_call",
                                         "custom_vjp_call",
                                         "custom_vjp_call_jaxpr",
                                         "body_pred",
                                         "scan",
                                         "pallas_call"};

/// Components between slashes outside of parentheses.
std::vector<std::string_view> components(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == '/' && depth == 0)) {
      if (i > begin) parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && depth > 0) {
      --depth;
    }
  }
  return parts;
}

std::string without_digits(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

class Reader {
 public:
  /// Adds the parts of the program that `text` names.
  void add(std::string_view text) {
    for (const std::string_view part : components(text)) add_component(part);
  }

  Phase phase() const {
    if (recomputes_) return Phase::kRecomputed;
    return transposes_ ? Phase::kBackward : differentiates_ ? Phase::kForward : Phase::kOther;
  }
  std::vector<std::string> parts;

 private:
  void add_component(std::string_view part) {
    const size_t open = part.find('(');
    if (open != std::string_view::npos && part.back() == ')') {
      const std::string_view wrapper = part.substr(0, open),
                             inner = part.substr(open + 1, part.size() - open - 2);
      transposes_ = transposes_ || wrapper == "transpose";
      differentiates_ = differentiates_ || wrapper == "jvp";
      if (wrapper == "jit" || wrapper == "pjit") return;  // the name of a function that was jitted
      if (std::find(std::begin(kWrappers), std::end(kWrappers), wrapper) != std::end(kWrappers))
        return add(inner);
    }
    recomputes_ = recomputes_ || part == "rematted_computation";
    if (std::find(std::begin(kDropped), std::end(kDropped), part) == std::end(kDropped))
      parts.push_back(without_digits(part));
  }

  bool transposes_ = false, differentiates_ = false, recomputes_ = false;
};

std::string name_of(const Scope& scope) {
  const std::string_view phase = to_text(scope.phase);
  const std::string& path = scope.path.empty() ? scope.primitive : scope.path;
  if (phase.empty()) return path;
  return path.empty() ? std::string(phase) : fmt::format("{} {}", phase, path);
}

}  // namespace

std::string_view to_text(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kRecomputed:
      return "recomputed";
    case Phase::kOther:
      return "";
  }
  return "";
}

Scope scope_of(std::string_view op_name) {
  Reader reader;
  reader.add(op_name);
  Scope scope;
  scope.phase = reader.phase();
  if (reader.parts.empty()) return scope;
  scope.primitive = reader.parts.back();
  reader.parts.pop_back();
  scope.path = fmt::format("{}", fmt::join(reader.parts, "/"));
  return scope;
}

std::vector<ScopeTime> times_by_scope(const Report& report) {
  std::map<std::string, ScopeTime> scopes;
  bool has_names = false;
  for (const ReportInstruction& row : report.instructions) {
    if (row->self_time.count() == 0) continue;
    const std::string name = row.op_name.empty() ? "no op_name" : name_of(scope_of(row.op_name));
    has_names = has_names || !row.op_name.empty();
    ScopeTime& scope = scopes[name];
    scope.name = name;
    scope.time += row->self_time;
    scope.bound[index_of(row->bound_by)] += row->self_time - row->exposed;
    scope.bound[index_of(Unit::kWait)] += row->exposed;
  }
  std::vector<ScopeTime> sorted;
  if (has_names)
    for (auto& [name, scope] : scopes) sorted.push_back(std::move(scope));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ScopeTime& a, const ScopeTime& b) { return a.time > b.time; });
  return sorted;
}

std::string place_of(const ReportInstruction& row, size_t width) {
  std::string file;
  if (!row.source_file.empty()) {
    const size_t slash = row.source_file.rfind('/');
    file = row.source_file.substr(slash == std::string_view::npos ? 0 : slash + 1);
    if (row.source_line > 0) file += fmt::format(":{}", row.source_line);
  }
  const Scope scope = scope_of(row.op_name);
  const std::string phase(to_text(scope.phase));
  const size_t slash = scope.path.rfind('/');
  const std::string last = scope.path.substr(slash == std::string::npos ? 0 : slash + 1);
  const std::string whole = last.empty() ? scope.primitive : fmt::format("{}/{}", last, scope.primitive);
  const auto joined = [&](std::initializer_list<std::string_view> words) {
    std::string text;
    for (const std::string_view word : words)
      if (!word.empty()) (text += text.empty() ? "" : " ") += word;
    return text;
  };
  std::string place = joined({file, phase, whole});
  // Of what is too long, the source line is the last to go.
  if (place.size() > width) place = joined({file, phase, scope.primitive});
  if (place.size() > width && !file.empty()) place = joined({file, phase});
  if (place.size() > width && !file.empty()) place = file;
  return place;
}

}  // namespace hlosim
