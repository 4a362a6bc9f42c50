void D_Use(void (__attribute__((ms_abi)) *run)(int n));
