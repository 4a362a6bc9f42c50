// A graph optimizer as a vendor writes one: against the headers of one release. It copies the graph,
// and switches core's own layout optimizer off.
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/experimental/grappler/grappler.h"

static void release(void *data, size_t length) { free(data); }

static void copy(const TF_Buffer *from, TF_Buffer *to, TF_Status *status) {
  void *data = malloc(from->length + 1);
  memcpy(data, from->data, from->length);
  to->data = data;
  to->length = from->length;
  to->data_deallocator = release;
  TF_SetStatus(status, TF_OK, "");
}

#if BUILT == 5
static void optimize(void *optimizer, TF_Buffer *graph, TF_Buffer *out, TF_Status *status) {
#else
static void optimize(void *optimizer, const TF_Buffer *graph, const TF_GrapplerItem *item, TF_Buffer *out,
                     TF_Status *status) {
#endif
  copy(graph, out, status);
}

void TF_InitGraph(TP_OptimizerRegistrationParams *params, TF_Status *status) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = "VENDOR";
  *params->optimizer = (TP_Optimizer){.struct_size = TP_OPTIMIZER_STRUCT_SIZE, .optimize_func = optimize};
  *params->optimizer_configs = (TP_OptimizerConfigs){
      .struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE,
      .layout_optimizer = TF_TriState_Off,
  };
  TF_SetStatus(status, TF_OK, "");
}

void register_more(void) {}
