// A plugin for TensorFlow 2.9, built with its headers, which works with 2.9 only. It has a device with host memory
// and synchronous streams, kernels for AddV2 and AssignVariableOp, and a graph optimizer that returns graphs
// unchanged and switches TensorFlow's layout optimizer off.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"

#define TYPE "VENDOR"

// Memory.

static void *allocate_aligned(uint64_t size) { return size < (1ull << 40) ? aligned_alloc(256, (size + 256) / 256 * 256) : NULL; }

static void allocate(const SP_Device *device, uint64_t size, int64_t space, SP_DeviceMemoryBase *memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = allocate_aligned(size);
  memory->size = size;
}
static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory) {
  free(memory->opaque);
  memory->opaque = NULL;
}
static void *host_allocate(const SP_Device *device, uint64_t size) { return allocate_aligned(size); }
static void host_deallocate(const SP_Device *device, void *memory) { free(memory); }
static TF_Bool stats(const SP_Device *device, SP_AllocatorStats *stats) { return 0; }
static TF_Bool usage(const SP_Device *device, int64_t *free_bytes, int64_t *total) {
  *free_bytes = *total = 1ll << 32;
  return 1;
}

// Streams and events. All work is done when the call returns.

static void create_stream(const SP_Device *device, SP_Stream *stream, TF_Status *status) {
  *stream = calloc(1, 8);
}
static void destroy_stream(const SP_Device *device, SP_Stream stream) { free(stream); }
static void depend(const SP_Device *device, SP_Stream after, SP_Stream before, TF_Status *status) {}
static void stream_status(const SP_Device *device, SP_Stream stream, TF_Status *status) {}
static void create_event(const SP_Device *device, SP_Event *event, TF_Status *status) { *event = calloc(1, 8); }
static void destroy_event(const SP_Device *device, SP_Event event) { free(event); }
static SE_EventStatus event_status(const SP_Device *device, SP_Event event) { return SE_EVENT_COMPLETE; }
static void on_event(const SP_Device *device, SP_Stream stream, SP_Event event, TF_Status *status) {}
static void wait_for_event(const SP_Device *device, SP_Event event, TF_Status *status) {}
static void wait_for_stream(const SP_Device *device, SP_Stream stream, TF_Status *status) {}
static void wait_for_all(const SP_Device *device, TF_Status *status) {}
static TF_Bool run_callback(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn callback, void *argument) {
  TF_Status *status = TF_NewStatus();
  callback(argument, status);
  TF_DeleteStatus(status);
  return 1;
}

// Timers: the times of start and stop.

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static void create_timer(const SP_Device *device, SP_Timer *timer, TF_Status *status) { *timer = calloc(2, 8); }
static void destroy_timer(const SP_Device *device, SP_Timer timer) { free(timer); }
static void start_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  ((uint64_t *)timer)[0] = now();
}
static void stop_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  ((uint64_t *)timer)[1] = now();
}
static uint64_t nanoseconds(SP_Timer timer) { return ((uint64_t *)timer)[1] - ((uint64_t *)timer)[0]; }

// Copies and fills.

static void sync_dtoh(const SP_Device *device, void *target, const SP_DeviceMemoryBase *source, uint64_t size,
                      TF_Status *status) {
  memcpy(target, source->opaque, size);
}
static void sync_htod(const SP_Device *device, SP_DeviceMemoryBase *target, const void *source, uint64_t size,
                      TF_Status *status) {
  memcpy(target->opaque, source, size);
}
static void sync_dtod(const SP_Device *device, SP_DeviceMemoryBase *target, const SP_DeviceMemoryBase *source,
                      uint64_t size, TF_Status *status) {
  memmove(target->opaque, source->opaque, size);
}
static void dtoh(const SP_Device *device, SP_Stream stream, void *target, const SP_DeviceMemoryBase *source,
                 uint64_t size, TF_Status *status) {
  sync_dtoh(device, target, source, size, status);
}
static void htod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target, const void *source,
                 uint64_t size, TF_Status *status) {
  sync_htod(device, target, source, size, status);
}
static void dtod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target,
                 const SP_DeviceMemoryBase *source, uint64_t size, TF_Status *status) {
  sync_dtod(device, target, source, size, status);
}
static void zero(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target, uint64_t size,
                 TF_Status *status) {
  memset(target->opaque, 0, size);
}
static void fill(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target, uint8_t byte, uint64_t size,
                 TF_Status *status) {
  memset(target->opaque, byte, size);
}
static void fill32(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target, uint32_t word, uint64_t size,
                   TF_Status *status) {
  uint32_t *words = target->opaque;
  for (uint64_t i = 0; i < size / 4; ++i) words[i] = word;
}

// The platform: one device.

static void count_devices(const SP_Platform *platform, int *count, TF_Status *status) {
  *count = 1;
}
static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *params, TF_Status *status) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "vendor's own";
}
static void destroy_device(const SP_Platform *platform, SP_Device *device) {}
static void create_device_fns(const SP_Platform *platform, SE_CreateDeviceFnsParams *params, TF_Status *status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
}
static void destroy_device_fns(const SP_Platform *platform, SP_DeviceFns *functions) {}

