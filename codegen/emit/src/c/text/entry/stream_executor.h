/* ---- SE_InitPlugin: a declined host gets no devices ---------------------------------------- */

static inline void spgen_stub_destroy_platform(SP_Platform* platform) { (void)platform; }
static inline void spgen_stub_destroy_platform_fns(SP_PlatformFns* platform_fns) { (void)platform_fns; }
static inline void spgen_stub_get_device_count(const SP_Platform* platform, int32_t* device_count,
                                               TF_Status* status) {
  (void)platform, (void)status;
  *device_count = 0;
}
static inline void spgen_stub_create_device(const SP_Platform* platform, SE_CreateDeviceParams* params,
                                            TF_Status* status) {
  (void)platform, (void)params;
  spgen_set_status(status, SPGEN_FAILED_PRECONDITION, spgen_running_host()->decline_reason);
}
static inline void spgen_stub_destroy_device(const SP_Platform* platform, SP_Device* device) {
  (void)platform, (void)device;
}
static inline void spgen_stub_create_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                                                TF_Status* status) {
  (void)platform, (void)params, (void)status;
}
static inline void spgen_stub_destroy_device_fns(const SP_Platform* platform, SP_DeviceFns* device_fns) {
  (void)platform, (void)device_fns;
}
static inline void spgen_stub_create_stream_executor(const SP_Platform* platform,
                                                     SE_CreateStreamExecutorParams* params, TF_Status* status) {
  SP_StreamExecutor* table = NULL;
  (void)platform, (void)status;
  SPGEN_GET_FIXED(SE_CreateStreamExecutorParams, stream_executor, params, &table);
  spgen_fill_with_stubs(table);
}
static inline void spgen_stub_destroy_stream_executor(const SP_Platform* platform,
                                                      SP_StreamExecutor* stream_executor) {
  (void)platform, (void)stream_executor;
}
static inline void spgen_stub_create_timer_fns(const SP_Platform* platform, SP_TimerFns* timer,
                                               TF_Status* status) {
  (void)platform, (void)status;
  spgen_fill_with_stubs(timer);
}
static inline void spgen_stub_destroy_timer_fns(const SP_Platform* platform, SP_TimerFns* timer_fns) {
  (void)platform, (void)timer_fns;
}

/** Registers a platform without devices, which TensorFlow accepts. The host's structs may have changed, so only
 * fields that have the same offset in every known release are filled. */
static inline void spgen_register_without_devices(SE_PlatformRegistrationParams* params, SP_Platform* platform,
                                                  SP_PlatformFns* fns, const char* name, const char* type) {
  SPGEN_SET_FIXED(SE_PlatformRegistrationParams, destroy_platform, params, spgen_stub_destroy_platform);
  SPGEN_SET_FIXED(SE_PlatformRegistrationParams, destroy_platform_fns, params, spgen_stub_destroy_platform_fns);
  SPGEN_SET_FIXED(SP_Platform, name, platform, name);
  SPGEN_SET_FIXED(SP_Platform, type, platform, type);
  spgen_fill_with_stubs(fns);
  SPGEN_SET_FIXED(SP_PlatformFns, get_device_count, fns, spgen_stub_get_device_count);
  SPGEN_SET_FIXED(SP_PlatformFns, create_device, fns, spgen_stub_create_device);
  SPGEN_SET_FIXED(SP_PlatformFns, destroy_device, fns, spgen_stub_destroy_device);
  SPGEN_SET_FIXED(SP_PlatformFns, create_device_fns, fns, spgen_stub_create_device_fns);
  SPGEN_SET_FIXED(SP_PlatformFns, destroy_device_fns, fns, spgen_stub_destroy_device_fns);
  SPGEN_SET_FIXED(SP_PlatformFns, create_stream_executor, fns, spgen_stub_create_stream_executor);
  SPGEN_SET_FIXED(SP_PlatformFns, destroy_stream_executor, fns, spgen_stub_destroy_stream_executor);
  SPGEN_SET_FIXED(SP_PlatformFns, create_timer_fns, fns, spgen_stub_create_timer_fns);
  SPGEN_SET_FIXED(SP_PlatformFns, destroy_timer_fns, fns, spgen_stub_destroy_timer_fns);
}

/** Decides about the host; to be called first in SE_InitPlugin. If it returns false, the host is declined, with
 * 0 devices and a line on stderr, and SE_InitPlugin must return. Name and type are those of SP_Platform. */
static inline bool spgen_accept_SE_InitPlugin(SE_PlatformRegistrationParams* params, const char* name,
                                              const char* type) {
  SP_Platform* platform = NULL;
  SP_PlatformFns* fns = NULL;
  spgen_set_plugin_name(name);
  SPGEN_GET_FIXED(SE_PlatformRegistrationParams, platform, params, &platform);
  SPGEN_GET_FIXED(SE_PlatformRegistrationParams, platform_fns, params, &fns);
  const spgen_size_evidence evidence[] = {
      spgen_evaluate_size_SE_PlatformRegistrationParams(params),
      spgen_evaluate_size_SP_Platform(platform),
      spgen_evaluate_size_SP_PlatformFns(fns),
  };
  if (spgen_decline_reason("", evidence, sizeof evidence / sizeof *evidence) == NULL) return true;
  if (!spgen_is_host_too_old()) spgen_register_without_devices(params, platform, fns, name, type);
  return false;
}
