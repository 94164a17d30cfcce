// What readers of config.json share: the object's fields, the model that is filled, and keys that several
// families have.
//
//   HfReader reader(root, text, "llama", problems);
//   reader.sizes({});                               // layers, widths, heads, vocabulary
//   reader.biases();                                // what the family adds
//   ImportedModel imported = reader.finish();       // keys that nothing read are its notes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "text/entry_fields.h"
#include "workloads/hf_config.h"
#include "workloads/model_config.h"

namespace hlosim {

/// Sizes of files that leave them out. 0: vocab_size is needed; head_dim is d_model / q_heads.
struct HfSizes {
  int64_t vocab = 0, head_dim = 0;
};

class HfReader {
 public:
  /// `text`: the object with the sizes of the language model, `whole` itself or its text_config. All outlive
  /// the reader, which adds what is wrong to `list`.
  HfReader(const Value& whole, const Value& text, std::string_view type, DiagnosticList& list);

  void sizes(const HfSizes& usual);
  /// The model, and the keys that nothing read as notes.
  ImportedModel finish();

  // ── keys of several families ──

  void biases();
  void window_of_all();
  /// layer_types, or the family's pattern.
  void windows(std::string_view usual);
  std::string pattern_of(const Value& types);
  /// A letter a layer: L with a window, G without.
  std::string letters_of(const Value& types);
  static std::string shortest_period(const std::string& letters);
  MoeConfig experts(std::string_view count, std::string_view top_k, std::string_view width);
  void refuse_above_zero(std::string_view key, int64_t usual, std::string_view what);

  // ── messages ──

  void note(const Value& value, std::string_view what);
  void wrong(std::string_view key, std::string message, std::string hint = {});
  void wrong(const Value& value, std::string_view key, const std::string& message);

  EntryFields root, fields;  // of the whole file, and of the language model
  DiagnosticList& problems;
  ModelConfig model;
  std::vector<Diagnostic> notes;
  bool says_tied = false;  // the file has tie_word_embeddings

 private:
  void activation();
  void positions();
  void list_rest(EntryFields& of);

  bool has_parts_;
};

}  // namespace hlosim
