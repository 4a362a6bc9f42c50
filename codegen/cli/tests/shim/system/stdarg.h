/* <stdarg.h> for a target whose system headers are not here. */
#ifndef SP_TEST_STDARG_H
#define SP_TEST_STDARG_H
typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#endif
