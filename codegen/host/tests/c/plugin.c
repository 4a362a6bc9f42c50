// A small device plugin for the tests of sp-host, written as vendors write theirs: against one
// release, with TensorFlow's functions left undefined. Its memory is in memory.c. Streams run at once, or
// have threads with ASYNC (queues.c). Each other macro plants one defect.
#define _DEFAULT_SOURCE
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tensorflow.h"

#include "memory.h"
#include "queues.h"

#if defined(BAD_NAME)
#define NAME "my/device"
#elif defined(BYTE_NAME)
#define NAME "TEST_2"
#else
#define NAME "TEST_DEVICE"
#endif

#if defined(SLASH_TYPE)
#define TYPE "TEST/1"
#elif defined(LOWER_TYPE)
#define TYPE "Test"
#else
#define TYPE "TEST"
#endif

// A copy in that waits for the next piece of work on its stream.
typedef struct { void *to; const void *from; uint64_t size; } Stream;
typedef struct { uint64_t start, stop; } Timer;

#if !defined(ASYNC)
// Other parts use it only if streams have threads.
static uint64_t now(void);
#endif

uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void ok(TF_Status *status) { TF_SetStatus(status, TF_OK, ""); }

static void no(TF_Status *status) { TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "not today"); }

// Streams, events, timers.

static void flush(SP_Stream stream) {
  Stream *waiting = (Stream *)stream;
  if (waiting->size != 0) memcpy(waiting->to, waiting->from, waiting->size);
  waiting->size = 0;
}

static int devices_gone;

static void create_stream(const SP_Device *device, SP_Stream *out, TF_Status *status) {
  *out = (SP_Stream)calloc(1, sizeof(Stream));
#if defined(STREAM_REFUSED)
  no(status);
#else
  ok(status);
#endif
}
#if defined(HAS_SP_StreamExecutor_create_stream_with_options)
static void create_stream_with_options(const SP_Device *device, const SP_StreamOptions *options, SP_Stream *out,
                                       TF_Status *status) {
  if (options == NULL || options->struct_size != 24 || options->ext != NULL || options->has_priority > 1) {
    TF_SetStatus(status, TF_INTERNAL, "the host's stream options are wrong");
    return;
  }
#if defined(PRIORITY_REFUSED)
  if (options->has_priority) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "no priorities today");
    return;
  }
#endif
  create_stream(device, out, status);
}
#endif
static void destroy_stream(const SP_Device *device, SP_Stream stream) {
  flush(stream);
#if !defined(LEAK_STREAM)
  free(stream);
#endif
}
static void depend(const SP_Device *device, SP_Stream a, SP_Stream b, TF_Status *status) {
#if !defined(NO_DEPENDENCY)
  flush(b);
#endif
  ok(status);
}
static void stream_status(const SP_Device *device, SP_Stream stream, TF_Status *status) {
#if defined(STREAM_STATUS)
  TF_SetStatus(status, TF_INTERNAL, "the stream is broken");
#else
  ok(status);
#endif
}
static void create_event(const SP_Device *device, SP_Event *out, TF_Status *status) {
#if defined(ONE_LIFE)
  if (devices_gone > 0) {
    TF_SetStatus(status, TF_INTERNAL, "the device is gone");
    return;
  }
#endif
#if defined(NULL_EVENT)
  *out = NULL;
#else
  *out = (SP_Event)calloc(1, 1);
#endif
  ok(status);
}
static void destroy_event(const SP_Device *device, SP_Event event) {
#if !defined(LEAK_EVENT)
  free(event);
#endif
}
static SE_EventStatus event_status(const SP_Device *device, SP_Event event) {
#if defined(EVENT_ERROR)
  return SE_EVENT_ERROR;
#elif defined(EVENT_PENDING)
  return SE_EVENT_PENDING;
#elif defined(EVENT_UNKNOWN)
  return (SE_EventStatus)9;
#else
  return SE_EVENT_COMPLETE;
#endif
}
static void on_event(const SP_Device *device, SP_Stream stream, SP_Event event, TF_Status *status) {
  flush(stream);
  ok(status);
}
static void block_for_event(const SP_Device *device, SP_Event event, TF_Status *status) { ok(status); }
static void block_until_done(const SP_Device *device, SP_Stream stream, TF_Status *status) {
  flush(stream);
  ok(status);
}
static void synchronize(const SP_Device *device, TF_Status *status) {
#if defined(HANG)
  for (;;) pause();
#endif
  ok(status);
}
static void create_timer(const SP_Device *device, SP_Timer *out, TF_Status *status) {
  *out = (SP_Timer)calloc(1, sizeof(Timer));
  ok(status);
}
static void destroy_timer(const SP_Device *device, SP_Timer timer) {
#if !defined(LEAK_TIMER)
  free(timer);
#endif
}
static void start_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  ((Timer *)timer)->start = now();
  ok(status);
}
static void stop_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  ((Timer *)timer)->stop = now();
  ok(status);
}
static uint64_t nanoseconds(SP_Timer timer) {
#if defined(TIMER_MILLISECONDS)
  return (((Timer *)timer)->stop - ((Timer *)timer)->start) / 1000000;
#else
  return ((Timer *)timer)->stop - ((Timer *)timer)->start;
#endif
}

