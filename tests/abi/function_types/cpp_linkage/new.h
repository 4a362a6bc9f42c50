extern "C++" void D_Run(int n);
