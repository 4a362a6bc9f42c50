void D_Run(int* __restrict p);
