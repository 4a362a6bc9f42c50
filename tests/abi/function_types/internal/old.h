void D_Run(int n);
