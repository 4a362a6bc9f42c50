__attribute__((noreturn)) void D_Run(int n);
