__attribute__((visibility("protected"))) void D_Run(int n);
