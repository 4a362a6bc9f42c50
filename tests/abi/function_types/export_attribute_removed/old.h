__attribute__((visibility("default"))) void D_Run(int n);
