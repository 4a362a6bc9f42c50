/** The common part of all headers: the identification of the TensorFlow in this process, its functions, and
 * access to its structs. A plugin that uses these headers needs no TensorFlow at link time, and one binary
 * works with every known release. Requires C11 or C++17, and gcc or clang. */
#ifndef SPGEN_COMMON_H_
#define SPGEN_COMMON_H_

#if !defined(__GNUC__)
#error "these headers need gcc or clang"
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
#define SPGEN_STATIC_ASSERT static_assert
#define SPGEN_ALIGNOF alignof
extern "C" {
#else
#define SPGEN_STATIC_ASSERT _Static_assert
#define SPGEN_ALIGNOF _Alignof
#endif

/** TensorFlow's name for a byte that is 0 or 1. */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

/** Marks a symbol that TensorFlow looks up in the plugin. */
#define SPGEN_EXPORT __attribute__((visibility("default")))
