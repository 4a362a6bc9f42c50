// Streams of the test plugin with a thread each, if ASYNC is defined. Each other macro plants one defect.
#define _DEFAULT_SOURCE
#include "tensorflow.h"

#include "memory.h"
#include "queues.h"

#if defined(ASYNC)
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ok(TF_Status *status) { TF_SetStatus(status, TF_OK, ""); }

typedef struct Task {
  struct Task *next;
  void (*run)(void *);
  void *argument;
} Task;

typedef struct Fence Fence;
static void wait_task(void *fence);
static void leave(Fence *fence);
static void call_task(void *call);

// The thread has done the first `done` of `count` tasks.
typedef struct Queue {
  struct Queue *next;
  const void *device;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Task *first, **last;
  uint64_t count, done;
  int ends, has_failed, last_is_call;
  Fence *pending;
} Queue;

// Every queue, under one lock.
static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;
static Queue *queues;

static void *serve(void *argument) {
  Queue *queue = argument;
  pthread_mutex_lock(&queue->lock);
  for (;;) {
    while (queue->first == NULL && !queue->ends) pthread_cond_wait(&queue->changed, &queue->lock);
    Task *task = queue->first;
    if (task == NULL) break;
    queue->first = task->next;
    if (queue->first == NULL) queue->last = &queue->first;
    pthread_mutex_unlock(&queue->lock);
    task->run(task->argument);
    free(task);
    pthread_mutex_lock(&queue->lock);
    ++queue->done;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

static void append(Queue *queue, void (*run)(void *), void *argument) {
  Task *task = malloc(sizeof *task);
  *task = (Task){NULL, run, argument};
  *queue->last = task;
  queue->last = &task->next;
  ++queue->count;
  queue->last_is_call = run == call_task;
}

static void push(Queue *queue, void (*run)(void *), void *argument) {
  pthread_mutex_lock(&queue->lock);
  if (queue->pending != NULL) append(queue, wait_task, queue->pending);
  queue->pending = NULL;
  append(queue, run, argument);
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
}

static uint64_t end_of(Queue *queue) {
  pthread_mutex_lock(&queue->lock);
  uint64_t count = queue->count;
  pthread_mutex_unlock(&queue->lock);
  return count;
}

static int is_done(Queue *queue, uint64_t position) {
  pthread_mutex_lock(&queue->lock);
  int is_done = queue->done >= position;
  pthread_mutex_unlock(&queue->lock);
  return is_done;
}

static void wait_for(Queue *queue, uint64_t position) {
  pthread_mutex_lock(&queue->lock);
  while (queue->done < position) pthread_cond_wait(&queue->changed, &queue->lock);
  pthread_mutex_unlock(&queue->lock);
}

void enqueue_on(SP_Stream stream, void (*run)(void *), void *argument) { push((Queue *)stream, run, argument); }

void drain(SP_Stream stream) { wait_for((Queue *)stream, end_of((Queue *)stream)); }

static void create_stream(const SP_Device *device, SP_Stream *out, TF_Status *status) {
  Queue *queue = calloc(1, sizeof *queue);
  queue->last = &queue->first;
  queue->device = device->device_handle;
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->changed, NULL);
  pthread_create(&queue->thread, NULL, serve, queue);
  pthread_mutex_lock(&queues_lock);
  queue->next = queues;
  queues = queue;
  pthread_mutex_unlock(&queues_lock);
  *out = (SP_Stream)queue;
  ok(status);
}

static void destroy_stream(const SP_Device *device, SP_Stream stream) {
  Queue *queue = (Queue *)stream;
  pthread_mutex_lock(&queues_lock);
  Queue **at = &queues;
  while (*at != queue) at = &(*at)->next;
  *at = queue->next;
  pthread_mutex_unlock(&queues_lock);
  pthread_mutex_lock(&queue->lock);
  queue->ends = 1;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  pthread_join(queue->thread, NULL);
  pthread_mutex_destroy(&queue->lock);
  pthread_cond_destroy(&queue->changed);
  free(queue);
}

// Fences: completed on the thread of a queue, shared by events and by the queues that wait.

struct Fence {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int is_complete, users;
};

static Fence *create_fence(int users) {
  Fence *fence = calloc(1, sizeof *fence);
  pthread_mutex_init(&fence->lock, NULL);
  pthread_cond_init(&fence->changed, NULL);
  fence->users = users;
  return fence;
}

static void leave(Fence *fence) {
  pthread_mutex_lock(&fence->lock);
  int users = --fence->users;
  pthread_mutex_unlock(&fence->lock);
  if (users > 0) return;
  pthread_mutex_destroy(&fence->lock);
  pthread_cond_destroy(&fence->changed);
  free(fence);
}

static Fence *join(Fence *fence) {
  pthread_mutex_lock(&fence->lock);
  ++fence->users;
  pthread_mutex_unlock(&fence->lock);
  return fence;
}

static void block_on(Fence *fence) {
  pthread_mutex_lock(&fence->lock);
  while (!fence->is_complete) pthread_cond_wait(&fence->changed, &fence->lock);
  pthread_mutex_unlock(&fence->lock);
}

static void complete_task(void *argument) {
  Fence *fence = argument;
  pthread_mutex_lock(&fence->lock);
  fence->is_complete = 1;
  pthread_cond_broadcast(&fence->changed);
  pthread_mutex_unlock(&fence->lock);
  leave(fence);
}

static void wait_task(void *argument) {
  block_on(argument);
  leave(argument);
}

static void depend(const SP_Device *device, SP_Stream dependent, SP_Stream other, TF_Status *status) {
  ok(status);
#if defined(LOST_DEPENDENCY)
  return;
#endif
#if defined(LOST_PEER_DEPENDENCY)
  if (((Queue *)dependent)->device != ((Queue *)other)->device) return;
#endif
  Fence *fence = create_fence(2);
  push((Queue *)other, complete_task, fence);
#if defined(ONE_DEPENDENCY)
  // The next task waits, and only for the last one.
  Queue *queue = (Queue *)dependent;
  pthread_mutex_lock(&queue->lock);
  Fence *former = queue->pending;
  queue->pending = fence;
  pthread_mutex_unlock(&queue->lock);
  if (former != NULL) leave(former);
#else
  push((Queue *)dependent, wait_task, fence);
#endif
}

static void stream_status(const SP_Device *device, SP_Stream stream, TF_Status *status) {
  ok(status);
#if !defined(STATUS_HIDDEN)
  if (((Queue *)stream)->has_failed) TF_SetStatus(status, TF_INTERNAL, "the stream has failed");
#endif
#if defined(STATUS_CLEARED)
  ((Queue *)stream)->has_failed = 0;
#endif
}

// An event is the fence of its last record.

typedef struct { pthread_mutex_t lock; Fence *fence; } Event;

static void create_event(const SP_Device *device, SP_Event *out, TF_Status *status) {
  Event *event = calloc(1, sizeof *event);
  pthread_mutex_init(&event->lock, NULL);
  *out = (SP_Event)event;
  ok(status);
}

static void destroy_event(const SP_Device *device, SP_Event event) {
  Fence *fence = ((Event *)event)->fence;
  if (fence != NULL) leave(fence);
  pthread_mutex_destroy(&((Event *)event)->lock);
  free(event);
}

static void record(const SP_Device *device, SP_Stream stream, SP_Event out, TF_Status *status) {
  Event *event = (Event *)out;
  ok(status);
#if defined(EVENT_ONCE)
  if (event->fence != NULL) return;
#endif
  Fence *fence = create_fence(2);
#if defined(EVENT_EARLY)
  // A callback does not count as work.
  pthread_mutex_lock(&((Queue *)stream)->lock);
  fence->is_complete = ((Queue *)stream)->last_is_call;
  pthread_mutex_unlock(&((Queue *)stream)->lock);
#endif
  push((Queue *)stream, complete_task, fence);
  pthread_mutex_lock(&event->lock);
  if (event->fence != NULL) leave(event->fence);
  event->fence = fence;
  pthread_mutex_unlock(&event->lock);
}

// Returns the fence, which the caller leaves, or NULL.
static Fence *fence_of(SP_Event out) {
  Event *event = (Event *)out;
  pthread_mutex_lock(&event->lock);
  Fence *fence = event->fence == NULL ? NULL : join(event->fence);
  pthread_mutex_unlock(&event->lock);
  return fence;
}

#if defined(LATE_COPY)
static int events_fail;
#endif

static SE_EventStatus event_status(const SP_Device *device, SP_Event event) {
#if defined(LATE_COPY)
  if (events_fail) return SE_EVENT_ERROR;
#endif
  Fence *fence = fence_of(event);
  if (fence == NULL) return SE_EVENT_COMPLETE;
  pthread_mutex_lock(&fence->lock);
  int is_complete = fence->is_complete;
  pthread_mutex_unlock(&fence->lock);
  leave(fence);
  return is_complete ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
}

static void wait_for_event(const SP_Device *device, SP_Stream stream, SP_Event event, TF_Status *status) {
  ok(status);
#if !defined(LOST_WAIT)
  Fence *fence = fence_of(event);
  if (fence != NULL) push((Queue *)stream, wait_task, fence);
#endif
}

static void block_for_event(const SP_Device *device, SP_Event event, TF_Status *status) {
  ok(status);
#if !defined(EVENT_NO_BLOCK)
  Fence *fence = fence_of(event);
  if (fence == NULL) return;
  block_on(fence);
  leave(fence);
#endif
}

static void block_until_done(const SP_Device *device, SP_Stream stream, TF_Status *status) {
#if !defined(BLOCK_EARLY)
  drain(stream);
#endif
  ok(status);
  if (((Queue *)stream)->has_failed) TF_SetStatus(status, TF_INTERNAL, "the stream has failed");
}

static void synchronize(const SP_Device *device, TF_Status *status) {
  struct { Queue *queue; uint64_t end; } pending[256];
  int count = 0;
  pthread_mutex_lock(&queues_lock);
  for (Queue *queue = queues; queue != NULL && count < 256; queue = queue->next) {
    if (queue->device != device->device_handle) continue;
    pending[count].queue = queue;
    pending[count++].end = end_of(queue);
  }
  pthread_mutex_unlock(&queues_lock);
#if defined(SYNCHRONIZE_ONE)
  if (count > 1) count = 1;
#endif
  for (int i = 0; i < count; ++i) wait_for(pending[i].queue, pending[i].end);
  ok(status);
}

// Timers.

static void stamp_task(void *argument) { *(uint64_t *)argument = now(); }

static void start_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  push((Queue *)stream, stamp_task, (uint64_t *)timer);
  ok(status);
}
static void stop_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer, TF_Status *status) {
  push((Queue *)stream, stamp_task, (uint64_t *)timer + 1);
  ok(status);
}

