__attribute__((regcall)) void D_Run(int n);
