#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "report/html/html_data.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

/// A list per memory space: [{"space":"hbm","read_bytes":1}, …].
bool is_by_space(const Json& value) {
  const std::span<const Json> elements = value.elements();
  return value.is_array() && std::all_of(elements.begin(), elements.end(), [](const Json& element) {
           const Json* space = element.find("space");
           return space && space->is_text();
         });
}

struct Columns {
  std::vector<std::string> keys;  // in order of first appearance
  std::unordered_map<std::string, std::vector<Json>> cells;

  void set(const std::string& key, size_t row, const Json& value, const Json& absent) {
    const auto [found, is_new] = cells.try_emplace(key);
    if (is_new) keys.push_back(key);
    found->second.resize(row, absent);
    found->second.push_back(value);
  }
};

std::string table_of(std::span<const Json> rows) {
  Columns columns;
  for (size_t row = 0; row < rows.size(); ++row)
    for (const auto& [key, value] : rows[row].members()) {
      if (!is_by_space(value)) {
        columns.set(key, row, value, nullptr);
        continue;
      }
      for (const Json& element : value.elements())
        for (const auto& [part, amount] : element.members())
          if (part != "space")
            columns.set(key + "/" + element.find("space")->text() + "/" + part, row, amount, 0);
    }
  ColumnWriter writer(rows.size());
  for (const std::string& key : columns.keys) {
    std::vector<Json>& cells = columns.cells[key];
    cells.resize(rows.size(), key.find('/') == std::string::npos ? Json(nullptr) : Json(0));
    const auto all = [&](auto is) { return std::all_of(cells.begin(), cells.end(), is); };
    if (all([](const Json& cell) { return cell.is_whole_number(); })) {
      std::vector<int64_t> numbers;
      for (const Json& cell : cells) numbers.push_back(cell.whole_number());
      writer.whole_numbers(key, numbers);
    } else if (all([](const Json& cell) { return cell.is_text() || cell.is_null(); })) {
      std::vector<std::string_view> texts;
      for (const Json& cell : cells) texts.push_back(cell.is_null() ? std::string_view() : cell.text());
      writer.texts(key, texts);
    } else {
      std::vector<std::string> values;
      for (const Json& cell : cells) values.push_back(cell.dump());
      writer.values(key, values);
    }
  }
  return writer.take();
}

}  // namespace

ColumnWriter::ColumnWriter(size_t rows)
    : rows_(rows), out_("{\"rows\":" + std::to_string(rows) + ",\"columns\":{") {}

void ColumnWriter::open(std::string_view key) {
  if (out_.back() != '{') out_ += ',';
  (out_ += json_text(key)) += ':';
}

void ColumnWriter::whole_numbers(std::string_view key, std::span<const int64_t> values) {
  HLOSIM_CHECK(values.size() == rows_);
  open(key);
  if (!values.empty() &&
      std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; })) {
    out_ += "{\"c\":" + std::to_string(values[0]) + "}";
    return;
  }
  // Sums of differences have to be exact where numbers are doubles.
  constexpr int64_t kExact = int64_t{1} << 53;
  const bool differences =
      std::all_of(values.begin(), values.end(), [](int64_t v) { return v > -kExact / 2 && v < kExact / 2; });
  out_ += differences ? "{\"d\":[" : "{\"n\":[";
  int64_t before = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out_ += ',';
    fmt::format_to(std::back_inserter(out_), "{}", values[i] - before);
    if (differences) before = values[i];
  }
  out_ += "]}";
}

void ColumnWriter::texts(std::string_view key, std::span<const std::string_view> values) {
  HLOSIM_CHECK(values.size() == rows_);
  std::unordered_map<std::string_view, int64_t> known;
  std::string numbers, texts;
  for (const std::string_view value : values) {
    int64_t number = -1;
    if (value.data() != nullptr) {
      const auto [found, is_new] = known.try_emplace(value, static_cast<int64_t>(known.size()));
      if (is_new) (texts += texts.empty() ? "" : ",") += json_text(value);
      number = found->second;
    }
    if (!numbers.empty()) numbers += ',';
    fmt::format_to(std::back_inserter(numbers), "{}", number);
  }
  open(key);
  ((((out_ += "{\"s\":[") += texts) += "],\"i\":[") += numbers) += "]}";
}

void ColumnWriter::values(std::string_view key, std::span<const std::string> json) {
  HLOSIM_CHECK(json.size() == rows_);
  open(key);
  if (!json.empty() &&
      std::all_of(json.begin(), json.end(), [&](const std::string& v) { return v == json[0]; })) {
    out_ += "{\"c\":" + json[0] + "}";
    return;
  }
  out_ += "{\"n\":[";
  for (size_t i = 0; i < json.size(); ++i) (out_ += i > 0 ? "," : "") += json[i];
  out_ += "]}";
}

std::string ColumnWriter::take() { return std::move(out_ += "}}"); }

std::string columns_of(std::string_view report_json, std::string_view page) {
  const std::optional<Json> report = Json::parse(report_json);
  HLOSIM_CHECK(report && report->is_object());
  std::string out = "{";
  for (const auto& [key, value] : report->members()) {
    if (out.size() > 1) out += ',';
    (out += json_text(key)) += ':';
    const std::span<const Json> rows = value.elements();
    const bool is_table = value.is_array() && std::all_of(rows.begin(), rows.end(),
                                                          [](const Json& row) { return row.is_object(); });
    out += is_table && key != "findings" ? table_of(rows) : value.dump();
  }
  if (!page.empty()) (out += ",\"page\":") += page;
  return out + "}";
}

std::string title_of(std::string_view report_json) {
  const std::optional<Json> report = Json::parse(report_json);
  const auto name = [&](std::string_view part) {
    const Json* found = report ? report->find(part) : nullptr;
    const Json* text = found ? found->find("name") : nullptr;
    return text && text->is_text() ? text->text() : std::string("unknown");
  };
  return name("module") + " on " + name("device");
}

}  // namespace hlosim
