typedef int D_Pair[2];
void D_Run(D_Pair p);
