__attribute__((ms_abi)) void D_Run(int32_t count);
