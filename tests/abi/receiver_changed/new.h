typedef struct DP_Device {
  void* handle;
  void* ext;
} DP_Device;
typedef struct DP_Fns {
  void (*start)(const DP_Device* device);
} DP_Fns;
