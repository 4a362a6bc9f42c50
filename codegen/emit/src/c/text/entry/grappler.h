/* ---- TF_InitGraph: a declined host gets an optimizer that returns its graphs unchanged ----- */

static inline void spgen_free_graph(void* data, size_t length) {
  (void)length;
  free(data);
}

static inline void spgen_copy_graph(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                                    TF_Buffer* optimized, TF_Status* status) {
  void* copy = malloc(graph->length + 1);
  (void)optimizer, (void)item;
  if (copy == NULL) {
    spgen_set_status(status, SPGEN_RESOURCE_EXHAUSTED, "out of memory for the copy of a graph");
    return;
  }
  memcpy(copy, graph->data, graph->length);
  optimized->data = copy;
  optimized->length = graph->length;
  optimized->data_deallocator = spgen_free_graph;
}

static inline void spgen_copy_graph_v2_5(void* optimizer, TF_Buffer* graph, TF_Buffer* optimized,
                                         TF_Status* status) {
  spgen_copy_graph(optimizer, graph, NULL, optimized, status);
}

/** Decides about the host; to be called first in TF_InitGraph. If it returns false, the host is declined, with
 * an optimizer that returns its graphs unchanged and a line on stderr, and TF_InitGraph must return. The type
 * is that of TP_OptimizerRegistrationParams. */
static inline bool spgen_accept_TF_InitGraph(TP_OptimizerRegistrationParams* params, const char* type) {
  typedef void newer_type(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status*);
  typedef void older_type(void*, TF_Buffer*, TF_Buffer*, TF_Status*);
  newer_type* const newer = spgen_copy_graph;
  older_type* const older = spgen_copy_graph_v2_5;
  const spgen_releases older_releases = {SPGEN_RELEASE(2, 5), SPGEN_RELEASE(2, 5)};
  TP_Optimizer* optimizer = NULL;
  TP_OptimizerConfigs* configs = NULL;
  spgen_set_plugin_name(type);
  SPGEN_GET_FIXED(TP_OptimizerRegistrationParams, optimizer, params, &optimizer);
  SPGEN_GET_FIXED(TP_OptimizerRegistrationParams, optimizer_configs, params, &configs);
  const spgen_size_evidence evidence[] = {
      spgen_evaluate_size_TP_OptimizerRegistrationParams(params),
      spgen_evaluate_size_TP_Optimizer(optimizer),
      spgen_evaluate_size_TP_OptimizerConfigs(configs),
  };
  if (spgen_decline_reason("graph optimizer", evidence, sizeof evidence / sizeof *evidence) == NULL) return true;
  if (spgen_is_host_too_old()) return false;
  SPGEN_SET_FIXED(TP_OptimizerRegistrationParams, device_type, params, type);
  spgen_fill_with_stubs(optimizer);
  const size_t offset = spgen_fixed_offset_TP_Optimizer_optimize_func(optimizer);
  if (spgen_is_host_in(older_releases) == 1) {
    spgen_write(optimizer, offset, &older, sizeof older);
  } else {
    spgen_write(optimizer, offset, &newer, sizeof newer);
  }
  return false;
}
