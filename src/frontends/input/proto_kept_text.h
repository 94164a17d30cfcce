// Attributes that a module keeps as they were written (shardings, metadata and the like), as messages of HLO
// protos.
//
//   pb::OpSharding proto;
//   if (!KeptText("{devices=[2,1]0,1}").sharding(proto)) …  // kept as text
#pragma once

#include <string_view>

#include "hlo/cursor.h"

namespace hlosim {

namespace pb {
class FrontendAttributes;
class OpMetadata;
class OpSharding;
class ResultAccuracy;
}  // namespace pb

/// Reads one text, once. False when it is none of what is asked for.
class KeptText {
 public:
  explicit KeptText(std::string_view text) : in_(text, 0, text.size()) {}
  bool sharding(pb::OpSharding& proto);
  bool metadata(pb::OpMetadata& proto);
  bool frontend(pb::FrontendAttributes& proto);
  bool accuracy(pb::ResultAccuracy& proto);

 private:
  bool single_sharding(pb::OpSharding& proto);
  bool tiles(pb::OpSharding& proto);

  Cursor in_;
};

}  // namespace hlosim
