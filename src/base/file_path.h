// Names of files, whichever way they are written.
//
//   without_detours("ci/./a/../m.hlo")             "ci/m.hlo"
//   without_links("link.json")                     "/home/me/real.json"
#pragma once

#include <filesystem>

namespace hlosim {

/// The folder above `name`, seen from `folder`. Above what a link leads to is another one than above the
/// link.
std::filesystem::path above(const std::filesystem::path& folder, const std::filesystem::path& name);

/// Without ".", and without ".." behind a folder; behind a link it stays, for it leads to somewhere else.
std::filesystem::path without_detours(const std::filesystem::path& path);

/// Absolute and without links as far as there are files, whoever names the file in which way. What a link to
/// nothing points to counts as well.
std::filesystem::path without_links(const std::filesystem::path& path);

}  // namespace hlosim
