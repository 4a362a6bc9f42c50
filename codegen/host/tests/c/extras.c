// The other parts of the test plugin: an op with a shape function, a graph optimizer, a profiler.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tensorflow.h"

#include "calls.h"

static void ok(TF_Status *status) { TF_SetStatus(status, TF_OK, ""); }

// An op that keeps its input's first dimension.

static void shape(TF_ShapeInferenceContext *ctx, TF_Status *status) {
#if defined(SHAPE_CRASH)
  abort();
#endif
  TF_ShapeHandle *input = TF_NewShapeHandle();
  TF_ShapeHandle *vector = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, input, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextWithRankAtLeast(ctx, input, 1, vector, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSubshape(ctx, vector, 0, 1, vector, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, vector, status);
#if defined(SHAPE_TWICE)
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, vector, status);
#endif
  TF_DeleteShapeHandle(input);
#if !defined(SHAPE_LEAK)
  TF_DeleteShapeHandle(vector);
#endif
}

__attribute__((constructor)) static void define(void) {
  TF_Status *status = TF_NewStatus();
  TF_OpDefinitionBuilder *op = TF_NewOpDefinitionBuilder("TestFirst");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, int32} = DT_FLOAT");
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddOutput(op, "first: int64");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
  TF_RegisterOpDefinition(op, status);
#if defined(OP_OF_CORE)
  TF_RegisterOpDefinition(TF_NewOpDefinitionBuilder("MatMul"), status);
#endif
  TF_DeleteStatus(status);
}

// A graph optimizer that gives back what it is given.

static void release(void *data, size_t length) { free(data); }

static void copy(const TF_Buffer *from, TF_Buffer *to) {
  void *data = malloc(from->length + 1);
  memcpy(data, from->data, from->length);
  to->data = data;
  to->length = from->length;
  to->data_deallocator = release;
}

static void *create(void) { return calloc(1, 64); }
static void destroy(void *optimizer) { free(optimizer); }

#if SP_MINOR == 5
static void optimize(void *optimizer, TF_Buffer *graph, TF_Buffer *out, TF_Status *status) {
#else
static void optimize(void *optimizer, const TF_Buffer *graph, const TF_GrapplerItem *item, TF_Buffer *out,
                     TF_Status *status) {
#if defined(USES_ENDED_CONTEXT)
  if (ended_context != NULL) TF_NumInputs(ended_context);
#endif
  int count = 0;
  size_t bytes = 0;
  TF_GetNodesToPreserveListSize(item, &count, &bytes, status);
  TF_GraphProperties *properties = TF_NewGraphProperties(item);
  TF_InferStatically(properties, 1, 0, 0, 0, status);
  int outputs = 0;
  TF_GetOutputPropertiesListSize(properties, "y", &outputs, status);
#if !defined(LEAK_PROPERTIES)
  TF_DeleteGraphProperties(properties);
#endif
  // The graph of the host's own check has one; what TensorFlow traces has none.
  int known = memmem(graph->data, graph->length, "Placeholder", 11) != NULL;
  if (known && (count != 1 || bytes != 1 || outputs != 1)) {
    TF_SetStatus(status, TF_INTERNAL, "another graph was expected");
    return;
  }
#endif
#if defined(GRAPH_IN_PLACE)
  ((char *)graph->data)[0] ^= 1;
#endif
#if !defined(GRAPH_EMPTY)
  copy(graph, out);
#endif
#if defined(GRAPH_DROPS)
  // Of four nodes the first stays.
  out->length = 2 + ((const unsigned char *)graph->data)[1];
#endif
#if defined(GRAPH_BROKEN)
  out->length -= 1;
#endif
#if defined(GRAPH_FAILS)
  TF_SetStatus(status, TF_INTERNAL, "no such graph");
#else
  ok(status);
#endif
}

void TF_InitGraph(TP_OptimizerRegistrationParams *params, TF_Status *status) {
  params->struct_size = TP_OptimizerRegistrationParams_SIZE;
  params->device_type = "TEST";
  params->optimizer->struct_size = TP_Optimizer_SIZE;
  params->optimizer->create_func = create;
#if !defined(NO_OPTIMIZE)
  params->optimizer->optimize_func = optimize;
#endif
  params->optimizer->destroy_func = destroy;
  params->optimizer_configs->struct_size = TP_OptimizerConfigs_SIZE;
  params->optimizer_configs->remapping = TF_TriState_Off;
#if defined(GRAPH_VERSION)
  params->minor_version = 9;
#endif
#if defined(GRAPH_EXT)
  params->optimizer->ext = params;
#endif
#if defined(BAD_SWITCH)
  params->optimizer_configs->remapping = (TF_TriState)7;
#endif
#if defined(OMIT_TP_OptimizerRegistrationParams)
  params->OMIT_TP_OptimizerRegistrationParams = 0;
#endif
#if defined(OMIT_TP_Optimizer)
  params->optimizer->OMIT_TP_Optimizer = 0;
#endif
#if defined(OMIT_TP_OptimizerConfigs)
  params->optimizer_configs->OMIT_TP_OptimizerConfigs = 0;
#endif
#if defined(GRAPH_REFUSES)
  TF_SetStatus(status, TF_INTERNAL, "no graphs today");
#else
  ok(status);
#endif
}

// A profiler that records calls of kernels.

#if SP_MINOR >= 7
static int sessions, is_recording;
static char *type;

// The calls of this session. Later ones are not recorded.
#define MAX_CALLS 1000000
static int64_t calls;

#if defined(PROFILER_WAITS)
static int64_t last_call;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

void record_call(void) {
#if defined(PROFILER_WAITS)
  __atomic_store_n(&last_call, now(), __ATOMIC_RELAXED);
#endif
#if defined(PROFILER_BLOCKS)
  // Waits for the end of the session, but not on the thread that stops it.
  while (syscall(SYS_gettid) != getpid() && __atomic_load_n(&is_recording, __ATOMIC_ACQUIRE)) usleep(100);
#endif
  if (!__atomic_load_n(&is_recording, __ATOMIC_ACQUIRE)) return;
  if (__atomic_load_n(&calls, __ATOMIC_RELAXED) >= MAX_CALLS) return;
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
#if defined(PROFILER_HOARDS)
  static void *hoard;
  void **record = malloc(16384);
  *record = hoard;
  hoard = record;
#endif
}

static void start(const TP_Profiler *profiler, TF_Status *status) {
  ++sessions;
#if defined(PROFILER_MARKS)
  ((TP_Profiler *)profiler)->ext = &sessions;
#endif
#if defined(PROFILER_FAILS)
  TF_SetStatus(status, TF_INTERNAL, "no session today");
  return;
#endif
#if defined(PROFILER_ONCE)
  if (sessions > 1) {
    TF_SetStatus(status, TF_INTERNAL, "started already");
    return;
  }
#endif
#if defined(PROFILER_LEAKS)
  static void *volatile lost;
  lost = malloc(100);
  (void)lost;
#endif
#if defined(PROFILER_WAITS)
  // Waits for a second without a call.
  while (now() - __atomic_load_n(&last_call, __ATOMIC_RELAXED) < 1000000000) usleep(1000);
#endif
  __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&is_recording, 1, __ATOMIC_RELEASE);
  ok(status);
}
static void stop(const TP_Profiler *profiler, TF_Status *status) {
#if !defined(PROFILER_RECORDS_ON)
  __atomic_store_n(&is_recording, 0, __ATOMIC_RELEASE);
#endif
  ok(status);
}

