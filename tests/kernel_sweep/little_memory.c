// Makes allocations of one library fail: preloaded by `little_memory.py`, which states the library's addresses.
//
// glibc's own functions are called by their other names, since `dlsym` allocates memory.
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

// Memory of devices has a larger alignment: TensorFlow waits for more of it if there is none.
enum { LARGEST_ALIGNMENT = 256 };

static uintptr_t first, last;
static atomic_size_t least = SIZE_MAX;
static atomic_size_t failed;

// Lets allocations of `bytes` or more by code from `start` to `end` fail, from now on.
void little_memory_begin(uintptr_t start, uintptr_t end, size_t bytes) {
    first = start;
    last = end;
    failed = 0;
    least = bytes;
}

// Returns the number of allocations that have failed since `little_memory_begin`; no others fail.
size_t little_memory_end(void) {
    least = SIZE_MAX;
    return failed;
}

static int fails(size_t bytes, void *caller) {
    if (bytes < least || (uintptr_t)caller < first || (uintptr_t)caller >= last) return 0;
    failed++;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return fails(size, __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX - 1;
    return fails(bytes, __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return fails(size, __builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment <= LARGEST_ALIGNMENT && fails(size, __builtin_return_address(0))) return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
