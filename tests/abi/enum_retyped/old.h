typedef enum D_Mode { D_FAST = 1, D_SLOW = 2 } D_Mode;
void D_Run(D_Mode mode);
