__attribute__((warn_unused_result)) int D_Run(int n);
