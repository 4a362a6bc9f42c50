__attribute__((preserve_most)) void D_Run(int n);
