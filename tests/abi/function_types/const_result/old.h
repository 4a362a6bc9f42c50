int D_Run(int n);