static uint8_t host_callback(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn callback,
                             void *argument) {
#if defined(CALLBACK_ORDER)
  // Runs every second one late.
  static SE_StatusCallbackFn late;
  static void *late_argument;
  if (late == NULL) {
    late = callback;
    late_argument = argument;
    return 1;
  }
#endif
#if defined(CALLBACK_LOST)
  static int count;
  if (count++ == 50) return 1;
#endif
  flush(stream);
  TF_Status *status = TF_NewStatus();
  callback(argument, status);
#if defined(CALLBACK_TWICE)
  callback(argument, status);
#endif
#if defined(CALLBACK_ORDER)
  late(late_argument, status);
  late = NULL;
#endif
#if !defined(LEAK_STATUS)
  TF_DeleteStatus(status);
#endif
  return 1;
}

// Copies and fills.

static void dtoh(const SP_Device *device, SP_Stream stream, void *to, const SP_DeviceMemoryBase *from,
                 uint64_t size, TF_Status *status) {
#if defined(NO_DEPENDENCY)
  if (stream != NULL) flush(stream);
#endif
#if defined(UNIFIED_APART)
  // The device has bytes of its own for a block of unified memory.
  if (is_unified(from->opaque)) return ok(status);
#endif
  memcpy(to, from->opaque, size);
#if defined(WRITES_PAST)
  ((volatile char *)to)[size] = 0;
#endif
#if defined(LONG_COPY)
  if (size == 100) ((char *)to)[size] = 0;
#endif
#if defined(COPY_OUT_REFUSED)
  if (stream != NULL) return no(status);
#endif
  ok(status);
}
static void htod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to, const void *from,
                 uint64_t size, TF_Status *status) {
#if defined(DISORDER) || defined(NO_DEPENDENCY)
  // Lazy: the copy waits for the next piece of work.
  if (stream != NULL && size == 100000) {
    flush(stream);
    *(Stream *)stream = (Stream){to->opaque, from, size};
    ok(status);
    return;
  }
#endif
#if defined(RACY_COPY)
  // Through one buffer for all threads.
  static char shared[1 << 14];
  if (size <= sizeof shared) {
    memcpy(shared, from, size);
    usleep(10);
    from = shared;
  }
#endif
  memcpy(to->opaque, from, size);
#if defined(READS_PAST)
  // As a driver whose copies are whole blocks of 64 bytes, and one more.
  (void)((const volatile char *)from)[size + 63];
#endif
#if defined(COPY_ADVANCES)
  to->opaque = (char *)to->opaque + size;
#endif
#if defined(COPY_MARKS_DEVICE)
  ((SP_Device *)device)->pci_bus_id = "busy";
#endif
#if defined(COPY_REFUSED)
  if (stream != NULL) return no(status);
#endif
  ok(status);
}
static void dtod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to,
                 const SP_DeviceMemoryBase *from, uint64_t size, TF_Status *status) {
#if defined(SHORT_COPY)
  size -= size / 8;
#endif
  memmove(to->opaque, from->opaque, size);
  ok(status);
}
static void sync_dtoh(const SP_Device *device, void *to, const SP_DeviceMemoryBase *from, uint64_t size,
                      TF_Status *status) {
  dtoh(device, NULL, to, from, size, status);
}
static void sync_htod(const SP_Device *device, SP_DeviceMemoryBase *to, const void *from, uint64_t size,
                      TF_Status *status) {
  htod(device, NULL, to, from, size, status);
}
static void sync_dtod(const SP_Device *device, SP_DeviceMemoryBase *to, const SP_DeviceMemoryBase *from,
                      uint64_t size, TF_Status *status) {
  dtod(device, NULL, to, from, size, status);
}
#if defined(HAS_SP_StreamExecutor_mem_zero)
static void mem_zero(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint64_t size,
                     TF_Status *status) {
  memset(at->opaque, 0, size);
  ok(status);
}
static void mem_set(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint8_t pattern,
                    uint64_t size, TF_Status *status) {
#if defined(FILL_ZERO)
  pattern = 0;
#endif
  memset(at->opaque, pattern, size);
  ok(status);
}
static void mem_set32(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint32_t pattern,
                      uint64_t size, TF_Status *status) {
#if defined(FILL_COUNTS_WORDS)
  size *= 4;
#endif
  for (uint64_t i = 0; i < size / 4; ++i) ((uint32_t *)at->opaque)[i] = pattern;
  ok(status);
}
#endif

