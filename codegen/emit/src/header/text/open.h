/** What every header of the shim stands on: which TensorFlow this is, its functions, and access to its
 * structs. A plugin that goes through it needs no TensorFlow at link time, and one file of it serves
 * every release that is known here. C11 or C++17, gcc or clang. */
#ifndef SP_SHIM_H_
#define SP_SHIM_H_

#if !defined(__GNUC__)
#error "the shim needs gcc or clang"
#endif

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define SP_ASSERT static_assert
#define SP_ALIGN alignof
extern "C" {
#else
#define SP_ASSERT _Static_assert
#define SP_ALIGN _Alignof
#endif

/** What TensorFlow's headers call a byte that is 0 or 1. */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

/** On what TensorFlow looks up in the plugin. */
#define SP_ENTRY __attribute__((visibility("default")))
