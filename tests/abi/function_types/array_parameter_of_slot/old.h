typedef struct DC_Fns {
  size_t struct_size;
  void (*run)(int* p);
} DC_Fns;
void D_Use(DC_Fns* fns);
