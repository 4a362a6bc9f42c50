typedef struct DC_Fns {
  size_t struct_size;
  void (__attribute__((ms_abi)) *run)(int n);
} DC_Fns;
void D_Use(DC_Fns* fns);
