__attribute__((vectorcall)) void D_Run(int n);
