/* <dlfcn.h> for a target whose system headers are not here. */
#ifndef SP_TEST_DLFCN_H
#define SP_TEST_DLFCN_H
#define RTLD_NOW 2
#define RTLD_NOLOAD 4
#ifdef __cplusplus
extern "C" {
#endif
void *dlopen(const char *library, int mode);
void *dlsym(void *library, const char *name);
#ifdef __cplusplus
}
#endif
#endif
