typedef int D_Pair[2];
void D_Run(const D_Pair p);
