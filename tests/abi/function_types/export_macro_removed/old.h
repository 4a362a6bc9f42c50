#define D_EXPORT __attribute__((visibility("default")))
D_EXPORT void D_Run(int n);
D_EXPORT void D_Stop(void);
