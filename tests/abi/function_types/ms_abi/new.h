__attribute__((ms_abi)) void D_Run(int n);
