void D_Run(int* p);
