#define D_MAJOR 1
#define D_MINOR 5
void D_Run(void);
void D_Stop(void);
