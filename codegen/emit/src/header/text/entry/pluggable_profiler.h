/* ---- TF_InitProfiler: a host that cannot be served gets an empty profile ------------------- */

static inline void sp_no_profiler(TP_Profiler* profiler) { (void)profiler; }
static inline void sp_no_profiler_fns(TP_ProfilerFns* profiler_fns) { (void)profiler_fns; }
static inline void sp_no_recording(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler, (void)status;
}
static inline void sp_no_profile(const TP_Profiler* profiler, uint8_t* buffer, size_t* size_in_bytes,
                                 TF_Status* status) {
  (void)profiler, (void)buffer, (void)status;
  *size_in_bytes = 0;
}

/** Comes first in TF_InitProfiler: decides what host this is. False where it cannot be served; it then
 * has been declined, with an empty profile and a line on stderr, and TF_InitProfiler returns. The type is
 * as in TP_Profiler. */
static inline bool sp_enter_TF_InitProfiler(TF_ProfilerRegistrationParams* params, const char* type) {
  TP_Profiler* profiler = NULL;
  TP_ProfilerFns* fns = NULL;
  sp_name_plugin(type);
  SP_GET_FIXED(TF_ProfilerRegistrationParams, profiler, params, &profiler);
  SP_GET_FIXED(TF_ProfilerRegistrationParams, profiler_fns, params, &fns);
  const sp_clue clues[] = {
      sp_clue_TF_ProfilerRegistrationParams(params),
      sp_clue_TP_Profiler(profiler),
      sp_clue_TP_ProfilerFns(fns),
  };
  if (sp_refused("profiler", clues, sizeof clues / sizeof *clues) == NULL) return true;
  if (sp_is_too_old()) return false;
  SP_SET_FIXED(TF_ProfilerRegistrationParams, destroy_profiler, params, sp_no_profiler);
  SP_SET_FIXED(TF_ProfilerRegistrationParams, destroy_profiler_fns, params, sp_no_profiler_fns);
  SP_SET_FIXED(TP_Profiler, device_type, profiler, type);
  sp_stuff(fns);
  SP_SET_FIXED(TP_ProfilerFns, start, fns, sp_no_recording);
  SP_SET_FIXED(TP_ProfilerFns, stop, fns, sp_no_recording);
  SP_SET_FIXED(TP_ProfilerFns, collect_data_xspace, fns, sp_no_profile);
  return false;
}
