typedef enum D_Mode { D_FAST, D_SLOW, D_EVEN } D_Mode;
void D_Run(D_Mode mode);
