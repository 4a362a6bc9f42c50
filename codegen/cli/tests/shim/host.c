// A hand-written host in a process without TensorFlow. The first argument is the size of its SP_Platform. Checks
// the reads and writes of the generated accessors, and the lookup of functions. C11 and C++17.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spgen_grappler.h"
#include "spgen_kernels_experimental.h"
#include "spgen_stream_executor.h"

enum { GUARD_BYTE = 0xA5 };

static void expect(int is_true, const char *condition) {
  if (is_true) return;
  fprintf(stderr, "failed: %s\n", condition);
  exit(1);
}
#define EXPECT(condition) expect(condition, #condition)

// Returns zeroed memory, as TensorFlow passes it, with guard bytes behind it.
static void *host_memory(size_t size) {
  char *memory = (char *)malloc(size + 64);
  memset(memory, GUARD_BYTE, size + 64);
  memset(memory, 0, size);
  memcpy(memory, &size, size < sizeof size ? 0 : sizeof size);
  if (size == 0) memset(memory, 0, sizeof size);
  return memory;
}

static int has_guard_bytes(const void *memory, size_t size) {
  const unsigned char *bytes = (const unsigned char *)memory;
  for (size_t i = size < 8 ? 8 : size; i < size + 64; ++i) {
    if (bytes[i] != GUARD_BYTE) return 0;
  }
  return 1;
}

static void count_seven_devices(const SP_Platform *platform, int32_t *count, TF_Status *status) { *count = 7; }
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *functions) {}

static void check_registration(size_t size) {
  SE_PlatformRegistrationParams_newest own_params;
  memset(&own_params, 0, sizeof own_params);
  SP_Platform *platform = (SP_Platform *)host_memory(size);
  SP_PlatformFns *functions = (SP_PlatformFns *)host_memory(sizeof(SP_PlatformFns_newest));
  own_params.platform = platform;
  own_params.platform_fns = functions;
  SE_PlatformRegistrationParams *params = spgen_as_host_struct(SE_PlatformRegistrationParams, &own_params);
  const int is_known = size == 34 || size == 35;
  EXPECT(spgen_accept_SE_InitPlugin(params, "BY_HAND", "BY_HAND") == is_known);
  if (is_known) {
    SP_Platform_newest values;
    memset(&values, 0, sizeof values);
    values.name = values.type = "BY_HAND";
    values.use_bfc_allocator = values.force_memory_growth = 1;
    EXPECT(spgen_fill(SP_Platform, platform, &values, NULL));
    EXPECT(spgen_set(SP_PlatformFns, get_device_count, functions, count_seven_devices));
    EXPECT(spgen_set(SE_PlatformRegistrationParams, destroy_platform, params, destroy_platform));
    EXPECT(spgen_set(SE_PlatformRegistrationParams, destroy_platform_fns, params, destroy_platform_fns));
    EXPECT(spgen_get(SP_Platform, use_bfc_allocator, platform) == 1);
    EXPECT(spgen_has(SP_Platform, force_memory_growth, platform) == (size == 35));
    EXPECT(spgen_get(SP_Platform, force_memory_growth, platform) == (size == 35));
    EXPECT(spgen_set(SP_Platform, force_memory_growth, platform, 0) == (size == 35));
    EXPECT(strcmp(spgen_get(SP_Platform, name, platform), "BY_HAND") == 0);
  } else {
    EXPECT(!spgen_has(SP_Platform, name, platform) && spgen_get(SP_Platform, name, platform) == NULL);
    EXPECT(!spgen_set(SP_Platform, name, platform, "OTHER") && !spgen_has_known_layout(SP_Platform, platform, NULL));
  }
  int32_t count = -1;
  spgen_get(SP_PlatformFns, get_device_count, functions)(platform, &count, NULL);
  EXPECT(count == (is_known ? 7 : 0));
  EXPECT(own_params.destroy_platform != NULL && own_params.destroy_platform_fns != NULL);
  EXPECT(spgen_struct_size(platform) == size && has_guard_bytes(platform, size));
  EXPECT(has_guard_bytes(functions, sizeof(SP_PlatformFns_newest)));
}

static void free_nothing(const SP_Device *device, SP_DeviceMemoryBase *memory) {}
static TF_Bool run_callback(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn callback, void *argument) {
  return 1;
}

// In 2.7 slots of this table moved. A slot contains the plugin's own function, without a wrapper.
static void check_moved_slots(void) {
  SP_StreamExecutor_newest values;
  memset(&values, 0, sizeof values);
  values.deallocate = free_nothing;
  values.host_callback = run_callback;
  const size_t sizes[] = {264, 288, 272};
  for (size_t i = 0; i < 3; ++i) {
    SP_StreamExecutor *table = (SP_StreamExecutor *)host_memory(sizes[i]);
    EXPECT(spgen_fill(SP_StreamExecutor, table, &values, NULL) == (i < 2));
    EXPECT(spgen_has(SP_StreamExecutor, host_callback, table) == (i < 2));
    EXPECT(spgen_has(SP_StreamExecutor, mem_zero, table) == (i == 1));
    if (i < 2) {
      void *last = NULL, *expected = NULL;
      memcpy(&last, (char *)table + sizes[i] - sizeof last, sizeof last);
      memcpy(&expected, &values.host_callback, sizeof expected);
      EXPECT(last == expected);
      EXPECT(spgen_get(SP_StreamExecutor, deallocate, table) == free_nothing);
    }
    EXPECT(spgen_struct_size(table) == sizes[i] && has_guard_bytes(table, sizes[i]));
    free(table);
  }
}

// A process without TensorFlow states no release and exports no function.
static void check_lookup(void) {
  EXPECT(spgen_find(TF_NewStatus) == NULL && spgen_find(TF_AssignVariable) == NULL);
  EXPECT(strstr(spgen_find_error(TF_AssignVariable), "not exported by this process") != NULL);
  EXPECT(strstr(spgen_find_error(TF_AssignVariable), "tensorflow-cpu from 2.6 to 2.18") != NULL);
  EXPECT(strstr(spgen_find_error(TF_GetGrapplerItem), "Use the item that optimize_func receives instead") != NULL);
  const spgen_releases all = {SPGEN_FIRST_RELEASE, 0}, oldest = {205, 205}, unsupported = {201, 204};
  EXPECT(spgen_is_host_in(all) == 1 && spgen_is_host_in(unsupported) == 0 && spgen_running_host()->stated_release == 0);
  EXPECT(spgen_is_host_in(oldest) == (spgen_running_host()->releases.first > 205 ? 0 : -1));
  EXPECT(spgen_parse_release("2.12.0-rc1") == 212 && spgen_parse_release("2.5") == 205);
  EXPECT(spgen_parse_release("unknown") == 0 && spgen_parse_release("2.") == 0);
}

int main(int count, char **arguments) {
  check_registration(count > 1 ? (size_t)strtoul(arguments[1], NULL, 10) : 35);
  check_moved_slots();
  check_lookup();
  return 0;
}
