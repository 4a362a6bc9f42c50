void D_Run(volatile int n);
