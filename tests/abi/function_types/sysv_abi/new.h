__attribute__((sysv_abi)) void D_Run(int n);
