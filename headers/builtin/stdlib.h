/* What TensorFlow's headers take from <stdlib.h>: the allocator. */
#ifndef SP_GEN_STDLIB_H
#define SP_GEN_STDLIB_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
void abort(void);
#ifdef __cplusplus
}
#endif

#endif
