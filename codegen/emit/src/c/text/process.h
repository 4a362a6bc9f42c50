/* ---- text -------------------------------------------------------------------------------- */

/** Formats into `text`, truncated to `capacity` bytes, and returns the length that was written. */
static inline size_t spgen_format(char* text, size_t capacity, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, capacity, format, arguments);
  va_end(arguments);
  return length < 0 ? 0 : (size_t)length < capacity ? (size_t)length : capacity - 1;
}

/* ---- releases ---------------------------------------------------------------------------- */

/** A minor release as a number, in the order of the releases: 2.5 is 205, 2.21 is 221. */
#define SPGEN_RELEASE(major, minor) ((major)*100u + (minor))

/** The oldest release that the plugin supports. A function that every release from this one on exports can
 * be called by its plain name, any other through spgen_find(). */
#ifndef SPGEN_MIN_RELEASE
#define SPGEN_MIN_RELEASE SPGEN_FIRST_RELEASE
#endif

/** A range of releases, both ends included. It has no end if `last` is 0. */
typedef struct spgen_releases {
  uint32_t first;
  uint32_t last;
} spgen_releases;

/** Formats a range as `2.5 to 2.9`, `2.5` or `2.5 or later`. */
static inline const char* spgen_format_releases(char* text, size_t capacity, spgen_releases range) {
  const unsigned first_major = range.first / 100, first_minor = range.first % 100;
  const unsigned last_major = range.last / 100, last_minor = range.last % 100;
  if (range.last == 0) {
    spgen_format(text, capacity, "%u.%u or later", first_major, first_minor);
  } else if (range.last == range.first) {
    spgen_format(text, capacity, "%u.%u", first_major, first_minor);
  } else {
    spgen_format(text, capacity, "%u.%u to %u.%u", first_major, first_minor, last_major, last_minor);
  }
  return text;
}

/** Returns the minor release of a version such as `2.12.0-rc1`, or 0 if the text is not a version. */
static inline uint32_t spgen_parse_release(const char* version) {
  char* end = NULL;
  const unsigned long major = strtoul(version, &end, 10);
  if (end == version || *end != '.') return 0;
  const char* rest = end + 1;
  const unsigned long minor = strtoul(rest, &end, 10);
  return end == rest || minor > 99 ? 0 : (uint32_t)SPGEN_RELEASE(major, minor);
}

/* ---- symbols of the process -------------------------------------------------------------- */

/** A function of any type. */
typedef void (*spgen_function)(void);

/** Returns the symbol `name` of a library that this process has already loaded, or NULL if the library is not
 * loaded or does not export it. If `library` is NULL, searches the global scope of the process. */
static inline spgen_function spgen_look_up_in(const char* library, const char* name) {
  void* handle = dlopen(library, library == NULL ? RTLD_NOW : RTLD_NOLOAD | RTLD_NOW);
  void* address = handle == NULL ? NULL : dlsym(handle, name);
  spgen_function function = NULL;
  memcpy(&function, &address, sizeof function);
  return function;
}

/** Returns the symbol `name` of TensorFlow or of the process's global scope, or NULL if there is none. */
static inline spgen_function spgen_look_up(const char* name) {
#ifdef __APPLE__
  const char* const libraries[] = {"libtensorflow_framework.2.dylib", "libtensorflow_cc.2.dylib",
                                   "_pywrap_tensorflow_internal.so", NULL};
#else
  const char* const libraries[] = {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2",
                                   "_pywrap_tensorflow_internal.so", NULL};
#endif
  spgen_function function = NULL;
  for (size_t i = 0; function == NULL && i < sizeof libraries / sizeof *libraries; ++i) {
    function = spgen_look_up_in(libraries[i], name);
  }
  return function;
}

/** A function whose presence in the process limits the possible releases. */
typedef struct spgen_release_symbol {
  const char* name;
  spgen_releases releases;
  /** True if every package from releases.first on exports it. */
  bool is_in_every_package;
} spgen_release_symbol;
