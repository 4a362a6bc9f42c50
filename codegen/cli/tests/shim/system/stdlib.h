/* <stdlib.h> for a target whose system headers are not here: sp-gen's own, and two functions more. */
#ifndef SP_TEST_STDLIB_H
#define SP_TEST_STDLIB_H
#include_next <stdlib.h>
#ifdef __cplusplus
extern "C" {
#endif
char *getenv(const char *name);
unsigned long strtoul(const char *text, char **end, int base);
#ifdef __cplusplus
}
#endif
#endif