// Host callbacks.

typedef struct {
  Queue *queue;
  SE_StatusCallbackFn callback;
  void *argument;
} Call;

static void call_task(void *argument) {
  Call *call = argument;
  TF_Status *status = TF_NewStatus();
  call->callback(call->argument, status);
  if (TF_GetCode(status) != TF_OK) call->queue->has_failed = 1;
  TF_DeleteStatus(status);
  free(call);
}

#if defined(CALLBACK_AHEAD)
static void *detached_call(void *argument) {
  call_task(argument);
  return NULL;
}
static void call_elsewhere_task(void *argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, detached_call, argument);
  pthread_detach(thread);
}
#endif

static uint8_t host_callback(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn callback,
                             void *argument) {
  Call *call = malloc(sizeof *call);
  *call = (Call){(Queue *)stream, callback, argument};
#if defined(CALLBACK_EARLY)
  call_task(call);
#elif defined(CALLBACK_AHEAD)
  push((Queue *)stream, call_elsewhere_task, call);
#else
  push((Queue *)stream, call_task, call);
#endif
  return 1;
}

// Copies and fills.

typedef struct {
  char *to;
  const char *from;
  uint64_t size;
  uint32_t pattern;
} Copy;

static void copy_task(void *argument) {
  Copy *copy = argument;
#if defined(CALLBACK_EARLY)
  usleep(1000);
#endif
  memmove(copy->to, copy->from, copy->size);
  free(copy);
}

