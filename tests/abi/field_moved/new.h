typedef struct DP_Fns {
  size_t struct_size;
  const char* name;
  void (*start)(void* self);
  int32_t count;
} DP_Fns;
#define DP_FNS_STRUCT_SIZE D_OFFSET_OF_END(DP_Fns, count)
