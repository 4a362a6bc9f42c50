void D_Run(const int* p);
