/* A plugin that is a small library and loads another one, as vendors do. */
#include <dlfcn.h>
#include <stddef.h>

static void* find(const char* name) {
  void* library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return library == NULL ? NULL : dlsym(library, name);
}

void SE_InitPlugin(void* params, void* status) {
  void (*init)(void*, void*) = (void (*)(void*, void*))find("acme_device");
  if (init != NULL) init(params, status);
}

void TF_InitKernel(void) {
  void (*init)(void) = (void (*)(void))find("acme_kernels");
  if (init != NULL) init();
}
