#include "estimate/named_slice.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/device_text_form.h"

namespace hlosim {

Result<SliceRequest> on_named_slice(SliceRequest request, std::string_view name, const Device& device) {
  const std::string& topology = device.topology;
  if (topology.empty()) return request;
  const Result<SliceRequest> named = parse_topology(topology);
  if (!named) return tl::unexpected(named.error());
  if (!request.topology) {
    request.topology = named->topology;
    request.form = named->form;
    return request;
  }
  if (request.topology->chips() == named->topology->chips()) return request;
  return failure(
      fmt::format("topology {} has {} chips, {} has {} ({})", TextForm<Topology>::write(*request.topology),
                  request.topology->chips(), shown(name), named->topology->chips(), topology),
      "leave one of the two out, or let both have as many");
}

}  // namespace hlosim
