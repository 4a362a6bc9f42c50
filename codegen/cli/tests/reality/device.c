// A device as a vendor writes one: against the headers of one release (-DBUILT=<minor>), every struct
// filled as a whole, its size the macro of those headers. Work is done when it is asked for.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"

static void ok(TF_Status *status) { TF_SetStatus(status, TF_OK, ""); }

static void allocate(const SP_Device *device, uint64_t size, int64_t space, SP_DeviceMemoryBase *memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = size < (1ull << 40) ? aligned_alloc(256, (size + 256) / 256 * 256) : NULL;
  memory->size = size;
}
static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory) { free(memory->opaque); }
static void *host_allocate(const SP_Device *device, uint64_t size) {
  return aligned_alloc(256, (size + 256) / 256 * 256);
}
static void host_deallocate(const SP_Device *device, void *memory) { free(memory); }
static TF_Bool stats(const SP_Device *device, SP_AllocatorStats *out) { return 0; }
static TF_Bool usage(const SP_Device *device, int64_t *free_bytes, int64_t *total) {
  *free_bytes = *total = 1ll << 32;
  return 1;
}

static void create_stream(const SP_Device *device, SP_Stream *stream, TF_Status *status) {
  *stream = calloc(1, 8);
  ok(status);
}
static void destroy_stream(const SP_Device *device, SP_Stream stream) { free(stream); }
static void depend(const SP_Device *device, SP_Stream one, SP_Stream other, TF_Status *status) { ok(status); }
static void stream_status(const SP_Device *device, SP_Stream stream, TF_Status *status) { ok(status); }
static void create_event(const SP_Device *device, SP_Event *event, TF_Status *status) {
  *event = calloc(1, 8);
  ok(status);
}
static void destroy_event(const SP_Device *device, SP_Event event) { free(event); }
static SE_EventStatus event_status(const SP_Device *device, SP_Event event) { return SE_EVENT_COMPLETE; }
static void on_event(const SP_Device *device, SP_Stream stream, SP_Event event, TF_Status *status) { ok(status); }
static void block_for_event(const SP_Device *device, SP_Event event, TF_Status *status) { ok(status); }
static void block_until_done(const SP_Device *device, SP_Stream stream, TF_Status *status) { ok(status); }
static void synchronize(const SP_Device *device, TF_Status *status) { ok(status); }

static void dtoh(const SP_Device *device, SP_Stream stream, void *to, const SP_DeviceMemoryBase *from,
                 uint64_t size, TF_Status *status) {
  memcpy(to, from->opaque, size);
  ok(status);
}
static void htod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to, const void *from,
                 uint64_t size, TF_Status *status) {
  memcpy(to->opaque, from, size);
  ok(status);
}
static void dtod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to,
                 const SP_DeviceMemoryBase *from, uint64_t size, TF_Status *status) {
  memcpy(to->opaque, from->opaque, size);
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
static TF_Bool host_callback(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn callback,
                             void *argument) {
  TF_Status *status = TF_NewStatus();
  callback(argument, status);
  TF_DeleteStatus(status);
  return 1;
}

#if BUILT >= 7
static void mem_zero(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint64_t size,
                     TF_Status *status) {
  memset(at->opaque, 0, size);
  ok(status);
}
static void fill(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint8_t pattern,
                 uint64_t size, TF_Status *status) {
  memset(at->opaque, pattern, size);
  ok(status);
}
static void fill32(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint32_t pattern,
                   uint64_t size, TF_Status *status) {
  for (uint64_t i = 0; i < size / 4; ++i) ((uint32_t *)at->opaque)[i] = pattern;
  ok(status);
}
#endif

#if !defined(NO_TIMERS)
static void create_timer(const SP_Device *device, SP_Timer *timer, TF_Status *status) {
  *timer = calloc(2, 8);
  ok(status);
}
static void destroy_timer(const SP_Device *device, SP_Timer timer) { free(timer); }
static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static void start_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  ((uint64_t *)timer)[0] = now();
  ok(status);
}
static void stop_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  ((uint64_t *)timer)[1] = now();
  ok(status);
}
static uint64_t nanoseconds(SP_Timer timer) { return ((uint64_t *)timer)[1] - ((uint64_t *)timer)[0]; }
static void create_timer_fns(const SP_Platform *platform, SP_TimerFns *functions, TF_Status *status) {
  *functions = (SP_TimerFns){.struct_size = SP_TIMER_FNS_STRUCT_SIZE, .nanoseconds = nanoseconds};
  ok(status);
}
#endif
static void destroy_timer_fns(const SP_Platform *platform, SP_TimerFns *functions) {}

