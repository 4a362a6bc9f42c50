/* ---- SE_InitPlugin: a host that cannot be served gets no devices --------------------------- */

static inline void sp_no_platform(SP_Platform* platform) { (void)platform; }
static inline void sp_no_platform_fns(SP_PlatformFns* platform_fns) { (void)platform_fns; }
static inline void sp_no_devices(const SP_Platform* platform, int32_t* device_count, TF_Status* status) {
  (void)platform, (void)status;
  *device_count = 0;
}
static inline void sp_no_device(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status) {
  (void)platform, (void)params;
  sp_fail(status, SP_FAILED_PRECONDITION, sp_running()->refused);
}
static inline void sp_end_device(const SP_Platform* platform, SP_Device* device) {
  (void)platform, (void)device;
}
static inline void sp_no_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  (void)platform, (void)params, (void)status;
}
static inline void sp_end_device_fns(const SP_Platform* platform, SP_DeviceFns* device_fns) {
  (void)platform, (void)device_fns;
}
static inline void sp_no_stream_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                         TF_Status* status) {
  SP_StreamExecutor* table = NULL;
  (void)platform, (void)status;
  SP_GET_FIXED(SE_CreateStreamExecutorParams, stream_executor, params, &table);
  sp_stuff(table);
}
static inline void sp_end_stream_executor(const SP_Platform* platform, SP_StreamExecutor* stream_executor) {
  (void)platform, (void)stream_executor;
}
static inline void sp_no_timer_fns(const SP_Platform* platform, SP_TimerFns* timer, TF_Status* status) {
  (void)platform, (void)status;
  sp_stuff(timer);
}
static inline void sp_end_timer_fns(const SP_Platform* platform, SP_TimerFns* timer_fns) {
  (void)platform, (void)timer_fns;
}

/** The way in which TensorFlow survives a plugin that cannot serve it. Its structs may have changed, so
 * only what no release has moved is filled in. */
static inline void sp_decline_platform(SE_PlatformRegistrationParams* params, SP_Platform* platform,
                                       SP_PlatformFns* fns, const char* name, const char* type) {
  SP_SET_FIXED(SE_PlatformRegistrationParams, destroy_platform, params, sp_no_platform);
  SP_SET_FIXED(SE_PlatformRegistrationParams, destroy_platform_fns, params, sp_no_platform_fns);
  SP_SET_FIXED(SP_Platform, name, platform, name);
  SP_SET_FIXED(SP_Platform, type, platform, type);
  sp_stuff(fns);
  SP_SET_FIXED(SP_PlatformFns, get_device_count, fns, sp_no_devices);
  SP_SET_FIXED(SP_PlatformFns, create_device, fns, sp_no_device);
  SP_SET_FIXED(SP_PlatformFns, destroy_device, fns, sp_end_device);
  SP_SET_FIXED(SP_PlatformFns, create_device_fns, fns, sp_no_device_fns);
  SP_SET_FIXED(SP_PlatformFns, destroy_device_fns, fns, sp_end_device_fns);
  SP_SET_FIXED(SP_PlatformFns, create_stream_executor, fns, sp_no_stream_executor);
  SP_SET_FIXED(SP_PlatformFns, destroy_stream_executor, fns, sp_end_stream_executor);
  SP_SET_FIXED(SP_PlatformFns, create_timer_fns, fns, sp_no_timer_fns);
  SP_SET_FIXED(SP_PlatformFns, destroy_timer_fns, fns, sp_end_timer_fns);
}

/** Comes first in SE_InitPlugin: decides what host this is. False where it cannot be served; it then has
 * been declined, with 0 devices and a line on stderr, and SE_InitPlugin returns. Name and type are as in
 * SP_Platform. */
static inline bool sp_enter_SE_InitPlugin(SE_PlatformRegistrationParams* params, const char* name,
                                          const char* type) {
  SP_Platform* platform = NULL;
  SP_PlatformFns* fns = NULL;
  sp_name_plugin(name);
  SP_GET_FIXED(SE_PlatformRegistrationParams, platform, params, &platform);
  SP_GET_FIXED(SE_PlatformRegistrationParams, platform_fns, params, &fns);
  const sp_clue clues[] = {
      sp_clue_SE_PlatformRegistrationParams(params),
      sp_clue_SP_Platform(platform),
      sp_clue_SP_PlatformFns(fns),
  };
  if (sp_refused("", clues, sizeof clues / sizeof *clues) == NULL) return true;
  if (!sp_is_too_old()) sp_decline_platform(params, platform, fns, name, type);
  return false;
}
