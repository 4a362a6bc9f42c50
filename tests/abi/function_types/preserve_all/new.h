__attribute__((preserve_all)) void D_Run(int n);
