// Values that come from the host or go there, and those that a device sends to itself.
#include <gmock/gmock.h>

#include "support/execution.h"

namespace hlosim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A host that counts what it gives, and keeps what it gets.
class Host : public HostTransfers {
 public:
  Result<Array> infeed(ShapeRef leaf, MemoryPool& pool) override { return next(leaf, pool); }
  Result<void> outfeed(const Array& leaf) override { return keep("out", leaf); }
  Result<Array> receive(int64_t channel, ShapeRef leaf, MemoryPool& pool) override {
    if (channel == 99) return failure("channel 99 is closed");
    return next(leaf, pool);
  }
  Result<void> send(int64_t channel, const Array& leaf) override {
    if (channel == 99) return failure("channel 99 is closed");
    return keep(std::to_string(channel), leaf);
  }
  std::vector<std::string> kept;

 private:
  Result<Array> next(ShapeRef leaf, MemoryPool& pool) {
    Array array = make_array(pool, leaf);
    for (int64_t i = 0; i < array.count(); ++i) array.as<int32_t>()[i] = ++given_;
    return array;
  }
  Result<void> keep(const std::string& where, const Array& leaf) {
    kept.push_back(where + ": " + Execution::text_of(leaf));
    return {};
  }
  int32_t given_ = 0;
};

std::string host_module(std::string_view body) {
  return "HloModule m\nENTRY e {\n" + std::string(body) + "\n}\n";
}

constexpr std::string_view kFeeds = R"(
    t = token[] after-all()
    i = ((s32[2], s32[]), token[]) infeed(t)
    u = token[] get-tuple-element(i), index=1
    d = (s32[2], s32[]) get-tuple-element(i), index=0
    o = token[] outfeed(d, u), outfeed_shape=(s32[2], s32[])
    j = (s32[], token[]) infeed(o)
    ROOT x = s32[] get-tuple-element(j), index=0)";

TEST(HostTransfers, FeedsGoLeafByLeafInOrder) {
  Host host;
  Execution execution(host_module(kFeeds));
  execution.device.host = &host;
  EXPECT_THAT(execution.texts(), ElementsAre("4"));
  EXPECT_THAT(host.kept, ElementsAre("out: {1, 2}", "out: 3"));
}

constexpr std::string_view kChannels = R"(
    t = token[] after-all()
    x = s32[2] constant({7, 8})
    s = (s32[2], u32[], token[]) send(x, t), channel_id=5, is_host_transfer=true
    u = token[] send-done(s), channel_id=5, is_host_transfer=true
    r = (s32[3], u32[], token[]) recv(u), channel_id=CHANNEL, is_host_transfer=true
    d = (s32[3], token[]) recv-done(r), channel_id=CHANNEL, is_host_transfer=true
    ROOT y = s32[3] get-tuple-element(d), index=0)";

std::string channels(std::string_view channel) {
  std::string text(kChannels);
  for (size_t at; (at = text.find("CHANNEL")) != std::string::npos;) text.replace(at, 7, channel);
  return host_module(text);
}

TEST(HostTransfers, SendAndRecvGoByTheirChannel) {
  Host host;
  Execution execution(channels("6"));
  execution.device.host = &host;
  EXPECT_THAT(execution.texts(), ElementsAre("{1, 2, 3}"));
  EXPECT_THAT(host.kept, ElementsAre("5: {7, 8}"));
}

TEST(HostTransfers, WhatTheHostRefusesEndsTheRun) {
  Host host;
  Execution execution(channels("99"));
  execution.device.host = &host;
  EXPECT_THAT(execution.texts(), ElementsAre(HasSubstr("recv: channel 99 is closed")));
}

TEST(HostTransfers, WithoutAHostThereIsAnError) {
  for (const std::string& text : {host_module(kFeeds), channels("6"), host_module(R"(
         t = token[] after-all()
         x = s32[] constant(1)
         ROOT o = token[] outfeed(x, t))"),
                                  host_module(R"(
         t = token[] after-all()
         r = (s32[], u32[], token[]) recv(t), channel_id=1, is_host_transfer=true
         ROOT d = (s32[], token[]) recv-done(r), channel_id=1, is_host_transfer=true)")})
    EXPECT_THAT(executed(text), ElementsAre(HasSubstr("the device has no host to transfer values with")));
}

constexpr std::string_view kToSelf = R"(
    t = token[] after-all()
    x = s32[2] constant({7, 8})
    r = (s32[2], u32[], token[]) recv(t), channel_id=1PAIRS
    s = (s32[2], u32[], token[]) send(x, t), channel_id=1PAIRS
    d = (s32[2], token[]) recv-done(r), channel_id=1
    e = token[] send-done(s), channel_id=1
    ROOT y = s32[2] get-tuple-element(d), index=0)";

std::string to_self(std::string_view pairs) {
  std::string text(kToSelf);
  const std::string attribute =
      pairs.empty()
          ? ""
          : ", frontend_attributes={_xla_send_recv_source_target_pairs=\"" + std::string(pairs) + "\"}";
  for (size_t at; (at = text.find("PAIRS")) != std::string::npos;) text.replace(at, 5, attribute);
  return host_module(text);
}

TEST(DeviceTransfers, ADeviceMaySendToItself) {
  EXPECT_THAT(executed(to_self("{{0,0}}")), ElementsAre("{7, 8}"));
  EXPECT_THAT(executed(to_self("")), ElementsAre("{7, 8}"));
}

TEST(DeviceTransfers, WhereNobodySendsZerosArrive) {
  EXPECT_THAT(executed(to_self("{}")), ElementsAre("{0, 0}"));
}

TEST(DeviceTransfers, OtherDevicesAreRefused) {
  EXPECT_THAT(executed(to_self("{{0,1},{1,2}}")),
              testing::Each(HasSubstr("the module needs 3 devices, but is run on one")));
  EXPECT_THAT(executed(host_module(R"(
    t = token[] after-all()
    x = s32[2] constant({7, 8})
    s = (s32[2], u32[], token[]) send(x, t), channel_id=4
    ROOT e = token[] send-done(s), channel_id=4)")),
              ElementsAre(HasSubstr("the module has no recv on channel 4, which leads to another device")));
}

TEST(DeviceTransfers, NothingCanBeReceivedBeforeItIsSent) {
  EXPECT_THAT(executed(host_module(R"(
    t = token[] after-all()
    r = (s32[2], u32[], token[]) recv(t), channel_id=1
    d = (s32[2], token[]) recv-done(r), channel_id=1
    y = s32[2] get-tuple-element(d), index=0
    s = (s32[2], u32[], token[]) send(y, t), channel_id=1
    ROOT e = token[] send-done(s), channel_id=1)")),
              ElementsAre(HasSubstr("nothing has been sent on channel 1 so far")));
}

}  // namespace
}  // namespace hlosim::test
