#define D_MAJOR 1
#define D_MINOR 5
void D_Run(int32_t count);
