void D_Run(void f(int64_t n));
