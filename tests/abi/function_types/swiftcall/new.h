__attribute__((swiftcall)) void D_Run(int n);
