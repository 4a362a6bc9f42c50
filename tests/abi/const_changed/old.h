#define D_LIMIT 8
void D_Run(void);
