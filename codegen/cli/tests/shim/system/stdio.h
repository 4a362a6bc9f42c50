/* <stdio.h> for a target whose system headers are not here. */
#ifndef SP_TEST_STDIO_H
#define SP_TEST_STDIO_H
#include <stdarg.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct sp_test_file FILE;
extern FILE *stderr;
int fprintf(FILE *file, const char *format, ...);
int vsnprintf(char *text, size_t room, const char *format, va_list values);
#ifdef __cplusplus
}
#endif
#endif
