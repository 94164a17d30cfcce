# Everything comes from Debian 12; nothing is downloaded.
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