static void fill_task(void *argument) {
  Copy *copy = argument;
  for (uint64_t i = 0; i < copy->size; ++i) copy->to[i] = ((char *)&copy->pattern)[i % 4];
  free(copy);
}

static void push_copy(SP_Stream stream, void (*run)(void *), Copy copy, TF_Status *status) {
  Copy *argument = malloc(sizeof *argument);
  *argument = copy;
#if defined(SMALL_AHEAD)
  if (copy.size < 4096) run(argument);
  else
#endif
  push((Queue *)stream, run, argument);
  ok(status);
}

#if defined(LATE_COPY)
// A copy that runs after its event has failed. It requires the bytes that the host has filled its memory with.
static void late_copy_task(void *argument) {
  Copy *copy = argument;
  usleep(50000);
  for (uint64_t i = 0; i < copy->size; ++i)
    if (copy->to[i] != (char)0xa5) abort();
  copy_task(argument);
}
#define copy_out_task late_copy_task
#else
#define copy_out_task copy_task
#endif

static void dtoh(const SP_Device *device, SP_Stream stream, void *to, const SP_DeviceMemoryBase *from,
                 uint64_t size, TF_Status *status) {
#if defined(LATE_COPY)
  events_fail = 1;
#endif
  push_copy(stream, copy_out_task, (Copy){to, from->opaque, size, 0}, status);
}
static void htod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to, const void *from,
                 uint64_t size, TF_Status *status) {
  push_copy(stream, copy_task, (Copy){to->opaque, from, size, 0}, status);
}
static void dtod(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to,
                 const SP_DeviceMemoryBase *from, uint64_t size, TF_Status *status) {
  push_copy(stream, copy_task, (Copy){to->opaque, from->opaque, size, 0}, status);
}

// Synchronous copies have a queue of their own, for all devices.
static SP_Stream transfers;
static pthread_once_t transfers_once = PTHREAD_ONCE_INIT;

static void create_transfers(void) {
  static SP_Device no_device;
  TF_Status *status = TF_NewStatus();
  create_stream(&no_device, &transfers, status);
  TF_DeleteStatus(status);
}

