__attribute__((weak)) void D_Run(int n);
