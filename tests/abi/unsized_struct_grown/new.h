typedef struct D_View {
  const char* data;
  size_t size;
  void* owner;
} D_View;
void D_Look(D_View* view);
