// A host that does not state its release, whose SP_Platform has as many bytes as the first argument: the exit
// status is 0 if a plugin with this SP_MIN_RELEASE declines it, and 1 if it does not. C11 and C++17.
#include <stdlib.h>
#include <string.h>

#include "sp_stream_executor.h"

int main(int count, char **words) {
  const size_t size = count > 1 ? (size_t)strtoul(words[1], NULL, 10) : 0;
  char *platform = (char *)calloc(1, size + sizeof size);
  memcpy(platform, &size, sizeof size);
  SP_PlatformFns_newest functions;
  memset(&functions, 0, sizeof functions);
  SE_PlatformRegistrationParams_newest offer;
  memset(&offer, 0, sizeof offer);
  offer.platform = (SP_Platform *)platform;
  offer.platform_fns = sp_lend(SP_PlatformFns, &functions);
  return sp_enter_SE_InitPlugin(sp_lend(SE_PlatformRegistrationParams, &offer), "BY_HAND", "BY_HAND");
}
