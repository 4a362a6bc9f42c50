void D_Run(int p[2][3]);
