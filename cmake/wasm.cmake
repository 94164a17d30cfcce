# Toolchain: WebAssembly with WASI, by Debian's clang 16 (scripts/setup wasm). Its standard library has no threads and no
# files; cmake/wasm_include completes the headers that hlosim includes all the same.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-16)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-16)
set(CMAKE_RANLIB llvm-ranlib-16)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# clang would look into /usr/include next, which has the headers of this machine.
set(CMAKE_CXX_FLAGS_INIT "-nostdlibinc -isystem ${CMAKE_CURRENT_LIST_DIR}/wasm_include \
  -isystem /usr/include/wasm32-wasi/c++/v1 -isystem /usr/include/wasm32-wasi -fno-exceptions")
# 8 MiB of stack, as on Linux, below the data: what overruns it stops the program. Memory grows to 4 GiB.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-z,stack-size=8388608 -Wl,--stack-first -Wl,--max-memory=4294967296 -Wl,--strip-all")
