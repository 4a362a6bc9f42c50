/* ---- the host ---------------------------------------------------------------------------- */

/** One for the whole plugin, whichever of its files includes this. */
#define SP_ONE __attribute__((weak, visibility("hidden")))

/** The TensorFlow of this process. What does not follow from what it says, exports and hands over
 * stays open: nobody here guesses. */
typedef struct sp_host {
  /** What it says of itself; 0 where it says nothing. */
  uint32_t said;
  /** What it may be. */
  sp_releases releases;
  /** In words: `TensorFlow 2.12`. */
  char name[96];
  /** Why this plugin cannot serve it; empty where it can. */
  char refused[400];
  /** True once the reason is reported. */
  bool told;
  /** True for a release that is not known here, and is accepted by the sizes of its structs. */
  bool newer;
  /** The plugin's name in messages: its platform's, or the device type. */
  const char* plugin;
  /** 1 while it is being decided, 2 from then on. */
  int state;
} sp_host;

SP_ONE sp_host sp_this_host;

/** What a struct that an entry point was handed tells of its host: the releases that have its size,
 * or why a size tells nothing. */
typedef struct sp_clue {
  sp_releases releases;
  char refused[300];
} sp_clue;

/** What is in both; `one` where nothing is. */
static inline sp_releases sp_both(sp_releases one, sp_releases other) {
  sp_releases both = one;
  if (other.first > both.first) both.first = other.first;
  if (both.last == 0 || (other.last != 0 && other.last < both.last)) both.last = other.last;
  return both.last != 0 && both.last < both.first ? one : both;
}

/** Returns true if `version`, as TF_Version() spells it, is a pre-release that is known here. */
static inline bool sp_is_known_preview(const char* version) {
  for (size_t i = 0; sp_previews[i].release != 0; ++i) {
    if (strcmp(sp_previews[i].version, version) == 0) return true;
  }
  return false;
}

/** Returns true if the host is older than SP_MIN_RELEASE: by its release, or because it lacks a function that
 * every release from then on exports. */
static inline bool sp_is_before_min_release(const sp_host* host) {
  if (host->releases.last != 0 && host->releases.last < SP_MIN_RELEASE) return true;
  if (host->releases.first >= SP_MIN_RELEASE) return false;
  for (size_t i = 0; i < sizeof sp_marks / sizeof *sp_marks; ++i) {
    const bool is_expected = sp_marks[i].always && sp_marks[i].releases.first <= SP_MIN_RELEASE;
    if (is_expected && sp_look_up(sp_marks[i].name) == NULL) return true;
  }
  return false;
}

