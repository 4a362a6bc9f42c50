typedef struct D_Block {
  uint8_t bytes[64];
} D_Block;
void D_Fill(D_Block* block);
