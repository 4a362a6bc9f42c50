__attribute__((visibility("hidden"))) void D_Run(int n);
