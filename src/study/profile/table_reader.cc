#include "profile/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.h"
#include "base/value.h"
#include "profile/decimal_time.h"
#include "profile/profile_builder.h"
#include "profile/table_columns.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

/// A tree of values takes about thirty times a table's text.
constexpr size_t kMostTableBytes = size_t{256} << 20;

Diagnostic first_error(const DiagnosticList& problems) {
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return problem;
  return failure("unknown error").value();
}

/// Of an object its member under either name.
const Value* member(const Value& object, std::string_view name, std::string_view other) {
  const Value* found = object.is_map() ? object.find(name) : nullptr;
  return found || !object.is_map() ? found : object.find(other);
}

std::string text_of(const Value* value) { return value && value->is_scalar() ? value->text : std::string(); }

// ── tables of rows and columns ──

Result<Profile> read_stats(const Value& table, const std::string& file) {
  const Value *columns = table.find("cols"), *rows = table.find("rows");
  if (!columns || !columns->is_list() || !rows || !rows->is_list())
    return tl::unexpected(error_at(table, "expected a table with \"cols\" and \"rows\""));
  std::vector<std::string> ids, titles;
  for (const Value& column : columns->items) {
    const std::string id = text_of(member(column, "id", "label"));
    ids.push_back(id.empty() ? text_of(member(column, "label", "label")) : id);
  }
  TableColumns what(ids);
  if (!what.missing().empty())
    return tl::unexpected(error_at(*columns, fmt::format("a table without the column {}", what.missing())));
  ProfileBuilder builder(file, what.form());
  for (const Value& row : rows->items) {
    const Value* cells = member(row, "c", "c");
    if (!cells || !cells->is_list()) return tl::unexpected(error_at(row, "expected a row, {\"c\": […]}"));
    std::vector<std::string> texts;
    for (const Value& cell : cells->items)
      texts.push_back(cell.is_map() ? text_of(cell.find("v")) : text_of(&cell));
    if (const std::string wrong = what.add(texts, builder); !wrong.empty())
      return tl::unexpected(error_at(row, wrong));
  }
  if (const Value* properties = table.find("p"); properties && properties->is_map())
    builder.profile().device_type = text_of(properties->find("device_type"));
  return builder.take();
}

/// A list of rows that are objects with the columns' ids, as data frames write them.
Result<Profile> read_records(const Value& rows, const std::string& file) {
  std::vector<std::string> ids;
  std::set<std::string_view> known;
  for (const Value& row : rows.items)
    for (const Value& cell : row.items)
      if (known.insert(cell.key).second) ids.push_back(cell.key);
  TableColumns what(ids);
  if (!what.missing().empty())
    return tl::unexpected(
        error_at(rows.items.front(), fmt::format("a row without the column {}", what.missing())));
  ProfileBuilder builder(file, what.form());
  for (const Value& row : rows.items) {
    if (!row.is_map()) return tl::unexpected(error_at(row, "expected a row, {…}"));
    std::vector<std::string> texts;
    for (const std::string& id : ids) texts.push_back(text_of(row.find(id)));
    if (const std::string wrong = what.add(texts, builder); !wrong.empty())
      return tl::unexpected(error_at(row, wrong));
  }
  return builder.take();
}

// ── op_profile ──

/// Walks the tree; what it finds goes to the program above it.
class OpProfileReader {
 public:
  OpProfileReader(const Value& root, const std::string& file) : root_(root), builder_(file, "op_profile") {}

  Result<Profile> read() {
    builder_.profile().device_type = text_of(member(root_, "deviceType", "device_type"));
    const Value* by_program = member(root_, "byProgramExcludeIdle", "by_program_exclude_idle");
    if (!by_program) by_program = member(root_, "byProgram", "by_program");
    const Value* by_category = member(root_, "byCategoryExcludeIdle", "by_category_exclude_idle");
    if (!by_category) by_category = member(root_, "byCategory", "by_category");
    if (!by_category) by_category = member(root_, "byProvenanceExcludeIdle", "by_provenance_exclude_idle");
    if (!by_category) by_category = member(root_, "byProvenance", "by_provenance");
    // What it isn't grouped by may be there without anything in it.
    if (const Value* programs = by_program ? member(*by_program, "children", "children") : nullptr;
        programs && programs->is_list() && !programs->items.empty())
      for (const Value& program : programs->items)
        visit(program, builder_.program(parse_program_name(text_of(member(program, "name", "name")))));
    else if (by_category)
      visit(*by_category, builder_.program({}));
    else
      return tl::unexpected(error_at(root_, "expected an op_profile with \"byProgram\" or \"byCategory\""));
    if (wrong_) return tl::unexpected(std::move(*wrong_));
    return builder_.take();
  }

