// What both plugins share of a device with host memory and synchronous streams. `OPAQUE(memory)` is the address of its bytes.

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
  memcpy(target, OPAQUE(source), size);
}
static void sync_htod(const SP_Device *device, SP_DeviceMemoryBase *target, const void *source, uint64_t size,
                      TF_Status *status) {
  memcpy(OPAQUE(target), source, size);
}
static void sync_dtod(const SP_Device *device, SP_DeviceMemoryBase *target, const SP_DeviceMemoryBase *source,
                      uint64_t size, TF_Status *status) {
  memmove(OPAQUE(target), OPAQUE(source), size);
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
  memset(OPAQUE(target), 0, size);
}
static void fill(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target, uint8_t byte, uint64_t size,
                 TF_Status *status) {
  memset(OPAQUE(target), byte, size);
}
static void fill32(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *target, uint32_t word, uint64_t size,
                   TF_Status *status) {
  uint32_t *words = OPAQUE(target);
  for (uint64_t i = 0; i < size / 4; ++i) words[i] = word;
}

// The slots of its stream executor.
#define EXECUTOR_SLOTS \
  .allocate = allocate, \
  .deallocate = deallocate, \
  .host_memory_allocate = host_allocate, \
  .host_memory_deallocate = host_deallocate, \
  .get_allocator_stats = stats, \
  .device_memory_usage = usage, \
  .create_stream = create_stream, \
  .destroy_stream = destroy_stream, \
  .create_stream_dependency = depend, \
  .get_stream_status = stream_status, \
  .create_event = create_event, \
  .destroy_event = destroy_event, \
  .get_event_status = event_status, \
  .record_event = on_event, \
  .wait_for_event = on_event, \
  .create_timer = create_timer, \
  .destroy_timer = destroy_timer, \
  .start_timer = start_timer, \
  .stop_timer = stop_timer, \
  .memcpy_dtoh = dtoh, \
  .memcpy_htod = htod, \
  .memcpy_dtod = dtod, \
  .sync_memcpy_dtoh = sync_dtoh, \
  .sync_memcpy_htod = sync_htod, \
  .sync_memcpy_dtod = sync_dtod, \
  .block_host_for_event = wait_for_event, \
  .block_host_until_done = wait_for_stream, \
  .synchronize_all_activity = wait_for_all, \
  .mem_zero = zero, \
  .memset = fill, \
  .memset32 = fill32, \
  .host_callback = run_callback
