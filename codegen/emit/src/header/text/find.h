/* ---- text -------------------------------------------------------------------------------- */

/** Writes what has room; how long it is then. */
static inline size_t sp_print(char* text, size_t room, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(text, room, format, values);
  va_end(values);
  return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

/* ---- releases ---------------------------------------------------------------------------- */

/** A minor release as a number that counts upwards: 2.5 is 205, 2.21 is 221. */
#define SP_RELEASE(major, minor) ((major)*100u + (minor))

/** The first release that loads plugins. */
#define SP_FIRST_RELEASE 205u

/** The oldest release that the plugin is for. What all releases from this one on export can be
 * called by its plain name; the rest goes through sp_find(). */
#ifndef SP_MIN_RELEASE
#define SP_MIN_RELEASE SP_FIRST_RELEASE
#endif

/** A run of releases, both ends included; it goes on where `last` is 0. */
typedef struct sp_releases {
  uint32_t first;
  uint32_t last;
} sp_releases;

/** Writes `2.5 to 2.9`, `2.5` or `2.5 or later`. */
static inline const char* sp_words(char* text, size_t room, sp_releases all) {
  const unsigned a = all.first / 100, b = all.first % 100, c = all.last / 100, d = all.last % 100;
  if (all.last == 0) {
    sp_print(text, room, "%u.%u or later", a, b);
  } else if (all.last == all.first) {
    sp_print(text, room, "%u.%u", a, b);
  } else {
    sp_print(text, room, "%u.%u to %u.%u", a, b, c, d);
  }
  return text;
}

/** The release of a version such as `2.12.0-rc1`; 0 where it is none. */
static inline uint32_t sp_parse_release(const char* version) {
  char* end = NULL;
  const unsigned long major = strtoul(version, &end, 10);
  if (end == version || *end != '.') return 0;
  const char* rest = end + 1;
  const unsigned long minor = strtoul(rest, &end, 10);
  return end == rest || minor > 99 ? 0 : (uint32_t)SP_RELEASE(major, minor);
}

/* ---- functions of the process ------------------------------------------------------------ */

/** Any function. */
typedef void (*sp_function)(void);

/** What the library exports under this name; NULL where this process has not loaded it, or it lacks
 * the name. None is loaded for it. A null library is all that the process has in common. */
static inline sp_function sp_look_into(const char* library, const char* name) {
  void* handle = dlopen(library, library == NULL ? RTLD_NOW : RTLD_NOLOAD | RTLD_NOW);
  void* found = handle == NULL ? NULL : dlsym(handle, name);
  sp_function function = NULL;
  memcpy(&function, &found, sizeof function);
  return function;
}

/** What TensorFlow, or anything else in this process, exports under this name. */
static inline sp_function sp_look_up(const char* name) {
#ifdef __APPLE__
  const char* const libraries[] = {"libtensorflow_framework.2.dylib", "libtensorflow_cc.2.dylib",
                                   "_pywrap_tensorflow_internal.so", NULL};
#else
  const char* const libraries[] = {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2",
                                   "_pywrap_tensorflow_internal.so", NULL};
#endif
  sp_function found = NULL;
  for (size_t i = 0; found == NULL && i < sizeof libraries / sizeof *libraries; ++i) {
    found = sp_look_into(libraries[i], name);
  }
  return found;
}

/** A function whose presence tells which releases this may be. */
typedef struct sp_mark {
  const char* name;
  sp_releases releases;
  /** True if every package from releases.first on exports it. */
  bool always;
} sp_mark;
