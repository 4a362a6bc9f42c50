__attribute__((stdcall)) void D_Run(int n);