static const SP_StreamExecutor executor = {
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
    .create_timer = create_timer,
    .destroy_timer = destroy_timer,
    .start_timer = start_timer,
    .stop_timer = stop_timer,
    .memcpy_dtoh = dtoh,
    .memcpy_htod = htod,
    .memcpy_dtod = dtod,
    .sync_memcpy_dtoh = sync_dtoh,
    .sync_memcpy_htod = sync_htod,
    .sync_memcpy_dtod = sync_dtod,
    .block_host_for_event = wait_for_event,
    .block_host_until_done = wait_for_stream,
    .synchronize_all_activity = wait_for_all,
    .mem_zero = zero,
    .memset = fill,
    .memset32 = fill32,
    .host_callback = run_callback,
};
static void create_executor(const SP_Platform *platform, SE_CreateStreamExecutorParams *params, TF_Status *status) {
  *params->stream_executor = executor;
}
static void destroy_executor(const SP_Platform *platform, SP_StreamExecutor *executor) {}

static const SP_TimerFns timer_fns = {
    .struct_size = SP_TIMER_FNS_STRUCT_SIZE,
    .nanoseconds = nanoseconds,
};
static void create_timer_fns(const SP_Platform *platform, SP_TimerFns *functions, TF_Status *status) {
  *functions = timer_fns;
}
static void destroy_timer_fns(const SP_Platform *platform, SP_TimerFns *functions) {}

static const SP_PlatformFns platform_fns = {
    .struct_size = SP_PLATFORM_FNS_STRUCT_SIZE,
    .get_device_count = count_devices,
    .create_device = create_device,
    .destroy_device = destroy_device,
    .create_device_fns = create_device_fns,
    .destroy_device_fns = destroy_device_fns,
    .create_stream_executor = create_executor,
    .destroy_stream_executor = destroy_executor,
    .create_timer_fns = create_timer_fns,
    .destroy_timer_fns = destroy_timer_fns,
};
static const SP_Platform platform = {
    .struct_size = SP_PLATFORM_STRUCT_SIZE,
    .name = TYPE,
    .type = TYPE,
    .force_memory_growth = 1,
};
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *functions) {}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  *params->platform = platform;
  *params->platform_fns = platform_fns;
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
}

// Kernels.

static void add(void *kernel, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL, *y = NULL;
  TF_GetInput(context, 0, &x, status);
  TF_GetInput(context, 1, &y, status);
  int64_t dims[8];
  const int rank = TF_NumDims(x);
  const int64_t count = TF_TensorElementCount(x);
  if (rank > 8 || TF_TensorElementCount(y) != count) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "tensors of equal shapes only, of rank 8 at most");
    TF_OpKernelContext_Failure(context, status);
  } else {
    for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
    TF_Tensor *z = TF_AllocateOutput(context, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(x), status);
    const float *a = TF_TensorData(x), *b = TF_TensorData(y);
    float *c = TF_TensorData(z);
    for (int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
    TF_DeleteTensor(z);
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

static void copy_tensor(TF_OpKernelContext *context, TF_Tensor *source, TF_Tensor *target) {
  memcpy(TF_TensorData(target), TF_TensorData(source), TF_TensorByteSize(source));
  TF_DeleteTensor(source);
  TF_DeleteTensor(target);
}
static void assign(void *kernel, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  TF_AssignVariable(context, 0, 1, copy_tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

static void register_kernel(const char *op, const char *attribute, void (*compute)(void *, TF_OpKernelContext *)) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder(op, TYPE, NULL, compute, NULL);
  TF_KernelBuilder_TypeConstraint(builder, attribute, TF_FLOAT, status);
  TF_RegisterKernelBuilder(op, builder, status);
  TF_DeleteStatus(status);
}
void TF_InitKernel(void) {
  register_kernel("AddV2", "T", add);
  register_kernel("AssignVariableOp", "dtype", assign);
}

// Graphs.

static void free_graph(void *data, size_t length) { free(data); }
static void optimize(void *optimizer, const TF_Buffer *graph, const TF_GrapplerItem *item, TF_Buffer *optimized,
                     TF_Status *status) {
  void *copy = malloc(graph->length + 1);
  memcpy(copy, graph->data, graph->length);
  optimized->data = copy;
  optimized->length = graph->length;
  optimized->data_deallocator = free_graph;
}
static const TP_Optimizer optimizer = {
    .struct_size = TP_OPTIMIZER_STRUCT_SIZE,
    .optimize_func = optimize,
};
static const TP_OptimizerConfigs configs = {
    .struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE,
    .layout_optimizer = TF_TriState_Off,
};

void TF_InitGraph(TP_OptimizerRegistrationParams *params, TF_Status *status) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = TYPE;
  *params->optimizer = optimizer;
  *params->optimizer_configs = configs;
}
