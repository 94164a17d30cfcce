// Named values of a kernel as its caller writes them: arrays, options and block sizes.
//
//   SettingReader read(settings, known_names, "argument");
//   const ShapeRef q = read.array("q", 4, "bf16[2,8192,16,128]");
//   if (read.error()) …                            // of the first value that is wrong
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/source.h"
#include "layout/shape.h"
#include "layout/shape_text.h"
#include "ops/work.h"

namespace hlosim {

struct KernelSetting {
  std::string name, value;
};

/// Collects values until the first that is wrong.
class SettingReader {
 public:
  /// `settings` outlive the reader. `what` names one in messages.
  SettingReader(std::span<const KernelSetting> settings, std::span<const std::string_view> known,
                std::string_view what);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// From 1 on; without `otherwise` it is needed.
  int64_t whole(std::string_view name, std::optional<int64_t> otherwise = {});
  /// Whether there is a number above 0.
  bool number(std::string_view name);
  bool flag(std::string_view name, bool otherwise);
  MatmulPrecision precision();
  ElementType type(std::string_view name, ElementType otherwise);
  /// The index of the word; `words.front()` if there is none.
  size_t word(std::string_view name, std::span<const std::string_view> words);
  /// Null: there is an error, or none was given.
  ShapeRef array(std::string_view name, int64_t rank, std::string_view example, bool is_needed = true);
  void fail(std::string message, std::string hint = {});
  const std::optional<Diagnostic>& error() const { return error_; }

 private:
  const std::string* find(std::string_view name) const;

  std::span<const KernelSetting> settings_;
  ShapePool pool_;
  std::optional<Diagnostic> error_;
};

}  // namespace hlosim
