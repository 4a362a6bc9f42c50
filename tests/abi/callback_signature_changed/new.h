typedef struct DP_Fns {
  size_t struct_size;
  void (*optimize)(void* self, const char* item, const char* graph);
} DP_Fns;
#define DP_FNS_STRUCT_SIZE D_OFFSET_OF_END(DP_Fns, optimize)
