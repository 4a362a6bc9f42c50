// A host that does not state its release. The first argument is the size of its SP_Platform. The exit status is 0
// if a plugin with this SPGEN_MIN_RELEASE declines the host, and 1 if it accepts it. C11 and C++17.
#include <stdlib.h>
#include <string.h>

#include "spgen_stream_executor.h"

int main(int count, char **arguments) {
  const size_t size = count > 1 ? (size_t)strtoul(arguments[1], NULL, 10) : 0;
  char *platform = (char *)calloc(1, size + sizeof size);
  memcpy(platform, &size, sizeof size);
  SP_PlatformFns_newest functions;
  memset(&functions, 0, sizeof functions);
  SE_PlatformRegistrationParams_newest params;
  memset(&params, 0, sizeof params);
  params.platform = (SP_Platform *)platform;
  params.platform_fns = spgen_as_host_struct(SP_PlatformFns, &functions);
  return spgen_accept_SE_InitPlugin(spgen_as_host_struct(SE_PlatformRegistrationParams, &params), "BY_HAND", "BY_HAND");
}
