// The settings of MaxText as values, from a command line or a YAML file.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "text/read_json.h"
#include "workloads/maxtext_config.h"

namespace hlosim {
namespace {

/// A word of a shell's line, without its quotes.
struct LineWord {
  std::string text;
  uint32_t offset = 0;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The words of one line from `at` on; a backslash before a line's end continues it.
class LineReader {
 public:
  LineReader(const SourcePtr& source, size_t at) : source_(source), text_(source->text()), at_(at) {}

  /// Leaves at() behind the line's end.
  Result<std::vector<LineWord>> line() {
    std::vector<LineWord> words;
    while (skip_blanks()) {
      Result<LineWord> word = next();
      if (!word) return tl::unexpected(word.error());
      words.push_back(std::move(*word));
    }
    if (at_ < text_.size()) ++at_;  // '\n', ';' or a comment's line
    return words;
  }
  size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }

 private:
  size_t continuation() const {
    if (text_[at_] != '\\') return 0;
    if (text_.substr(at_).starts_with("\\\n")) return 2;
    return text_.substr(at_).starts_with("\\\r\n") ? 3 : 0;
  }

  /// False at the line's end.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_]))
        ++at_;
      else if (const size_t length = continuation(); length > 0)
        at_ += length;
      else if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return text_[at_] != '\n' && text_[at_] != ';';
    }
    return false;
  }

  Result<LineWord> next() {
    LineWord word{"", static_cast<uint32_t>(at_)};
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n' && text_[at_] != ';') {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        const size_t end = text_.find(c, at_ + 1);
        if (end == std::string_view::npos)
          return tl::unexpected(error_at(source_, static_cast<uint32_t>(at_), "a quote without its end"));
        word.text += text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
      } else if (continuation() > 0) {
        break;
      } else {
        word.text += c;
        ++at_;
      }
    }
    return word;
  }

  const SourcePtr& source_;
  std::string_view text_;
  size_t at_;
};

/// "MaxText/train.py", "train_compile.py", "MaxText.train", "maxtext.trainers.pre_train.train" (or .$NAME)
bool is_trainer(std::string_view word) {
  word.remove_prefix(std::min(word.find_last_of('/') + 1, word.size()));
  if (word.ends_with(".py")) return word.starts_with("train");
  const bool is_maxtext = word.find("axtext") != word.npos || word.find("axText") != word.npos;
  if (!is_maxtext || word.find('=') != word.npos) return false;
  const std::string_view last = word.substr(word.find_last_of('.') + 1);
  return last.starts_with("train") || (last.starts_with('$') && last.size() < word.size());
}

/// 1_000, -1, 3.e-5
bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return text.size() > 1 && text[0] == '.' && text[1] <= '9';
  return text.find_first_not_of("0123456789_.eE+-") == std::string_view::npos;
}

/// What JSON would have it as, from what YAML or a shell leave as text.
void set_kind(Value& value, std::string text) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  value.kind = Value::Kind::kScalar;
  if (text.empty() || lower == "none" || lower == "null") {
    value.kind = Value::Kind::kNull;
  } else if (lower == "true" || lower == "false") {
    value.annotation = kJsonBoolean, text = lower;
  } else if (is_number(text)) {
    value.annotation = kJsonNumber;
    std::erase(text, '_');
  } else {
    value.annotation = kJsonString;
  }
  value.text = std::move(text);
}

/// ['silu', 'linear']: quotes may be gone.
void read_list(Value& value, std::string_view text) {
  value.kind = Value::Kind::kList;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, end);
    while (!part.empty() && (is_blank(part.front()) || part.front() == '\'' || part.front() == '"'))
      part.remove_prefix(1);
    while (!part.empty() && (is_blank(part.back()) || part.back() == '\'' || part.back() == '"'))
      part.remove_suffix(1);
    Value item;
    item.source = value.source, item.offset = value.offset;
    set_kind(item, std::string(part));
    value.items.push_back(std::move(item));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// LIBTPU_INIT_ARGS and XLA_FLAGS as a script's words set them, one after the other: $NAME in a value is its
