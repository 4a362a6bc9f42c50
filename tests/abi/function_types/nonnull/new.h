__attribute__((nonnull)) void D_Run(int* n);