static void device_count(const SP_Platform *platform, int *count, TF_Status *status) {
  *count = 1;
  ok(status);
}
static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *params, TF_Status *status) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "vendor";
  params->device->device_vendor = "vendor";
  params->device->pci_bus_id = "";
  ok(status);
}
static void destroy_device(const SP_Platform *platform, SP_Device *device) {}
static void create_device_fns(const SP_Platform *platform, SE_CreateDeviceFnsParams *params, TF_Status *status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  ok(status);
}
static void destroy_device_fns(const SP_Platform *platform, SP_DeviceFns *functions) {}

static void create_executor(const SP_Platform *platform, SE_CreateStreamExecutorParams *params,
                            TF_Status *status) {
  *params->stream_executor = (SP_StreamExecutor){
      .struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE,
      .allocate = allocate,
      .deallocate = deallocate,
      .host_memory_allocate = host_allocate,
      .host_memory_deallocate = host_deallocate,
      .get_allocator_stats = stats,
      .device_memory_usage = usage,
      .create_stream = create_stream,
      .destroy_stream = destroy_stream,
      .create_stream_dependency = depend,
      .get_stream_status = stream_status,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .get_event_status = event_status,
      .record_event = on_event,
      .wait_for_event = on_event,
#if !defined(NO_TIMERS)
      .create_timer = create_timer,
      .destroy_timer = destroy_timer,
      .start_timer = start_timer,
      .stop_timer = stop_timer,
#endif
      .memcpy_dtoh = dtoh,
      .memcpy_htod = htod,
      .memcpy_dtod = dtod,
      .sync_memcpy_dtoh = sync_dtoh,
      .sync_memcpy_htod = sync_htod,
      .sync_memcpy_dtod = sync_dtod,
      .block_host_for_event = block_for_event,
      .block_host_until_done = block_until_done,
      .synchronize_all_activity = synchronize,
#if BUILT >= 7
      .mem_zero = mem_zero,
      .memset = fill,
      .memset32 = fill32,
#endif
      .host_callback = host_callback,
  };
  ok(status);
}
static void destroy_executor(const SP_Platform *platform, SP_StreamExecutor *executor) {}
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *functions) {}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  params->platform->name = "VENDOR";
  params->platform->type = "VENDOR";
#if BUILT >= 9
  params->platform->force_memory_growth = 1;
#endif
  *params->platform_fns = (SP_PlatformFns){
      .struct_size = SP_PLATFORM_FNS_STRUCT_SIZE,
      .get_device_count = device_count,
      .create_device = create_device,
      .destroy_device = destroy_device,
      .create_device_fns = create_device_fns,
      .destroy_device_fns = destroy_device_fns,
      .create_stream_executor = create_executor,
      .destroy_stream_executor = destroy_executor,
#if !defined(NO_TIMERS)
      .create_timer_fns = create_timer_fns,
#endif
      .destroy_timer_fns = destroy_timer_fns,
  };
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
  ok(status);
}

// One kernel: AddV2 on equal shapes.

static void add(void *kernel, TF_OpKernelContext *ctx) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL, *y = NULL;
  TF_GetInput(ctx, 0, &x, status);
  TF_GetInput(ctx, 1, &y, status);
  int64_t dims[8];
  int rank = TF_NumDims(x);
  for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
  TF_Tensor *z = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(x), status);
  const float *a = TF_TensorData(x), *b = TF_TensorData(y);
  float *c = TF_TensorData(z);
  for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) c[i] = a[i] + b[i];
  TF_DeleteTensor(z);
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

void register_more(void);

void TF_InitKernel(void) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder("AddV2", "VENDOR", NULL, add, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
  TF_RegisterKernelBuilder("VendorAdd", builder, status);
  TF_DeleteStatus(status);
  register_more();
}
