// A host by hand, whose SP_Platform has as many bytes as the first argument says: what the shim reads of
// it, writes into it, and finds in a process without TensorFlow. C11 and C++17.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sp_grappler.h"
#include "sp_kernels_experimental.h"
#include "sp_stream_executor.h"

enum { POISON = 0xA5 };

static void expect(int is, const char *what) {
  if (is) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}
#define EXPECT(what) expect(what, #what)

// All zero, as TensorFlow makes it, and poison behind.
static void *host_memory(size_t size) {
  char *memory = (char *)malloc(size + 64);
  memset(memory, POISON, size + 64);
  memset(memory, 0, size);
  memcpy(memory, &size, size < sizeof size ? 0 : sizeof size);
  if (size == 0) memset(memory, 0, sizeof size);
  return memory;
}

static int is_whole(const void *memory, size_t size) {
  const unsigned char *bytes = (const unsigned char *)memory;
  for (size_t i = size < 8 ? 8 : size; i < size + 64; ++i) {
    if (bytes[i] != POISON) return 0;
  }
  return 1;
}

static void no_devices_here(const SP_Platform *platform, int32_t *count, TF_Status *status) { *count = 7; }
static void end_platform(SP_Platform *platform) {}
static void end_platform_fns(SP_PlatformFns *functions) {}

static void registers(size_t size) {
  SE_PlatformRegistrationParams_newest offer;
  memset(&offer, 0, sizeof offer);
  SP_Platform *platform = (SP_Platform *)host_memory(size);
  SP_PlatformFns *functions = (SP_PlatformFns *)host_memory(sizeof(SP_PlatformFns_newest));
  offer.platform = platform;
  offer.platform_fns = functions;
  SE_PlatformRegistrationParams *params = sp_lend(SE_PlatformRegistrationParams, &offer);
  const int is_known = size == 34 || size == 35;
  EXPECT(sp_enter_SE_InitPlugin(params, "BY_HAND", "BY_HAND") == is_known);
  if (is_known) {
    SP_Platform_newest mine;
    memset(&mine, 0, sizeof mine);
    mine.name = mine.type = "BY_HAND";
    mine.use_bfc_allocator = mine.force_memory_growth = 1;
    EXPECT(sp_fill(SP_Platform, platform, &mine, NULL));
    EXPECT(sp_set(SP_PlatformFns, get_device_count, functions, no_devices_here));
    EXPECT(sp_set(SE_PlatformRegistrationParams, destroy_platform, params, end_platform));
    EXPECT(sp_set(SE_PlatformRegistrationParams, destroy_platform_fns, params, end_platform_fns));
    EXPECT(sp_get(SP_Platform, use_bfc_allocator, platform) == 1);
    EXPECT(sp_has(SP_Platform, force_memory_growth, platform) == (size == 35));
    EXPECT(sp_get(SP_Platform, force_memory_growth, platform) == (size == 35));
    EXPECT(sp_set(SP_Platform, force_memory_growth, platform, 0) == (size == 35));
    EXPECT(strcmp(sp_get(SP_Platform, name, platform), "BY_HAND") == 0);
  } else {
    EXPECT(!sp_has(SP_Platform, name, platform) && sp_get(SP_Platform, name, platform) == NULL);
    EXPECT(!sp_set(SP_Platform, name, platform, "OTHER") && !sp_known(SP_Platform, platform, NULL));
  }
  int32_t count = -1;
  sp_get(SP_PlatformFns, get_device_count, functions)(platform, &count, NULL);
  EXPECT(count == (is_known ? 7 : 0));
  EXPECT(offer.destroy_platform != NULL && offer.destroy_platform_fns != NULL);
  EXPECT(sp_size(platform) == size && is_whole(platform, size));
  EXPECT(is_whole(functions, sizeof(SP_PlatformFns_newest)));
}

static void free_nothing(const SP_Device *device, SP_DeviceMemoryBase *memory) {}
static TF_Bool call_back(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn callback, void *argument) {
  return 1;
}

// The table that 2.7 moved slots in. A slot is the plugin's own function, with nothing around it.
static void moves(void) {
  SP_StreamExecutor_newest mine;
  memset(&mine, 0, sizeof mine);
  mine.deallocate = free_nothing;
  mine.host_callback = call_back;
  const size_t sizes[] = {264, 288, 272};
  for (size_t i = 0; i < 3; ++i) {
    SP_StreamExecutor *table = (SP_StreamExecutor *)host_memory(sizes[i]);
    EXPECT(sp_fill(SP_StreamExecutor, table, &mine, NULL) == (i < 2));
    EXPECT(sp_has(SP_StreamExecutor, host_callback, table) == (i < 2));
    EXPECT(sp_has(SP_StreamExecutor, mem_zero, table) == (i == 1));
    if (i < 2) {
      void *last = NULL, *expected = NULL;
      memcpy(&last, (char *)table + sizes[i] - sizeof last, sizeof last);
      memcpy(&expected, &mine.host_callback, sizeof expected);
      EXPECT(last == expected);
      EXPECT(sp_get(SP_StreamExecutor, deallocate, table) == free_nothing);
    }
    EXPECT(sp_size(table) == sizes[i] && is_whole(table, sizes[i]));
    free(table);
  }
}

// A process without TensorFlow, which therefore says nothing of its release.
static void lacks(void) {
  EXPECT(sp_find(TF_NewStatus) == NULL && sp_find(TF_AssignVariable) == NULL);
  EXPECT(strstr(sp_why(TF_AssignVariable), "not exported by this process") != NULL);
  EXPECT(strstr(sp_why(TF_AssignVariable), "tensorflow-cpu 2.6 to 2.18") != NULL);
  EXPECT(strstr(sp_why(TF_GetGrapplerItem), "Use the item that optimize_func is handed instead") != NULL);
  const sp_releases all = {SP_FIRST_RELEASE, 0}, old = {205, 205}, before = {201, 204};
  EXPECT(sp_is(all) == 1 && sp_is(before) == 0 && sp_running()->said == 0);
  EXPECT(sp_is(old) == (sp_running()->releases.first > 205 ? 0 : -1));
  EXPECT(sp_parse_release("2.12.0-rc1") == 212 && sp_parse_release("2.5") == 205);
  EXPECT(sp_parse_release("unknown") == 0 && sp_parse_release("2.") == 0);
}

int main(int count, char **words) {
  registers(count > 1 ? (size_t)strtoul(words[1], NULL, 10) : 35);
  moves();
  lacks();
  return 0;
}
