__attribute__((overloadable)) void D_Run(int n);