// Platform and device.

static const SP_Platform *first_platform;

static void device_count(const SP_Platform *platform, int *count, TF_Status *status) {
#if defined(KEEPS_PLATFORM)
  if (first_platform->name[0] == 0) return;
#endif
#if defined(NO_DEVICE)
  *count = 0;
#elif defined(DEVICES)
  *count = DEVICES;
#else
  *count = 1;
#endif
#if defined(COUNT_NEGATIVE)
  *count = -1;
#endif
#if defined(COUNT_MARKS_PLATFORM)
  ((SP_Platform *)platform)->use_bfc_allocator = 1;
#endif
#if defined(COUNT_REFUSED)
  no(status);
#else
  ok(status);
#endif
}

static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *params, TF_Status *status) {
  params->device->struct_size = SP_Device_SIZE;
#if defined(WRONG_ORDINAL)
  params->device->ordinal = params->ordinal + 1;
#else
  params->device->ordinal = params->ordinal;
#endif
  params->device->device_handle = (void *)(intptr_t)(params->ordinal + 1);
  params->device->hardware_name = "Test";
#if defined(FREE_EXT)
  params->device->ext = params->device;
#endif
#if defined(CHANGES_ORDINAL)
  params->ordinal += 1;
#endif
#if defined(CHANGES_POINTER)
  params->device = NULL;
  ok(status);
  return;
#endif
#if defined(OMIT_SP_Device)
  params->device->OMIT_SP_Device = 0;
#endif
#if defined(DEVICE_REFUSED)
  no(status);
#else
  ok(status);
#endif
}
static void destroy_device(const SP_Platform *platform, SP_Device *device) { ++devices_gone; }

static void create_device_fns(const SP_Platform *platform, SE_CreateDeviceFnsParams *params, TF_Status *status) {
  params->device_fns->struct_size = SP_DeviceFns_SIZE;
#if defined(OMIT_SP_DeviceFns)
  params->device_fns->OMIT_SP_DeviceFns = 0;
#endif
#if defined(DEVICE_FNS_REFUSED)
  no(status);
#else
  ok(status);
#endif
}
static void destroy_device_fns(const SP_Platform *platform, SP_DeviceFns *fns) {}