static uint8_t *varint(uint8_t *to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = (uint8_t)(value | 0x80);
  *to++ = (uint8_t)value;
  return to;
}

// Writes a plane of no name, which has a line with an empty event for each call. Returns the size.
static size_t write_space(uint8_t *space, int64_t events) {
  uint8_t line[16], *end = line, *to = space;
  if (events > 0) {
    *end++ = 0x1a;
    end = varint(end, 2 * (uint64_t)events);
  }
  *to++ = 0x0a;
  to = varint(to, (uint64_t)(end - line) + 2 * (uint64_t)events);
  memcpy(to, line, (size_t)(end - line));
  to += end - line;
  for (int64_t i = 0; i < events; ++i) {
    *to++ = 0x22;
    *to++ = 0;
  }
  return (size_t)(to - space);
}

static void collect(const TP_Profiler *profiler, uint8_t *buffer, size_t *size, TF_Status *status) {
  int64_t events = __atomic_load_n(&calls, __ATOMIC_RELAXED);
  int is_empty = sessions == 0;
#if defined(NO_DEVICE) && !defined(PROFILER_PHANTOM)
  is_empty = 1;
#endif
#if defined(PROFILER_EAGER)
  is_empty = 0;
#endif
#if defined(PROFILER_PHANTOM)
  ++events;
#endif
  uint8_t *space = malloc(32 + 2 * (size_t)events);
  size_t length = is_empty ? 0 : write_space(space, events);
#if defined(PROFILER_NOISE)
  space[1] = 9;
#endif
  ok(status);
  if (buffer == NULL) {
#if !defined(PROFILER_NO_SIZE)
    *size = length;
#endif
#if !defined(PROFILER_TRUSTS) && !defined(PROFILER_RECORDS_ON)
  } else if (*size < length) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "the buffer is too small");
#endif
  } else {
    memcpy(buffer, space, length);
    *size = length;
#if defined(PROFILER_LONG)
    buffer[length] = 0;
#endif
  }
  free(space);
}

static void destroy_profiler(TP_Profiler *profiler) {
#if defined(PROFILER_FREES)
  memset(type, 0, 5);
#endif
}
static void destroy_profiler_fns(TP_ProfilerFns *functions) {}

void TF_InitProfiler(TF_ProfilerRegistrationParams *params, TF_Status *status) {
  type = strdup("TEST");
  params->struct_size = TF_ProfilerRegistrationParams_SIZE;
  params->profiler->struct_size = TP_Profiler_SIZE;
  params->profiler->device_type = type;
#if defined(PROFILER_TYPE)
  params->profiler->device_type = "test/1";
#endif
  params->profiler_fns->struct_size = TP_ProfilerFns_SIZE;
  params->profiler_fns->start = start;
#if !defined(NO_STOP)
  params->profiler_fns->stop = stop;
#endif
  params->profiler_fns->collect_data_xspace = collect;
  params->destroy_profiler = destroy_profiler;
  params->destroy_profiler_fns = destroy_profiler_fns;
#if defined(PROFILER_EXT)
  params->profiler_fns->ext = params;
#endif
#if defined(FREE_EXT)
  params->profiler->ext = &sessions;
#endif
#if defined(OMIT_TF_ProfilerRegistrationParams)
  params->OMIT_TF_ProfilerRegistrationParams = 0;
#endif
#if defined(OMIT_TP_Profiler)
  params->profiler->OMIT_TP_Profiler = 0;
#endif
#if defined(OMIT_TP_ProfilerFns)
  params->profiler_fns->OMIT_TP_ProfilerFns = 0;
#endif
#if defined(PROFILER_REFUSES)
  TF_SetStatus(status, TF_INTERNAL, "no profiles today");
#else
  ok(status);
#endif
}
#else
void record_call(void) {}
#endif
