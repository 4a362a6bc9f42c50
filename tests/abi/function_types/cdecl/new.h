__attribute__((cdecl)) void D_Run(int n);
