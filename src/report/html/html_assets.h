// The page's own text: src/report/html/, put together by cmake/embed_page.cmake.
//
//   const HtmlAssets assets = html_assets();
//   page.replace(at, mark.size(), assets.script);
#pragma once

#include <string>

namespace hlosim {

struct HtmlAssets {
  std::string frame;                        // page.html
  std::string style;                        // style.css
  std::string script;                       // *.js, in the order of their names, in a function of their own
  std::string style_sha256, script_sha256;  // of these, in hexadecimal digits
};
HtmlAssets html_assets();

}  // namespace hlosim
