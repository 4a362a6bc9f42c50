__attribute__((visibility("internal"))) void D_Run(int n);
