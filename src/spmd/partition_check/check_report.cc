#include "partition_check/check_report.h"

#include <fmt/format.h>

namespace hlosim {

std::string check_text(const PartitionCheck& check) {
  std::string text;
  for (size_t i = 0; i < check.outputs.size(); ++i) {
    const CheckedOutput& output = check.outputs[i];
    const Comparison& found = output.comparison;
    text += fmt::format("output {}  {}  ", i, output.shape);
    if (found.different == 0)
      text += "same on all devices\n";
    else
      text += fmt::format("{}: device {}, {} of {} elements differ, largest error {:.3g}, {} outside\n",
                          found.within() ? "agrees" : "DIFFERS", output.device, found.different, found.count,
                          found.max_abs, found.outside);
  }
  return text;
}

Json check_json(const PartitionCheck& check) {
  Json row = {{"agrees", check.agrees()}, {"outputs", Json::array()}};
  for (const CheckedOutput& output : check.outputs) {
    const Comparison& found = output.comparison;
    row["outputs"].push_back({{"shape", output.shape},
                              {"agrees", found.within()},
                              {"device", output.device},
                              {"compared", found.count},
                              {"different", found.different},
                              {"outside", found.outside},
                              {"max_abs", found.max_abs}});
  }
  return row;
}

}  // namespace hlosim
