__attribute__((no_caller_saved_registers)) void D_Run(int n);
