typedef void (__attribute__((ms_abi)) *D_Run)(int n);
D_Run D_Get(void);
