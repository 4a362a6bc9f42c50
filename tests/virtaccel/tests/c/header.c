/* Uses the header alone, as C or C++. */
#include "virtaccel.h"

#include <stdio.h>

int main(void) {
  puts(va_driver_version(NULL) == VA_ERROR_INVALID_VALUE ? "ok" : "wrong status");
  return 0;
}
