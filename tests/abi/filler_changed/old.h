typedef struct D_Params {
  size_t struct_size;
  int32_t count;
} D_Params;
