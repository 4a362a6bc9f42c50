typedef void (__attribute__((ms_abi)) *D_Run)(int n);
void D_Use(D_Run run);