 private:
  void visit(const Value& node, uint32_t program) {
    const Value* xla = member(node, "xla", "xla");
    const Value* metrics = member(node, "metrics", "metrics");
    if (xla && xla->is_map() && metrics && metrics->is_map()) add(node, *xla, *metrics, program);
    if (const Value* children = member(node, "children", "children"); children && children->is_list())
      visit_children(node, *children, program);
  }

  void visit_children(const Value& node, const Value& children, uint32_t program) {
    for (const Value& child : children.items) visit(child, program);
    const auto all = whole_number(text_of(member(node, "numChildren", "num_children")));
    if (all && *all > children.items.size() && !member(node, "xla", "xla"))
      builder_.note("an op_profile has the longest operations of each category only");
  }

  static std::optional<uint64_t> whole_number(std::string_view text) {
    uint64_t value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || at != text.data() + text.size()) return std::nullopt;
    return value;
  }

  void add(const Value& node, const Value& xla, const Value& metrics, uint32_t program) {
    ProfiledOperation operation;
    operation.text = text_of(xla.find("expression"));
    operation.name = instruction_name(operation.text);
    if (operation.name.empty()) operation.name = text_of(member(node, "name", "name"));
    if (operation.name.starts_with('%')) operation.name.erase(0, 1);
    operation.category = text_of(xla.find("category"));
    if (operation.name == "IDLE") return;  // what is between operations
    if (text_of(member(node, "name", "name")).ends_with(" and its duplicate(s)")) return;  // their sum
    if (const auto id = whole_number(text_of(member(xla, "programId", "program_id"))); id && *id != 0)
      program = builder_.program({{}, id});
    operation.op_name = text_of(xla.find("provenance"));
    const Value* time = member(metrics, "rawTime", "raw_time");
    // What is 0 may be left out.
    const int64_t ps = time ? picoseconds_of(time->text, 0).value_or(-1) : 0;
    const int64_t occurrences =
        whole_amount(text_of(member(metrics, "occurrences", "occurrences"))).value_or(0);
    if (ps < 0 || operation.name.empty()) return wrong(node);
    if (ps == 0 && occurrences == 0) return;  // parts of fusions have no time of their own
    const int64_t runs = std::max<int64_t>(occurrences, 1);
    if (const auto flops = whole_amount(text_of(member(metrics, "rawFlops", "raw_flops"))))
      operation.flops = operation.model_flops = *flops / runs;
    if (const auto flops = whole_amount(text_of(member(metrics, "bf16Flops", "bf16_flops"))))
      operation.flops = *flops / runs;
    if (const Value* bytes = member(metrics, "rawBytesAccessedArray", "raw_bytes_accessed_array");
        bytes && bytes->is_list() && !bytes->items.empty())
      if (const auto hbm = whole_amount(text_of(bytes->items.data()))) operation.bytes = *hbm / runs;
    const size_t at = builder_.operation(program, operation);
    ProfileBuilder::add_time(builder_.profile().programs[program].operations[at], Picoseconds(-1),
                             Picoseconds(ps), Picoseconds(ps), runs);
  }

  void wrong(const Value& node) {
    if (!wrong_) wrong_ = error_at(node, "expected an operation with a name and \"rawTime\" in picoseconds");
  }

  const Value& root_;
  ProfileBuilder builder_;
  std::optional<Diagnostic> wrong_;
};

// ── CSV ──

