/* ---- TF_InitGraph: a host that cannot be served gets its graphs back as they are ----------- */

static inline void sp_free_graph(void* data, size_t length) {
  (void)length;
  free(data);
}

static inline void sp_same_graph(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                                 TF_Buffer* optimized, TF_Status* status) {
  void* copy = malloc(graph->length + 1);
  (void)optimizer, (void)item;
  if (copy == NULL) {
    sp_fail(status, SP_RESOURCE_EXHAUSTED, "no memory for a graph");
    return;
  }
  memcpy(copy, graph->data, graph->length);
  optimized->data = copy;
  optimized->length = graph->length;
  optimized->data_deallocator = sp_free_graph;
}

static inline void sp_same_graph_v2_5(void* optimizer, TF_Buffer* graph, TF_Buffer* optimized, TF_Status* status) {
  sp_same_graph(optimizer, graph, NULL, optimized, status);
}

/** Comes first in TF_InitGraph: decides what host this is. False where it cannot be served; it then has
 * been declined, with an optimizer that gives back what it gets and a line on stderr, and TF_InitGraph
 * returns. The type is as in TP_OptimizerRegistrationParams. */
static inline bool sp_enter_TF_InitGraph(TP_OptimizerRegistrationParams* params, const char* type) {
  typedef void newer_type(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status*);
  typedef void older_type(void*, TF_Buffer*, TF_Buffer*, TF_Status*);
  newer_type* const newer = sp_same_graph;
  older_type* const older = sp_same_graph_v2_5;
  const sp_releases of_older = {205, 205};
  TP_Optimizer* optimizer = NULL;
  TP_OptimizerConfigs* configs = NULL;
  sp_name_plugin(type);
  SP_GET_FIXED(TP_OptimizerRegistrationParams, optimizer, params, &optimizer);
  SP_GET_FIXED(TP_OptimizerRegistrationParams, optimizer_configs, params, &configs);
  const sp_clue clues[] = {
      sp_clue_TP_OptimizerRegistrationParams(params),
      sp_clue_TP_Optimizer(optimizer),
      sp_clue_TP_OptimizerConfigs(configs),
  };
  if (sp_refused("graph optimizer", clues, sizeof clues / sizeof *clues) == NULL) return true;
  if (sp_is_too_old()) return false;
  SP_SET_FIXED(TP_OptimizerRegistrationParams, device_type, params, type);
  sp_stuff(optimizer);
  const size_t place = sp_fixed_TP_Optimizer_optimize_func(optimizer);
  if (sp_is(of_older) == 1) {
    sp_write(optimizer, place, &older, sizeof older);
  } else {
    sp_write(optimizer, place, &newer, sizeof newer);
  }
  return false;
}
