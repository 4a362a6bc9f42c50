__attribute__((visibility("hidden"))) void D_Run(int32_t count);
void D_Stop(void);
