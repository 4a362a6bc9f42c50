void D_Run(int p[1]);
