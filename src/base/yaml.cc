#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "base/value.h"

namespace hlosim {
namespace {

// Aliases of aliases grow exponentially. Anchors count as well: each keeps a copy of what it marks.
constexpr size_t kMostValues = 100'000;
constexpr size_t kMostCopiedText = size_t{16} << 20;

/// What a copy of a value takes.
struct Weight {
  size_t values = 0, text = 0;

  Weight& operator+=(const Weight& other) {
    values += other.values;
    text += other.text;
    return *this;
  }
};

/// Builds the tree from yaml-cpp's events. Ignores everything after the first problem that makes
/// the rest meaningless.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourcePtr& source, uint32_t start, DiagnosticList& problems)
      : source_(source), start_(start), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    put(make(Value::Kind::kNull, mark), {1, 0}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      report(mark, "this alias is inside the value that it names");
      put(make(Value::Kind::kNull, mark), {1, 0}, 0);
      return;
    }
    count_copy(mark, found->second.weight);
    put(found->second.value, found->second.weight, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = make(Value::Kind::kScalar, mark);
    value.text = text;
    put(std::move(value), {1, text.size()}, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(Value::Kind::kList, mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(Value::Kind::kMap, mark), anchor);
  }
  void OnMapEnd() override { close(); }

  Value take() { return std::move(root_); }

 private:
  struct Level {
    Value value;
    Weight weight{1, 0};
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    uint32_t key_offset = 0;
    std::unordered_map<std::string, uint32_t> keys;  // of a map, so far, with their places
  };
  struct Anchored {
    Value value;
    Weight weight;
  };

  uint32_t offset_of(const YAML::Mark& mark) const {
    return start_ + static_cast<uint32_t>(std::max(mark.pos, 0));
  }
  Value make(Value::Kind kind, const YAML::Mark& mark) {
    Value value;
    value.kind = kind;
    value.source = source_;
    value.offset = offset_of(mark);
    count(mark, 1);
    return value;
  }
  void count(const YAML::Mark& mark, size_t values) {
    count_ += values;
    if (count_ > kMostValues)
      throw YAML::Exception(mark, fmt::format("more than {} values, aliases expanded", kMostValues));
  }
  /// Before anything is copied.
  void count_copy(const YAML::Mark& mark, const Weight& weight) {
    count(mark, weight.values);
    copied_text_ += weight.text;
    if (copied_text_ > kMostCopiedText)
      throw YAML::Exception(mark,
                            fmt::format("more than {} MiB of text, aliases expanded", kMostCopiedText >> 20));
  }
  void report(const YAML::Mark& mark, std::string message) {
    problems_.add(error_at(source_, offset_of(mark), std::move(message)));
  }
  void report_twice(const Level& level, uint32_t first) {
    // Lines are counted from the top: only for errors that the list keeps.
    problems_.add(error_at(
        source_, level.key_offset, fmt::format("key \"{}\" is given twice", shown(level.key)),
        problems_.full() ? std::string() : fmt::format("first on line {}", source_->locate(first).line)));
  }
  void open(Value value, YAML::anchor_t anchor) {
    levels_.emplace_back();
    levels_.back().value = std::move(value);
    levels_.back().anchor = anchor;
  }
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    put(std::move(level.value), level.weight, level.anchor);
  }
  void keep(YAML::anchor_t anchor, const Value& value, const Weight& weight) {
    YAML::Mark mark;
    mark.pos = static_cast<int>(value.offset - start_);
    count_copy(mark, weight);
    anchors_[anchor] = {value, weight};
  }
  /// A finished value: the root, an item of a list, a key of a map or the value of that key.
  void put(Value value, const Weight& weight, YAML::anchor_t anchor) {
    if (anchor != 0) keep(anchor, value, weight);
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    level.weight += weight;
    if (level.value.is_list()) {
      level.value.items.push_back(std::move(value));
    } else if (!level.has_key) {
      if (!value.is_scalar()) problems_.add(error_at(value, "expected a key, found " + described(value)));
      level.has_key = true;
      level.key = value.is_scalar() ? std::move(value.text) : std::string();
      level.key_offset = value.offset;
    } else {
      level.has_key = false;
      if (level.key.empty()) return;
      const auto [first, is_new] = level.keys.emplace(level.key, level.key_offset);
      if (!is_new) return report_twice(level, first->second);
      value.key = std::move(level.key);
      value.key_offset = level.key_offset;
      if (value.is_null()) value.offset = value.key_offset;
      level.value.items.push_back(std::move(value));
    }
  }

  const SourcePtr& source_;
  uint32_t start_;
  DiagnosticList& problems_;
  std::vector<Level> levels_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  size_t count_ = 0, copied_text_ = 0;
  Value root_;
};

/// yaml-cpp takes some control characters for the end of the input and other encodings for UTF-8.
bool check_characters(const SourcePtr& source, DiagnosticList& problems) {
  const std::string_view text = source->text();
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
    if (!control && !(c >= 0xf8)) continue;
    problems.add(error_at(source, static_cast<uint32_t>(i),
                          fmt::format("byte 0x{:02x} has no place in a YAML text", c)));
    return false;
  }
  return true;
}

}  // namespace

std::optional<Value> parse_yaml(const SourcePtr& source, DiagnosticList& problems) {
  const size_t errors_before = problems.error_count();
  if (!check_characters(source, problems)) return std::nullopt;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const bool marked = source->text().starts_with(kByteOrderMark);
  const uint32_t start = marked ? static_cast<uint32_t>(kByteOrderMark.size()) : 0;
  TreeBuilder builder(source, start, problems);
  Value root;
  root.source = source;
  try {
    std::istringstream stream{std::string(source->text().substr(start))};
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(builder)) {
      root = builder.take();
      TreeBuilder second(source, start, problems);
      if (parser.HandleNextDocument(second)) {
        const Value extra = second.take();
        if (!extra.is_null()) problems.add(error_at(extra, "a second document; expected only one"));
      }
    }
  } catch (const YAML::DeepRecursion&) {
    problems.add(error_at(source, 0, "YAML: nested too deeply"));
  } catch (const YAML::Exception& error) {
    const uint32_t at = error.mark.is_null() ? 0 : static_cast<uint32_t>(std::max(error.mark.pos, 0));
    const bool anchor = error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR;
    const bool tab = source->line_at(start + at).starts_with('\t');
    problems.add(error_at(source, start + at, "YAML: " + error.msg,
                          tab      ? "YAML indents by blanks; this line starts with a tab"
                          : anchor ? "*name is an alias of &name; text that begins with * needs quotes"
                                   : ""));
  } catch (const std::exception& error) {
    problems.add(error_at(source, 0, std::string("YAML: ") + error.what()));
  }
  if (problems.error_count() > errors_before) return std::nullopt;
  return root;
}

}  // namespace hlosim
