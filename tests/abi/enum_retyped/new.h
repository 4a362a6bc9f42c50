typedef enum D_Mode : int64_t { D_FAST = 1, D_SLOW = 2 } D_Mode;
void D_Run(D_Mode mode);
