// Knobs and overrides in protobuf's text format.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "base/pattern.h"
#include "base/text.h"
#include "prefetch/prefetch_knobs.h"
#include "text/read_text_proto.h"

namespace hlosim {
namespace {

class KnobReader {
 public:
  KnobReader(XlaKnobs& knobs, const SourcePtr& source) : knobs_(knobs), source_(source) {}

  Result<void> read() {
    const Result<Value> fields = read_text_proto(source_);
    if (!fields) return tl::unexpected(fields.error());
    for (const Value& field : fields->items)
      if (auto failed = knob(field); !failed) return failed;
    return {};
  }

 private:
  Result<void> error(const Value& field, std::string message, std::string hint = {}) const {
    return tl::unexpected<Diagnostic>(error_at_key(field, std::move(message), std::move(hint)));
  }
  Result<void> unknown(const Value& field, std::span<const std::string_view> names) const {
    return error(field, fmt::format("no field '{}' here", shown(field.key)), did_you_mean(field.key, names));
  }
  Result<void> not_modelled(const Value& field) const {
    return error(field, fmt::format("'{}' is not modelled", shown(field.key)));
  }

  Result<void> knob(const Value& field) {
    if (field.key == "overrides") return an_override(field);
    if (field.key == "preferred_prefetch_overrides" || field.key == "msa_sort_order_overrides") {
      if (!field.is_map()) return error(field, fmt::format("'{}' is a message", field.key));
      for (const Value& inner : field.items) {
        constexpr std::string_view kNames[] = {"overrides"};
        if (inner.key == "fail_on_unsatisfied_override") {
          if (auto failed = must_be_off(inner); !failed) return failed;
        } else if (inner.key != "overrides") {
          return unknown(inner, kNames);
        } else if (auto failed = an_override(inner); !failed) {
          return failed;
        }
      }
      return {};
    }
    if (field.key == "memory_bound_loop_optimizer_options" && field.is_map()) {
      for (const Value& inner : field.items) {
        auto set = set_knob(knobs_, fmt::format("{}.{}", field.key, inner.key), inner.text);
        if (!set) return error(inner, std::move(set.error().message), std::move(set.error().hint));
      }
      return {};
    }
    auto done =
        set_knob(knobs_, field.key, field.is_map() ? std::string_view("{}") : std::string_view(field.text));
    if (!done) return error(field, std::move(done.error().message), std::move(done.error().hint));
    return {};
  }
  Result<void> must_be_off(const Value& field) const {
    bool on = false;
    if (auto failed = flag(field, on); !failed) return failed;
    return on ? not_modelled(field) : Result<void>();
  }

  Result<void> an_override(const Value& field) {
    if (!field.is_map()) return error(field, "'overrides' is a message");
    const Value *filter = nullptr, *matcher = nullptr, *options = nullptr;
    for (const Value& inner : field.items) {
      constexpr std::string_view kNames[] = {"hlo_operand_filter", "hlo_position_matcher",
                                             "override_options"};
      if (inner.key == kNames[0])
        filter = &inner;
      else if (inner.key == kNames[1])
        matcher = &inner;
      else if (inner.key == kNames[2])
        options = &inner;
      else if (inner.key == "fail_on_unsatisfied_override" ||
               inner.key == "apply_to_cross_program_prefetches") {
        if (auto failed = must_be_off(inner); !failed) return failed;
      } else {
        return unknown(inner, kNames);
      }
    }
    if (!options || !options->is_map()) return error(field, "an override needs override_options");
    if (!filter == !matcher)
      return error(field, "an override has either hlo_operand_filter or hlo_position_matcher");
    return filter ? prefetch_override(*filter, *options) : sort_override(*matcher, *options);
  }

  Result<void> prefetch_override(const Value& filter, const Value& options) {
    PreferredPrefetchOverride made;
    if (auto failed = matcher(filter, made.use, nullptr); !failed) return failed;
    int given = 0;
    for (const Value& field : options.items) {
      constexpr std::string_view kNames[] = {"prefetch_eagerness", "after_instruction", "before_instruction",
                                             "logical_time"};
      Result<void> done;
      ++given;
      if (field.key == kNames[0]) {
        double part = 0;
        done = number(field, part);
        if (done && !(part >= 0 && part <= 1)) done = error(field, "the eagerness is from 0 to 1");
        made.prefetch_eagerness = part;
      } else if (field.key == kNames[1]) {
        done = matcher(field, made.after_instruction.emplace(), nullptr);
      } else if (field.key == kNames[2]) {
        done = matcher(field, made.before_instruction.emplace(), nullptr);
      } else if (field.key == kNames[3]) {
        done = number(field, made.logical_time.emplace());
      } else if (field.key == "strict_timing") {
        --given;
        done = must_be_off(field);
      } else {
        return unknown(field, kNames);
      }
      if (!done) return done;
    }
    if (given != 1) return error(options, "override_options of a prefetch has one entry");
    knobs_.preferred_prefetch_overrides.push_back(std::move(made));
    return {};
  }