static void sync_copy(void *to, const void *from, uint64_t size, TF_Status *status) {
  pthread_once(&transfers_once, create_transfers);
  push_copy(transfers, copy_task, (Copy){to, from, size, 0}, status);
  drain(transfers);
}

#if defined(READ_EARLY) || defined(LATE_SOURCE)
// An engine that copies beside the processor, which is not waited for.
static void engine_task(void *copy) {
  usleep(20000);
  copy_task(copy);
}

static void copy_behind(void *to, const void *from, uint64_t size, TF_Status *status) {
  pthread_once(&transfers_once, create_transfers);
  push_copy(transfers, engine_task, (Copy){to, from, size, 0}, status);
}
#endif

static void sync_dtoh(const SP_Device *device, void *to, const SP_DeviceMemoryBase *from, uint64_t size,
                      TF_Status *status) {
#if defined(READ_EARLY)
  if (size != 4 << 20) return sync_copy(to, from->opaque, size, status);
  copy_behind(to, from->opaque, size, status);
#else
  sync_copy(to, from->opaque, size, status);
#endif
}
static void sync_htod(const SP_Device *device, SP_DeviceMemoryBase *to, const void *from, uint64_t size,
                      TF_Status *status) {
#if defined(LATE_SOURCE)
  if (size != 4 << 20) return sync_copy(to->opaque, from, size, status);
  copy_behind(to->opaque, from, size, status);
#else
  sync_copy(to->opaque, from, size, status);
#endif
}
static void sync_dtod(const SP_Device *device, SP_DeviceMemoryBase *to, const SP_DeviceMemoryBase *from,
                      uint64_t size, TF_Status *status) {
  sync_copy(to->opaque, from->opaque, size, status);
}

#if defined(HAS_SP_StreamExecutor_mem_zero)
static void mem_zero(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint64_t size,
                     TF_Status *status) {
  push_copy(stream, fill_task, (Copy){at->opaque, NULL, size, 0}, status);
}
static void mem_set(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint8_t pattern,
                    uint64_t size, TF_Status *status) {
  push_copy(stream, fill_task, (Copy){at->opaque, NULL, size, pattern * 0x01010101u}, status);
}
static void mem_set32(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *at, uint32_t pattern,
                      uint64_t size, TF_Status *status) {
  push_copy(stream, fill_task, (Copy){at->opaque, NULL, size, pattern}, status);
}
#endif

// Memory is freed when every queue has done the work that was enqueued before.

typedef struct { void *memory; int users; } Ticket;

static void leave_task(void *argument) {
  Ticket *ticket = argument;
  if (__atomic_sub_fetch(&ticket->users, 1, __ATOMIC_ACQ_REL) > 0) return;
  give(ticket->memory);
  free(ticket);
}

static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory) {
  if (memory->opaque == NULL) return;
  count_freed(memory->opaque);
#if defined(EARLY_REUSE)
  give(memory->opaque);
#else
  Ticket *ticket = malloc(sizeof *ticket);
  *ticket = (Ticket){memory->opaque, 1};
  pthread_mutex_lock(&queues_lock);
  for (Queue *queue = queues; queue != NULL; queue = queue->next) {
    if (is_done(queue, end_of(queue))) continue;
    __atomic_add_fetch(&ticket->users, 1, __ATOMIC_ACQ_REL);
    push(queue, leave_task, ticket);
  }
  pthread_mutex_unlock(&queues_lock);
  leave_task(ticket);
#endif
}

void set_queue_slots(SP_StreamExecutor *table) {
  table->deallocate = deallocate;
  table->create_stream = create_stream;
  table->destroy_stream = destroy_stream;
  table->create_stream_dependency = depend;
  table->get_stream_status = stream_status;
  table->create_event = create_event;
  table->destroy_event = destroy_event;
  table->get_event_status = event_status;
  table->record_event = record;
  table->wait_for_event = wait_for_event;
  table->start_timer = start_timer;
  table->stop_timer = stop_timer;
  table->memcpy_dtoh = dtoh;
  table->memcpy_htod = htod;
  table->memcpy_dtod = dtod;
  table->sync_memcpy_dtoh = sync_dtoh;
  table->sync_memcpy_htod = sync_htod;
  table->sync_memcpy_dtod = sync_dtod;
  table->block_host_for_event = block_for_event;
  table->block_host_until_done = block_until_done;
  table->synchronize_all_activity = synchronize;
#if defined(HAS_SP_StreamExecutor_mem_zero)
  table->mem_zero = mem_zero;
  table->memset = mem_set;
  table->memset32 = mem_set32;
#endif
  table->host_callback = host_callback;
#if defined(HAS_SP_StreamExecutor_create_stream_with_options)
  table->create_stream_with_options = NULL;
#endif
}
#endif
