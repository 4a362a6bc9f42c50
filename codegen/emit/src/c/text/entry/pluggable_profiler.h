/* ---- TF_InitProfiler: a declined host gets an empty profile -------------------------------- */

static inline void spgen_stub_destroy_profiler(TP_Profiler* profiler) { (void)profiler; }
static inline void spgen_stub_destroy_profiler_fns(TP_ProfilerFns* profiler_fns) { (void)profiler_fns; }
static inline void spgen_stub_start_or_stop(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler, (void)status;
}
static inline void spgen_stub_collect_data(const TP_Profiler* profiler, uint8_t* buffer, size_t* size_in_bytes,
                                           TF_Status* status) {
  (void)profiler, (void)buffer, (void)status;
  *size_in_bytes = 0;
}

/** Decides about the host; to be called first in TF_InitProfiler. If it returns false, the host is declined,
 * with an empty profile and a line on stderr, and TF_InitProfiler must return. The type is that of
 * TP_Profiler. */
static inline bool spgen_accept_TF_InitProfiler(TF_ProfilerRegistrationParams* params, const char* type) {
  TP_Profiler* profiler = NULL;
  TP_ProfilerFns* fns = NULL;
  spgen_set_plugin_name(type);
  SPGEN_GET_FIXED(TF_ProfilerRegistrationParams, profiler, params, &profiler);
  SPGEN_GET_FIXED(TF_ProfilerRegistrationParams, profiler_fns, params, &fns);
  const spgen_size_evidence evidence[] = {
      spgen_evaluate_size_TF_ProfilerRegistrationParams(params),
      spgen_evaluate_size_TP_Profiler(profiler),
      spgen_evaluate_size_TP_ProfilerFns(fns),
  };
  if (spgen_decline_reason("profiler", evidence, sizeof evidence / sizeof *evidence) == NULL) return true;
  if (spgen_is_host_too_old()) return false;
  SPGEN_SET_FIXED(TF_ProfilerRegistrationParams, destroy_profiler, params, spgen_stub_destroy_profiler);
  SPGEN_SET_FIXED(TF_ProfilerRegistrationParams, destroy_profiler_fns, params, spgen_stub_destroy_profiler_fns);
  SPGEN_SET_FIXED(TP_Profiler, device_type, profiler, type);
  spgen_fill_with_stubs(fns);
  SPGEN_SET_FIXED(TP_ProfilerFns, start, fns, spgen_stub_start_or_stop);
  SPGEN_SET_FIXED(TP_ProfilerFns, stop, fns, spgen_stub_start_or_stop);
  SPGEN_SET_FIXED(TP_ProfilerFns, collect_data_xspace, fns, spgen_stub_collect_data);
  return false;
}
