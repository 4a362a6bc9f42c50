#ifdef __cplusplus
extern "C" {
#endif
typedef struct TF_Status TF_Status;
#ifdef __cplusplus
}
#endif