/// Fields of RFC 4180, record by record.
class CsvScanner {
 public:
  /// Between fields stands what stands between those of the first line: a comma, semicolon or tab.
  explicit CsvScanner(std::string_view text) : text_(text) {
    const std::string_view first = text.substr(0, text.find('\n'));
    for (const char one : {';', '\t'})
      if (std::count(first.begin(), first.end(), one) > std::count(first.begin(), first.end(), comma_))
        comma_ = one;
  }
  size_t offset() const { return begin_; }
  bool damaged() const { return damaged_; }

  bool next(std::vector<std::string>& fields) {
    fields.clear();
    begin_ = at_;
    if (at_ >= text_.size()) return false;
    do fields.push_back(field());
    while (at_ < text_.size() && text_[at_] == comma_ && ++at_);
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    return !damaged_;
  }

 private:
  std::string field() {
    std::string value;
    if (at_ >= text_.size() || text_[at_] != '"') {
      const char ends[] = {comma_, '\r', '\n', '\0'};
      const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
      value = std::string(text_.substr(at_, end - at_));
      at_ = end;
      return value;
    }
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        value += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        value += text_[++at_];
      } else {
        const bool ends =
            ++at_ >= text_.size() || text_[at_] == comma_ || text_[at_] == '\r' || text_[at_] == '\n';
        damaged_ = damaged_ || !ends;
        return value;
      }
    }
    damaged_ = true;
    return value;
  }

  std::string_view text_;
  char comma_ = ',';
  size_t at_ = 0, begin_ = 0;
  bool damaged_ = false;
};

Result<Profile> read_csv(const SourcePtr& source) {
  CsvScanner scan(source->text());
  const auto wrong = [&](std::string message) {
    return tl::unexpected(error_at(source, static_cast<uint32_t>(scan.offset()), std::move(message)));
  };
  std::vector<std::string> fields;
  if (!scan.next(fields)) return wrong("expected a line of column names");
  TableColumns what(fields);
  if (!what.missing().empty()) return wrong(fmt::format("a table without the column {}", what.missing()));
  const size_t columns = fields.size();
  ProfileBuilder builder(source->name(), what.form());
  while (scan.next(fields)) {
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (fields.size() != columns)
      return wrong(fmt::format("{} fields, expected {} as in the first line", fields.size(), columns));
    if (const std::string message = what.add(fields, builder); !message.empty()) return wrong(message);
  }
  if (scan.damaged()) return wrong("a quote that is not closed, or not followed by a comma");
  return builder.take();
}

bool is_json(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

}  // namespace

bool looks_like_table(std::string_view text) {
  const std::string_view head = text.substr(0, size_t{1} << 16);
  if (is_json(text))
    return head.find("\"cols\"") != std::string_view::npos ||
           head.find("\"byProgram") != std::string_view::npos ||
           head.find("\"byCategory") != std::string_view::npos ||
           head.find("\"byProvenance") != std::string_view::npos ||
           head.find("\"by_program") != std::string_view::npos ||
           head.find("\"by_category") != std::string_view::npos ||
           head.find("\"by_provenance") != std::string_view::npos ||
           head.find("\"hlo_op_") != std::string_view::npos;
  const std::string_view first = head.substr(0, head.find('\n'));
  const auto has = [&](std::string_view word) { return first.find(word) != std::string_view::npos; };
  return has("hlo_op_") || has("HLO op ") || (has("Operation") && has("elf")) ||
         (has("operation") && has("self_time"));
}

Result<Profile> read_table(const SourcePtr& source) {
  if (source->text().size() > kMostTableBytes)
    return failure(
        fmt::format("cannot read '{}': a table of more than {} MiB", source->name(), kMostTableBytes >> 20));
  if (!is_json(source->text())) return read_csv(source);
  DiagnosticList problems;
  const std::optional<Value> root = parse_json(source, problems);
  if (!root) return tl::unexpected(first_error(problems));
  if (root->is_list() && !root->items.empty() && root->items.front().is_map())
    return root->items.front().find("cols") ? read_stats(root->items.front(), source->name())
                                            : read_records(*root, source->name());
  if (root->is_map() && root->find("cols")) return read_stats(*root, source->name());
  if (root->is_map()) return OpProfileReader(*root, source->name()).read();
  return tl::unexpected(error_at(*root, "expected XProf's hlo_stats or op_profile"));
}

}  // namespace hlosim
