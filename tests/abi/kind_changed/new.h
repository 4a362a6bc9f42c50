typedef struct D_Level {
  int64_t value;
} D_Level;
void D_Run(D_Level level);