  Result<void> sort_override(const Value& position, const Value& options) {
    SortOrderOverride made;
    std::optional<InstructionMatcher> use;
    if (auto failed = matcher(position, made.position, &use); !failed) return failed;
    made.position_use = std::move(use);
    for (const Value& field : options.items) {
      constexpr std::string_view kNames[] = {"assign_first", "assign_last", "assign_value"};
      bool on = true;
      Result<void> done;
      if (field.key == kNames[0]) {
        done = flag(field, on);
        made.kind = SortOrderOverride::Kind::kFirst;
      } else if (field.key == kNames[1]) {
        done = flag(field, on);
        made.kind = SortOrderOverride::Kind::kLast;
      } else if (field.key == kNames[2]) {
        done = number(field, made.value);
        made.kind = SortOrderOverride::Kind::kValue;
      } else {
        return unknown(field, kNames);
      }
      if (!done) return done;
      if (!on) return error(field, fmt::format("'{}' can only be true", field.key));
    }
    if (options.items.size() != 1) return error(options, "override_options of a value has one entry");
    knobs_.msa_sort_order_overrides.push_back(std::move(made));
    return {};
  }

  /// HloOperandFilter (without `use`) or HloPositionMatcher.
  Result<void> matcher(const Value& message, InstructionMatcher& out,
                       std::optional<InstructionMatcher>* use) {
    if (!message.is_map()) return error(message, fmt::format("'{}' is a message", message.key));
    for (const Value& field : message.items) {
      constexpr std::string_view kNames[] = {"instruction_name_regex",
                                             "instruction_regex",
                                             "operand_number",
                                             "size_gte",
                                             "size_lte",
                                             "tuple_index",
                                             "hlo_use_filter"};
      Result<void> done;
      if (field.key == kNames[0])
        done = regex(field, out.instruction_name_regex.emplace());
      else if (field.key == kNames[1])
        done = regex(field, out.instruction_regex.emplace());
      else if (field.key == kNames[2])
        done = number(field, out.operand_number.emplace());
      else if (field.key == kNames[3])
        done = number(field, out.size_gte.emplace());
      else if (field.key == kNames[4])
        done = number(field, out.size_lte.emplace());
      else if (field.key == kNames[5])
        done = index(field, out.tuple_index);
      else if (field.key == kNames[6] && use)
        done = matcher(field, use->emplace(), nullptr);
      else if (field.key == "hlo_random_filter")
        done = not_modelled(field);
      else
        done = unknown(field, kNames);
      if (!done) return done;
    }
    return {};
  }

  Result<void> index(const Value& field, std::vector<int64_t>& out) const {
    for (const Value& inner : field.items)
      if (auto failed = number(inner, out.emplace_back()); !failed) return failed;
    return {};
  }
  Result<void> regex(const Value& field, std::string& out) const {
    if (field.annotation != kTextProtoString) return error(field, fmt::format("'{}' is a string", field.key));
    if (const Result<Pattern> pattern = Pattern::parse(field.text); !pattern)
      return error(field, pattern.error().message);
    out = field.text;
    return {};
  }
  /// What is written without quotes.
  static std::string_view word(const Value& field) {
    return field.annotation == kTextProtoString ? std::string_view() : std::string_view(field.text);
  }
  template <class T>
  Result<void> number(const Value& field, T& out) const {
    const std::string_view text = word(field);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (text.empty() || failed != std::errc() || end != text.data() + text.size())
      return error(field, fmt::format("'{}' is a number", shown(field.key)));
    return {};
  }
  Result<void> flag(const Value& field, bool& out) const {
    if (word(field) != "true" && word(field) != "false")
      return error(field, fmt::format("'{}' is true or false", shown(field.key)));
    out = word(field) == "true";
    return {};
  }

  XlaKnobs& knobs_;
  SourcePtr source_;
};

}  // namespace

Result<void> read_knobs(XlaKnobs& knobs, const SourcePtr& source) { return KnobReader(knobs, source).read(); }

}  // namespace hlosim
