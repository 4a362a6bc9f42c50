/* What TensorFlow's headers take from <string.h>: bytes and lengths. */
#ifndef SP_GEN_STRING_H
#define SP_GEN_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *left, const void *right, size_t size);
size_t strlen(const char *text);
int strcmp(const char *left, const char *right);
#ifdef __cplusplus
}
#endif

#endif
