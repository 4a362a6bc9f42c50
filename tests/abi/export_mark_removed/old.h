__attribute__((visibility("default"))) void D_Run(int32_t count);
__attribute__((visibility("default"))) void D_Stop(void);
