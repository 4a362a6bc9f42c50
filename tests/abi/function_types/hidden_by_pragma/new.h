#pragma GCC visibility push(hidden)
void D_Run(int n);
#pragma GCC visibility pop
