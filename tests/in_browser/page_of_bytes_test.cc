// The page in a browser is the one that `hlosim report` writes.
#include "in_browser/page_of_bytes.h"

#include <gmock/gmock.h>

#include "base/source.h"
#include "embed/call.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CallResult reported(const SourcePtr& source, const PageRequest& request) {
  Exchange exchange;
  exchange.inputs.push_back({std::string(source->name()), source, {}});
  Stop stop;
  std::vector<std::string> line = {"report", std::string(source->name()), "--device=" + request.device,
                                   "--format=html"};
  if (!request.xla_flags.empty()) line.push_back("--xla-flags=" + request.xla_flags);
  return call(line, exchange, stop);
}

std::string texts_of(std::span<const Diagnostic> findings) {
  std::string out;
  for (const Diagnostic& finding : findings) out += render(finding);
  return out;
}

SourcePtr source(const std::string& text) { return std::make_shared<const SourceFile>("m.hlo", text); }

constexpr const char* kProduct =
    "HloModule m\nENTRY e {\n  a = bf16[512,512] parameter(0)\n"
    "  ROOT x = bf16[512,512] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

TEST(PageOfBytes, IsThePageOfTheCommand) {
  constexpr const char* kDevices[] = {"v4", "v6e-8", "v5p"};
  size_t at = 0, pages = 0;
  for (const std::filesystem::path& file : test::own_modules()) {
    SCOPED_TRACE(file.string());
    const Result<SourcePtr> source = read_source(file.string());
    ASSERT_TRUE(source);
    const PageRequest request{kDevices[at++ % std::size(kDevices)], ""};
    const PageOfBytes made = page_of_bytes(*source, request);
    const CallResult expected = reported(*source, request);
    EXPECT_EQ(made.findings.has_errors(), expected.failed());
    EXPECT_TRUE(made.page == expected.out);
    EXPECT_EQ(texts_of(made.findings.items()), texts_of(expected.findings));
    pages += !made.page.empty();
  }
  EXPECT_GT(pages, 15u);
}

TEST(PageOfBytes, TakesFlagsOfTheCompiler) {
  const PageRequest request{
      "v6e", "--xla_tpu_scoped_vmem_limit_kib=98304 --xla_tpu_enable_latency_hiding_scheduler=true"};
  const PageOfBytes made = page_of_bytes(source(kProduct), request);
  EXPECT_FALSE(made.page.empty());
  EXPECT_TRUE(made.page == reported(source(kProduct), request).out);
}

TEST(PageOfBytes, ErrorsHaveTheirPlaces) {
  const PageOfBytes made =
      page_of_bytes(source("HloModule m\nENTRY e {\n  ROOT x = f32[] nothing()\n}\n"), {"v4", ""});
  EXPECT_EQ(made.page, "");
  EXPECT_THAT(texts_of(made.findings.items()), StartsWith("m.hlo:3:"));
  EXPECT_THAT(texts_of(page_of_bytes(source(kProduct), {"v4", "--what is"}).findings.items()),
              StartsWith("XLA flags:1:"));
  EXPECT_THAT(texts_of(page_of_bytes(source(kProduct), {"H100", ""}).findings.items()),
              HasSubstr("models TPUs only"));
  EXPECT_EQ(page_of_bytes(source(kProduct), {"v5p-7", ""}).page, "");
}

TEST(PageOfBytes, DevicesAreTheBuiltInOnes) {
  EXPECT_THAT(devices_json(), HasSubstr(R"({"name": "v5e", "title": "TPU v5e"})"));
  EXPECT_THAT(devices_json(), ::testing::Not(HasSubstr("\"tpu\"")));
  EXPECT_THAT(devices_json(), ::testing::Not(HasSubstr("\"unit\"")));
}

}  // namespace
}  // namespace hlosim
