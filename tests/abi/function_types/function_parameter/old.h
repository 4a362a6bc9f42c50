void D_Run(void (*f)(int n));