/// value before, += adds to it.
std::vector<LineWord> compiler_flags_of(const std::vector<LineWord>& words) {
  std::vector<LineWord> found;
  for (const LineWord& word : words)
    for (const std::string_view name : {"LIBTPU_INIT_ARGS", "XLA_FLAGS"}) {
      const bool adds = word.text.starts_with(fmt::format("{}+=", name));
      if (!adds && !word.text.starts_with(fmt::format("{}=", name))) continue;
      std::string text = word.text.substr(name.size() + (adds ? 2 : 1));
      const auto before = std::ranges::find_if(
          found, [&](const LineWord& one) { return one.text.starts_with(fmt::format("{}=", name)); });
      const std::string old = before == found.end() ? "" : before->text.substr(name.size() + 1);
      if (adds && !old.empty()) text = old + " " + text;
      for (const std::string& reference : {fmt::format("${{{}}}", name), fmt::format("${}", name)})
        if (const size_t at = text.find(reference); at != std::string::npos)
          text.replace(at, reference.size(), old);
      if (before == found.end())
        found.push_back({fmt::format("{}={}", name, text), word.offset});
      else
        *before = {fmt::format("{}={}", name, text), word.offset};
    }
  return found;
}

Result<std::vector<Value>> settings_of(const std::vector<LineWord>& words, const SourcePtr& source) {
  std::vector<Value> settings;
  for (const LineWord& word : words) {
    const size_t equals = word.text.find('=');
    if (equals == std::string::npos) continue;  // the program's words and base.yml
    Value value;
    value.source = source, value.offset = word.offset + static_cast<uint32_t>(equals) + 1;
    value.key = word.text.substr(0, equals), value.key_offset = word.offset;
    while (value.key.starts_with('-')) value.key.erase(0, 1);
    const std::string text = word.text.substr(equals + 1);
    const bool has_variable = text.find('$') != std::string::npos;
    if (has_variable && is_without_effect_in_maxtext(value.key)) continue;
    if (has_variable)
      return tl::unexpected(error_at(
          value, fmt::format("{}: '{}' is a shell variable", value.key, shown(text)), "its value is needed"));
    if (text.size() > 1 && text.front() == '[' && text.back() == ']')
      read_list(value, text);
    else
      set_kind(value, text);
    settings.push_back(std::move(value));
  }
  return settings;
}

void set_kinds(Value& value) {
  for (Value& item : value.items) set_kinds(item);
  if (value.is_scalar()) set_kind(value, value.text);
}

}  // namespace

Result<std::vector<Value>> read_maxtext_line(const SourcePtr& source) {
  LineReader reader(source, 0);
  std::vector<LineWord> all;
  while (!reader.at_end()) {
    Result<std::vector<LineWord>> words = reader.line();
    if (!words) return tl::unexpected(words.error());
    const auto trainer =
        std::ranges::find_if(*words, [](const LineWord& word) { return is_trainer(word.text); });
    if (trainer != words->end()) {
      all.insert(all.end(), words->begin(), trainer);
      std::vector<LineWord> settings = compiler_flags_of(all);
      settings.insert(settings.end(), trainer, words->end());
      return settings_of(settings, source);
    }
    all.insert(all.end(), words->begin(), words->end());
  }
  Result<std::vector<Value>> settings = settings_of(all, source);
  if (settings && settings->empty())
    return tl::unexpected(error_at(source, 0, "no KEY=VALUE of MaxText", "as in model_name=llama2-7b"));
  return settings;
}

Result<std::vector<Value>> read_maxtext_yaml(const SourcePtr& source) {
  DiagnosticList problems;
  std::optional<Value> root = parse_yaml(source, problems);
  if (!root) return tl::unexpected(problems.items().front());
  if (!root->is_map()) return tl::unexpected(error_at(*root, "a configuration of MaxText is a map"));
  set_kinds(*root);
  return std::move(root->items);
}

bool is_maxtext_yaml(const SourcePtr& source) {
  constexpr std::array<std::string_view, 5> kKeys = {"base_config", "model_name", "per_device_batch_size",
                                                     "base_emb_dim", "ici_fsdp_parallelism"};
  DiagnosticList problems;
  const std::optional<Value> root = parse_yaml(source, problems);
  return root && root->is_map() &&
         std::ranges::any_of(kKeys, [&](std::string_view key) { return root->find(key) != nullptr; });
}

bool is_maxtext_line(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    if (is_trainer(text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace hlosim
