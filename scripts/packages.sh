# The Debian 12 packages hlosim is built from; read by scripts/setup.

# Compiler and build tools.
build_tools="cmake ninja-build ccache g++ binutils python3 protobuf-compiler"
# Libraries: cmake/dependencies.cmake looks for each.
libraries="libfmt-dev libexpected-dev libyaml-cpp-dev libre2-dev libboost-graph-dev libtbb-dev libopenmpi-dev libzip-dev zlib1g-dev libzstd-dev libprotobuf-dev libeigen3-dev nlohmann-json3-dev libcli11-dev"
# Intrinsics of x86-64 on other processors (src/base/intrinsics.h).
[ "$(dpkg --print-architecture 2>/dev/null || echo amd64)" = amd64 ] || libraries="$libraries libsimde-dev"
# What tests and benchmarks link and call: of mpirun, YAML files, packed cases, the Debian package; .ci/run clones.
test_libraries="git libgtest-dev libgmock-dev libbenchmark-dev openmpi-bin python3-yaml xz-utils dpkg-dev file"
# The second compiler, for the `clang` and `fuzz` presets, and what formats.
clang="clang-14 libclang-rt-14-dev clang-format-14"
# The package of Python (docs/python.md), and what its tests and examples use.
python="python3-dev pybind11-dev python3-venv python3-pip python3-numpy python3-pandas python3-matplotlib python3-pytest python3-nbconvert python3-ipykernel python3-protobuf"
# Self-contained wheels (scripts/wheel).
wheel="python3-pip patchelf"
# The image in a chroot where there is no container engine (scripts/image).
image="debootstrap"
# The compiler, the emulator and the libraries of arm64 (scripts/arm64).
arm64="g++-aarch64-linux-gnu qemu-user-static mmdebstrap"
arm64_libraries="libc6-dev libstdc++-12-dev libsimde-dev"
# The compiler and the libraries of WebAssembly, and what turns device files into JSON (scripts/wasm).
wasm="clang-16 lld-16 llvm-16 wasi-libc libc++-16-dev-wasm32 libc++abi-16-dev-wasm32 libclang-rt-16-dev-wasm32 libsimde-dev python3-yaml"
# What the test of the report's page drives (it is skipped without).
browser="chromium fonts-dejavu-core"
# The documentation as a site (mkdocs.yml); its test is skipped without.
docs="mkdocs-material"
