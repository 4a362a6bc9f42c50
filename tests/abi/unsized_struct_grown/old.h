typedef struct D_View {
  const char* data;
  size_t size;
} D_View;
void D_Look(D_View* view);
