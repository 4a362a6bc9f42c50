typedef struct DC_Fns {
  size_t struct_size;
  void (*run)(void f(int n));
} DC_Fns;
void D_Use(DC_Fns* fns);
