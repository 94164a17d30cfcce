// From the bytes of a file to the page of its report, without files and options: what runs in a browser
// (scripts/wasm).
//
//   const PageOfBytes made = page_of_bytes(source, {.device = "v6e-8"});
//   made.page                                      // as `hlosim report --format=html` writes it
//   made.findings                                  // errors, where there is none
#pragma once

#include <string>

#include "base/source.h"

namespace hlosim {

struct PageRequest {
  std::string device;     // a built-in one, or an accelerator type: "v6e", "v5p-128"
  std::string xla_flags;  // as in XLA_FLAGS; may be empty
};

struct PageOfBytes {
  std::string page;  // empty where `findings` has errors
  DiagnosticList findings;
};

/// Simulates all modules of `source`, HLO text or a StableHLO program in text or bytecode, on a device, as
/// `hlosim report` does by default.
PageOfBytes page_of_bytes(const SourcePtr& source, const PageRequest& request);

/// JSON: the built-in devices, without the one of tests, as [{"name": "v4", "title": "TPU v4"}, …].
std::string devices_json();

}  // namespace hlosim
