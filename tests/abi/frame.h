// What every pair begins with. A pair shows only what it is about.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define D_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))

extern "C" {
