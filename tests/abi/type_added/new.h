typedef struct D_Options {
  int32_t count;
} D_Options;
void D_Run(void);
