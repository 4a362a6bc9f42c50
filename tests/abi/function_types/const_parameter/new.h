void D_Run(const int n);
