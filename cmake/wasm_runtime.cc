// What Debian's runtime of WebAssembly lacks: throwing ends the program, the only thread's objects end with it, and the
// compiler's own functions, compiled with stack protection, have what they refer to.
#include <cstdint>
#include <cstdlib>
#include <exception>

namespace boost {
struct source_location;

void throw_exception(const std::exception&, const source_location&) { std::abort(); }

}  // namespace boost

extern "C" {

int __cxa_atexit(void (*function)(void*), void* object, void* library);
int __cxa_thread_atexit(void (*function)(void*), void* object, void* library) {
  return __cxa_atexit(function, object, library);
}

uintptr_t __stack_chk_guard = 0x595e9fbd;
[[noreturn]] void __stack_chk_fail() { std::abort(); }
}
