typedef struct DP_Fns {
  size_t struct_size;
  void (*start)(void* self);
} DP_Fns;