static void create_executor(const SP_Platform *platform, SE_CreateStreamExecutorParams *params,
                            TF_Status *status) {
  SP_StreamExecutor *table = params->stream_executor;
  *table = (SP_StreamExecutor){
      .struct_size = SP_StreamExecutor_SIZE,
      .create_stream = create_stream,
      .destroy_stream = destroy_stream,
      .create_stream_dependency = depend,
      .get_stream_status = stream_status,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .get_event_status = event_status,
      .record_event = on_event,
      .wait_for_event = on_event,
      .create_timer = create_timer,
      .destroy_timer = destroy_timer,
      .start_timer = start_timer,
      .stop_timer = stop_timer,
      .memcpy_dtoh = dtoh,
#if !defined(MISSING_SLOT)
      .memcpy_htod = htod,
#endif
      .memcpy_dtod = dtod,
      .sync_memcpy_dtoh = sync_dtoh,
      .sync_memcpy_htod = sync_htod,
      .sync_memcpy_dtod = sync_dtod,
      .block_host_for_event = block_for_event,
      .block_host_until_done = block_until_done,
      .synchronize_all_activity = synchronize,
#if defined(HAS_SP_StreamExecutor_mem_zero)
      .mem_zero = mem_zero,
      .memset = mem_set,
      .memset32 = mem_set32,
#endif
      .host_callback = host_callback,
#if defined(HAS_SP_StreamExecutor_create_stream_with_options) && !defined(NO_OPTIONS)
      .create_stream_with_options = create_stream_with_options,
#endif
  };
  set_memory_slots(table);
#if defined(ASYNC)
  set_queue_slots(table);
#endif
#if defined(PAST_STRUCT)
  // A slot that this release does not have.
  *(void **)((char *)table + SP_StreamExecutor_SIZE) = (void *)table->allocate;
#endif
#if defined(TABLE_EXT)
  table->ext = (void *)table->allocate;
#endif
#if defined(PARAMS_SIZE)
  params->struct_size = SE_CreateStreamExecutorParams_SIZE + 8;
#endif
#if defined(OMIT_SP_StreamExecutor)
  table->OMIT_SP_StreamExecutor = 0;
#endif
#if defined(TABLE_REFUSED)
  no(status);
#else
  ok(status);
#endif
}
static void destroy_executor(const SP_Platform *platform, SP_StreamExecutor *table) {}

static void create_timer_fns(const SP_Platform *platform, SP_TimerFns *fns, TF_Status *status) {
  fns->struct_size = SP_TimerFns_SIZE;
  fns->nanoseconds = nanoseconds;
#if defined(OMIT_SP_TimerFns)
  fns->OMIT_SP_TimerFns = 0;
#endif
#if defined(TIMER_FNS_REFUSED)
  no(status);
#else
  ok(status);
#endif
}
static void destroy_timer_fns(const SP_Platform *platform, SP_TimerFns *fns) {}
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *fns) {}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  first_platform = params->platform;
  params->struct_size = SE_PlatformRegistrationParams_SIZE;
#if defined(PADDED_SIZE)
  params->platform->struct_size = sizeof(SP_Platform);
#else
  params->platform->struct_size = SP_Platform_SIZE;
#endif
  params->platform->name = NAME;
  params->platform->type = TYPE;
#if defined(STACK_NAME)
  char name[] = "ON_THE_STACK";
  params->platform->name = memcpy(alloca(sizeof name), name, sizeof name);
#endif
#if defined(CHANGES_VERSION)
  params->major_version = 7;
#endif
#if defined(PARAMS_EXT)
  params->ext = params->platform;
#endif
#if defined(FREE_EXT)
  // The header leaves these two to the plugin.
  params->platform->ext = params->platform;
#endif
#if defined(IN_PADDING)
  ((char *)params->platform)[SP_Platform_SIZE] = 1;
#endif
#if defined(BEFORE_STRUCT)
  ((char *)params->platform)[-8] = 1;
#endif
#if defined(UNIFIED) || defined(UNIFIED_MEMORY)
  params->platform->supports_unified_memory = 1;
#endif
#if defined(BIG_SIZE)
  params->struct_size = SE_PlatformRegistrationParams_SIZE + 64;
#endif
#if defined(USE_BFC)
  params->platform->use_bfc_allocator = 1;
#endif
  *params->platform_fns = (SP_PlatformFns){
      .struct_size = SP_PlatformFns_SIZE,
      .get_device_count = device_count,
      .create_device = create_device,
      .destroy_device = destroy_device,
      .create_device_fns = create_device_fns,
      .destroy_device_fns = destroy_device_fns,
      .create_stream_executor = create_executor,
      .destroy_stream_executor = destroy_executor,
      .create_timer_fns = create_timer_fns,
      .destroy_timer_fns = destroy_timer_fns,
  };
#if !defined(NO_DESTROY)
  params->destroy_platform = destroy_platform;
#endif
  params->destroy_platform_fns = destroy_platform_fns;
#if defined(OMIT_SP_Platform)
  params->platform->OMIT_SP_Platform = 0;
#endif
#if defined(OMIT_SP_PlatformFns)
  params->platform_fns->OMIT_SP_PlatformFns = 0;
#endif
#if defined(OMIT_SE_PlatformRegistrationParams)
  params->OMIT_SE_PlatformRegistrationParams = 0;
#endif
#if defined(REFUSES)
  TF_SetStatus(status, TF_UNAVAILABLE, "no driver");
#else
  ok(status);
#endif
}