static inline void sp_decide(sp_host* host, const sp_clue* clues, size_t count) {
  typedef const char* version_type(void);
  version_type* version = (version_type*)sp_look_up("TF_Version");
  const char* text = version == NULL ? NULL : version();
  host->said = text == NULL ? 0 : sp_parse_release(text);
  host->releases.first = host->said != 0 ? host->said : SP_FIRST_RELEASE;
  host->releases.last = host->said;
  host->newer = text != NULL && !sp_is_known_preview(text) && (host->said == 0 || host->said > SP_NEWEST_RELEASE);
  /* What is absent tells nothing: packages and platforms leave functions out. */
  for (size_t i = 0; host->said == 0 && i < sizeof sp_marks / sizeof *sp_marks; ++i) {
    if (sp_look_up(sp_marks[i].name) != NULL) {
      host->releases = sp_both(host->releases, sp_marks[i].releases);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (clues[i].refused[0] == 0 && host->said == 0) {
      host->releases = sp_both(host->releases, clues[i].releases);
    }
    if (host->refused[0] == 0) memcpy(host->refused, clues[i].refused, sizeof clues[i].refused);
  }
  char words[40];
  sp_words(words, sizeof words, host->releases);
  if (host->said != 0) {
    sp_print(host->name, sizeof host->name, "TensorFlow %s", words);
  } else {
    sp_print(host->name, sizeof host->name, "a TensorFlow that does not state its release (%s)", words);
  }
  if (host->said != 0 && host->said < SP_FIRST_RELEASE) {
    sp_print(host->refused, sizeof host->refused, "plugins are loaded from TensorFlow 2.5 on");
  } else if (sp_is_before_min_release(host)) {
    sp_print(host->refused, sizeof host->refused, "the plugin is for TensorFlow %u.%u or later", SP_MIN_RELEASE / 100,
             SP_MIN_RELEASE % 100);
  }
}

/** The host as the first entry point finds it; what later ones bring changes nothing any more. */
static inline const sp_host* sp_enter(const sp_clue* clues, size_t count) {
  sp_host* host = &sp_this_host;
  int none = 0;
  if (__atomic_compare_exchange_n(&host->state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    sp_decide(host, clues, count);
    __atomic_store_n(&host->state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&host->state, __ATOMIC_ACQUIRE) != 2) {
  }
  return host;
}

/** The host, decided by now or without any clue. */
static inline const sp_host* sp_running(void) { return sp_enter(NULL, 0); }

/** Whether the host is one of these releases: 1 if so, 0 if not, -1 where that does not follow. */
static inline int sp_is(sp_releases releases) {
  const sp_releases host = sp_running()->releases;
  if (host.first < releases.first || (releases.last != 0 && (host.last == 0 || host.last > releases.last))) {
    const bool apart = (host.last != 0 && host.last < releases.first) ||
                       (releases.last != 0 && releases.last < host.first);
    return apart ? 0 : -1;
  }
  return 1;
}

/** Sets the plugin's name in messages; the first call counts. */
static inline void sp_name_plugin(const char* name) {
  sp_host* host = &sp_this_host;
  if (host->plugin == NULL) host->plugin = name;
}

/** Returns the plugin's name in messages. */
static inline const char* sp_plugin_name(void) {
  const char* name = sp_this_host.plugin;
  return name != NULL ? name : "(unnamed)";
}

/** Reports once that the host is declined, all of it or for one part; `part` is "" for all. */
static inline void sp_tell(const char* part, const char* why) {
  sp_host* host = &sp_this_host;
  const char* its = part[0] == 0 ? "" : " for its ";
  if (!host->told) {
    fprintf(stderr, "plugin %s: declined %s%s%s: %s\n", sp_plugin_name(), host->name, its, part, why);
  }
  host->told = true;
}

/** Returns the reason to decline the host, or the part whose structs an entry point was passed; NULL if
 * there is none. Reports it. */
static inline const char* sp_refused(const char* part, const sp_clue* clues, size_t count) {
  const sp_host* host = sp_enter(clues, count);
  const char* why = host->refused[0] != 0 ? host->refused : NULL;
  for (size_t i = 0; why == NULL && i < count; ++i) {
    if (clues[i].refused[0] != 0) why = clues[i].refused;
  }
  if (why != NULL) sp_tell(part, why);
  return why;
}

/** Returns true if the host is served, as far as is known by now. A plugin that is asked how many devices
 * there are answers 0 if it is not. For a release that is not known here this reports once that the sizes
 * of its structs decided: this shim does not read the host's headers. */
static inline bool sp_serves(void) {
  sp_host* host = (sp_host*)sp_running();
  if (host->refused[0] != 0) return false;
  if (host->newer && !host->told) {
    fprintf(stderr,
            "plugin %s: %s is newer than the plugin, and its headers are not read: structs are accepted by their "
            "sizes\n",
            sp_plugin_name(), host->name);
    host->told = true;
  }
  return true;
}

/** Declines the host from here on, because of a struct that is seen after the entry point. */
static inline void sp_give_up(const char* why) {
  sp_host* host = &sp_this_host;
  if (sp_running()->refused[0] != 0) return;
  sp_print(host->refused, sizeof host->refused, "%s", why);
  sp_tell("", why);
}

/** Whether the host is from before plugins, so that not even its structs' beginnings are known. */
static inline bool sp_is_too_old(void) {
  const uint32_t said = sp_running()->said;
  return said != 0 && said < SP_FIRST_RELEASE;
}

/* ---- functions of the host --------------------------------------------------------------- */

/** A signature that a function had before, which no symbol tells. */
typedef struct sp_older {
  sp_releases releases;
  /** The function with the newest signature, which calls the older one; NULL where the newest says
   * what the older cannot be told. */
  sp_function adapter;
} sp_older;

/** A function of the host. */
typedef struct sp_symbol {
  const char* name;
  /** Who exports it, and what else does its work. */
  const char* about;
  /** Whether it is of a header that TensorFlow calls experimental. */
  bool experimental;
  const sp_older* older;
  size_t older_count;
  /** Looked up on first use. */
  sp_function found;
} sp_symbol;

/** Whether the host may be newer than all that is known here. What TensorFlow calls experimental has
 * changed under its name, which nothing in a process shows. */
static inline bool sp_is_unsettled(void) {
  const sp_host* host = sp_running();
  const char* assumed = getenv("SP_ASSUME_SAME");
  const bool is_known = host->said != 0 && !host->newer;
  return !is_known && (assumed == NULL || strcmp(assumed, "1") != 0);
}

static inline sp_function sp_resolve(const sp_symbol* symbol) {
  const sp_function found = sp_look_up(symbol->name);
  if (found != NULL && symbol->experimental && sp_is_unsettled()) return NULL;
  for (size_t i = 0; found != NULL && i < symbol->older_count; ++i) {
    const int is = sp_is(symbol->older[i].releases);
    if (is != 0) return is == 1 ? symbol->older[i].adapter : NULL;
  }
  return found;
}

/** The function, to call with the newest signature; NULL where it cannot be. */
static inline sp_function sp_find_symbol(sp_symbol* symbol) {
  /* Acquire: whoever sees the function sees its library loaded. */
  sp_function found = __atomic_load_n(&symbol->found, __ATOMIC_ACQUIRE);
  if (found == NULL) {
    found = sp_resolve(symbol);
    __atomic_store_n(&symbol->found, found, __ATOMIC_RELEASE);
  }
  return found;
}

/** Why the function cannot be called; "" where it can. The text stands until this thread asks again. */
static inline const char* sp_explain(sp_symbol* symbol) {
  static __thread char text[600];
  const char* host = sp_running()->name;
  if (sp_find_symbol(symbol) != NULL) return "";
  if (sp_look_up(symbol->name) == NULL) {
    sp_print(text, sizeof text, "%s is not exported by this process, %s. %s", symbol->name, host,
             symbol->about);
    return text;
  }
  if (symbol->experimental && sp_is_unsettled()) {
    sp_print(text, sizeof text,
             "%s is experimental, and what %s makes of its arguments is not known: the newest known is %u.%u "
             "(SP_ASSUME_SAME=1 calls it as there). %s",
             symbol->name, host, SP_NEWEST_RELEASE / 100, SP_NEWEST_RELEASE % 100, symbol->about);
    return text;
  }
  for (size_t i = 0; i < symbol->older_count; ++i) {
    char words[40];
    if (sp_is(symbol->older[i].releases) == 0) continue;
    sp_words(words, sizeof words, symbol->older[i].releases);
    sp_print(text, sizeof text, "%s takes other arguments in %s, and this is %s. %s",
             symbol->name, words, host, symbol->about);
  }
  return text;
}

/** Ends the process, as an undefined symbol would, but says why. */
static inline void sp_stop(sp_symbol* symbol) {
  fprintf(stderr, "plugin %s: %s\n", sp_plugin_name(), sp_explain(symbol));
  abort();
}

/** The function F, to call; NULL where the running host has none that can be called so. */
#define sp_find(F) sp_find_##F()

/** Why sp_find(F) is NULL; "" where it is not. */
#define sp_why(F) sp_why_##F()

/** A function that TensorFlow promises to keep, without older signatures. */
#define SP_FUNCTION(F, about) SP_FUNCTION_OF(F, about, false, NULL, 0)

/** A function of an experimental header. */
#define SP_EXPERIMENTAL(F, about) SP_FUNCTION_OF(F, about, true, NULL, 0)

/** A function with older signatures. */
#define SP_FUNCTION_OF(F, about, experimental, older, count)                   \
  static inline sp_symbol* sp_symbol_##F(void) {                               \
    static sp_symbol symbol = {#F, about, experimental, older, count, NULL};   \
    return &symbol;                                                            \
  }                                                                            \
  static inline sp_type_##F* sp_find_##F(void) {                               \
    return (sp_type_##F*)sp_find_symbol(sp_symbol_##F());                     \
  }                                                                            \
  static inline const char* sp_why_##F(void) {                                 \
    return sp_explain(sp_symbol_##F());                                        \
  }                                                                            \
  static inline sp_type_##F* sp_must_##F(void) {                               \
    sp_type_##F* found = sp_find_##F();                                        \
    if (found == NULL) sp_stop(sp_symbol_##F());                               \
    return found;                                                              \
  }

/** On the plain name of a function that not every release from SP_MIN_RELEASE on exports: to call it is
 * an error of the compiler, which says why. */
#if defined(__has_attribute)
#if __has_attribute(error)
#define SP_UNCALLABLE(why) __attribute__((error(why)))
#endif
#endif
#ifndef SP_UNCALLABLE
#define SP_UNCALLABLE(why) __attribute__((unavailable))
#endif

/** A function that comes with a release. */
#define SP_LATER(F, release, number)                                           \
  sp_type_##F F SP_UNCALLABLE(#F " comes with " release ": call sp_find(" #F   \
                              "), or define SP_MIN_RELEASE as " #number);

/** A function that came and went. */
#define SP_GONE(F)                                                             \
  sp_type_##F F SP_UNCALLABLE(#F " is not in every release: call sp_find(" #F  \
                              "), which is NULL where it is not");

/** A function of an experimental header, which a release that is not known yet may have changed. */
#define SP_UNSETTLED(F)                                                        \
  sp_type_##F F SP_UNCALLABLE(#F " is experimental: call sp_find(" #F          \
                              "), which is NULL where its form is not known");
