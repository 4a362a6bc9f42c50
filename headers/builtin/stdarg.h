/* What drivers' headers take from <stdarg.h>, which the compiler supplies on any system. */
#ifndef SP_GEN_STDARG_H
#define SP_GEN_STDARG_H

typedef __builtin_va_list va_list;
typedef __builtin_va_list __gnuc_va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define va_arg(list, type) __builtin_va_arg(list, type)

#endif
