// The forms in which a file can hold a module, each told by its content whatever the file is called.
//
//   for (const InputForm& form : input_forms())
//     if (form.holds(bytes)) bytes = *form.unfold(bytes, name);  // a packed proto is unpacked first
//   take_form_ending(file)    // of "m.hlo.pb.gz": which of several files of one module is read
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim {

struct InputForm {
  /// Null: HLO text, as it stands.
  bool (*holds)(std::string_view bytes);
  /// What lies inside: HLO text, or a form further down. Errors name `name`.
  Result<std::string> (*unfold)(std::string_view bytes, const std::string& name);
  /// Of the files of a dump folder that hold modules in this form, without .gz and .zst; may be empty.
  std::array<std::string_view, 2> endings;
};

/// From the outermost to HLO text.
std::span<const InputForm> input_forms();

/// Takes the ending off a file's name; higher numbers are read in preference: text before protos, plain
/// before packed. 0: it ends otherwise.
int take_form_ending(std::string_view& file);

}  // namespace hlosim
