// The other parts of the test plugin: an op with a shape function, a graph optimizer, a profiler.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "tensorflow.h"

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

// A profiler that has nothing to tell.

#if SP_MINOR >= 7
static int sessions;
static char *type;

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
  ok(status);
}
static void stop(const TP_Profiler *profiler, TF_Status *status) { ok(status); }

// An XSpace with one plane of no name.
static void collect(const TP_Profiler *profiler, uint8_t *buffer, size_t *size, TF_Status *status) {
  static const uint8_t space[2] = {0x0a, 0};
#if defined(PROFILER_NO_SIZE)
  ok(status);
  if (buffer == NULL) return;
#endif
#if defined(PROFILER_EAGER)
  *size = sizeof space;
#else
  *size = sessions > 0 ? sizeof space : 0;
#endif
  if (buffer != NULL) {
    memcpy(buffer, space, *size);
#if defined(PROFILER_LONG)
    buffer[*size] = 0;
#endif
#if defined(PROFILER_NOISE)
    buffer[1] = 9;
#endif
  }
  ok(status);
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
#endif
