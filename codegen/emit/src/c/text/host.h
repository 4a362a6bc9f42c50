/* ---- the host ---------------------------------------------------------------------------- */

/** Makes a variable one object of the whole plugin, whichever of its files include this header. */
#define SPGEN_SHARED __attribute__((weak, visibility("hidden")))

/** The TensorFlow of this process. The code never guesses: a question that the stated release, the exported
 * symbols and the sizes of the structs do not answer stays open. */
typedef struct spgen_host {
  /** The release that TF_Version() states; 0 if it states none. */
  uint32_t stated_release;
  /** The possible releases. */
  spgen_releases releases;
  /** The name for messages: `TensorFlow 2.12`. */
  char name[96];
  /** The reason to decline this host; empty if it is accepted. */
  char decline_reason[400];
  /** True if a line about this host has been written. */
  bool is_reported;
  /** True for a release that is not known here or not stated, and is accepted by the sizes of its structs. */
  bool is_unknown;
  /** The plugin's name in messages: the name of its platform, or its device type. */
  const char* plugin_name;
  /** 0 before the decision, 1 during it, 2 after it. */
  int state;
} spgen_host;

SPGEN_SHARED spgen_host spgen_this_host;

/** Evidence of a struct that the host passed: the releases whose struct has that size, or the reason to
 * decline the host if no known release has it. */
typedef struct spgen_size_evidence {
  spgen_releases releases;
  char decline_reason[300];
} spgen_size_evidence;

/** Returns the intersection of two ranges, or `known` if it is empty. */
static inline spgen_releases spgen_intersect(spgen_releases known, spgen_releases other) {
  spgen_releases both = known;
  if (other.first > both.first) both.first = other.first;
  if (both.last == 0 || (other.last != 0 && other.last < both.last)) both.last = other.last;
  return both.last != 0 && both.last < both.first ? known : both;
}

/** Returns true if `version`, as TF_Version() spells it, is a pre-release that is known here. */
static inline bool spgen_is_known_preview(const char* version) {
  for (size_t i = 0; spgen_previews[i].release != 0; ++i) {
    if (strcmp(spgen_previews[i].version, version) == 0) return true;
  }
  return false;
}

/** Returns true if the host is older than SPGEN_MIN_RELEASE: by its release, or because it lacks a function
 * that every release from then on exports. */
static inline bool spgen_is_before_min_release(const spgen_host* host) {
  if (host->releases.last != 0 && host->releases.last < SPGEN_MIN_RELEASE) return true;
  if (host->releases.first >= SPGEN_MIN_RELEASE) return false;
  for (size_t i = 0; i < sizeof spgen_release_symbols / sizeof *spgen_release_symbols; ++i) {
    const spgen_release_symbol* symbol = &spgen_release_symbols[i];
    const bool is_expected = symbol->is_in_every_package && symbol->releases.first <= SPGEN_MIN_RELEASE;
    if (is_expected && spgen_look_up(symbol->name) == NULL) return true;
  }
  return false;
}

/** Determines the possible releases of the host, and the reason to decline it if there is one. */
static inline void spgen_decide_host(spgen_host* host, const spgen_size_evidence* evidence, size_t count) {
  typedef const char* version_type(void);
  version_type* version_function = (version_type*)spgen_look_up("TF_Version");
  const char* version = version_function == NULL ? NULL : version_function();
  const uint32_t stated = version == NULL ? 0 : spgen_parse_release(version);
  host->stated_release = stated;
  host->releases.first = stated != 0 ? stated : SPGEN_FIRST_RELEASE;
  host->releases.last = stated;
  host->is_unknown = version == NULL ||
                     (!spgen_is_known_preview(version) && (stated == 0 || stated > SPGEN_NEWEST_RELEASE));
  /* The absence of a symbol is no evidence: some packages and platforms do not export all functions. */
  for (size_t i = 0; stated == 0 && i < sizeof spgen_release_symbols / sizeof *spgen_release_symbols; ++i) {
    if (spgen_look_up(spgen_release_symbols[i].name) != NULL) {
      host->releases = spgen_intersect(host->releases, spgen_release_symbols[i].releases);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (evidence[i].decline_reason[0] == 0 && stated == 0) {
      host->releases = spgen_intersect(host->releases, evidence[i].releases);
    }
    if (host->decline_reason[0] == 0) {
      memcpy(host->decline_reason, evidence[i].decline_reason, sizeof evidence[i].decline_reason);
    }
  }
  char releases[40];
  spgen_format_releases(releases, sizeof releases, host->releases);
  if (stated != 0) {
    spgen_format(host->name, sizeof host->name, "TensorFlow %s", releases);
  } else {
    spgen_format(host->name, sizeof host->name, SPGEN_MESSAGE_UNSTATED_RELEASE, releases);
  }
  if (stated != 0 && stated < SPGEN_FIRST_RELEASE) {
    spgen_format(host->decline_reason, sizeof host->decline_reason, SPGEN_MESSAGE_TOO_OLD,
                 SPGEN_FIRST_RELEASE / 100, SPGEN_FIRST_RELEASE % 100);
  } else if (spgen_is_before_min_release(host)) {
    spgen_format(host->decline_reason, sizeof host->decline_reason, SPGEN_MESSAGE_BEFORE_MIN_RELEASE,
                 SPGEN_MIN_RELEASE / 100, SPGEN_MIN_RELEASE % 100);
  }
}

/** Returns the host. The first call decides about it; the evidence of later calls does not change that. */
static inline const spgen_host* spgen_get_or_decide_host(const spgen_size_evidence* evidence, size_t count) {
  spgen_host* host = &spgen_this_host;
  int undecided = 0;
  if (__atomic_compare_exchange_n(&host->state, &undecided, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    spgen_decide_host(host, evidence, count);
    __atomic_store_n(&host->state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&host->state, __ATOMIC_ACQUIRE) != 2) {
  }
  return host;
}

/** Returns the host. Before the first entry point it is decided without the evidence of any struct. */
static inline const spgen_host* spgen_running_host(void) { return spgen_get_or_decide_host(NULL, 0); }

/** Returns 1 if the host's release is one of `releases`, 0 if it is not, and -1 if it may be. */
static inline int spgen_is_host_in(spgen_releases releases) {
  const spgen_releases host = spgen_running_host()->releases;
  if (host.first < releases.first || (releases.last != 0 && (host.last == 0 || host.last > releases.last))) {
    const bool is_disjoint = (host.last != 0 && host.last < releases.first) ||
                             (releases.last != 0 && releases.last < host.first);
    return is_disjoint ? 0 : -1;
  }
  return 1;
}

/** Sets the plugin's name in messages. Only the first call has an effect. */
static inline void spgen_set_plugin_name(const char* name) {
  spgen_host* host = &spgen_this_host;
  if (host->plugin_name == NULL) host->plugin_name = name;
}

/** Returns the plugin's name in messages. */
static inline const char* spgen_plugin_name(void) {
  const char* name = spgen_this_host.plugin_name;
  return name != NULL ? name : "(unnamed)";
}

/** Reports once that the host is declined, all of it or for one part. `part` is "" for all. */
static inline void spgen_report_declined(const char* part, const char* reason) {
  spgen_host* host = &spgen_this_host;
  char scope[60] = "";
  if (part[0] != 0) spgen_format(scope, sizeof scope, " for its %s", part);
  if (!host->is_reported) {
    fprintf(stderr, "plugin %s: " SPGEN_MESSAGE_DECLINED "\n", spgen_plugin_name(), host->name, scope, reason);
  }
  host->is_reported = true;
}

/** Returns the reason to decline the host, or the part whose structs an entry point received, and reports it.
 * Returns NULL if there is none. */
static inline const char* spgen_decline_reason(const char* part, const spgen_size_evidence* evidence,
                                               size_t count) {
  const spgen_host* host = spgen_get_or_decide_host(evidence, count);
  const char* reason = host->decline_reason[0] != 0 ? host->decline_reason : NULL;
  for (size_t i = 0; reason == NULL && i < count; ++i) {
    if (evidence[i].decline_reason[0] != 0) reason = evidence[i].decline_reason;
  }
  if (reason != NULL) spgen_report_declined(part, reason);
  return reason;
}

/** Returns true unless the host has been declined by now. If it is false, a plugin's get_device_count must
 * report 0 devices. For a release that is not known here, reports once that the sizes of its structs decided:
 * these headers do not read the host's headers. */
static inline bool spgen_is_host_accepted(void) {
  spgen_host* host = (spgen_host*)spgen_running_host();
  if (host->decline_reason[0] != 0) return false;
  if (host->is_unknown && !host->is_reported) {
    fprintf(stderr,
            "plugin %s: " SPGEN_MESSAGE_ACCEPTED_BY_SIZES "\n",
            spgen_plugin_name(), host->name, "its headers are not read");
    host->is_reported = true;
  }
  return true;
}

/** Declines the host for the rest of the process, because of a struct that was passed after the entry point. */
static inline void spgen_decline_host(const char* reason) {
  spgen_host* host = &spgen_this_host;
  if (spgen_running_host()->decline_reason[0] != 0) return;
  spgen_format(host->decline_reason, sizeof host->decline_reason, "%s", reason);
  spgen_report_declined("", reason);
}

/** Returns true if the host's release loads no plugins, so that not even fixed fields of its structs are known. */
static inline bool spgen_is_host_too_old(void) {
  const uint32_t stated = spgen_running_host()->stated_release;
  return stated != 0 && stated < SPGEN_FIRST_RELEASE;
}

/* ---- functions of the host --------------------------------------------------------------- */

/** A signature that a function had in older releases, without a symbol that identifies it. */
typedef struct spgen_older_signature {
  spgen_releases releases;
  /** The function with the newest signature that calls the older one; NULL if an argument of the newest one
   * cannot be omitted. */
  spgen_function adapter;
} spgen_older_signature;

/** A function of the host. */
typedef struct spgen_symbol {
  const char* name;
  /** The packages that export it, and its replacement, for messages. */
  const char* availability;
  /** True if TensorFlow calls the function's header experimental. */
  bool is_experimental;
  const spgen_older_signature* older_signatures;
  size_t older_count;
  /** The function, looked up on first use. */
  spgen_function address;
} spgen_symbol;

/** Returns true if the host may be newer than every known release, and SP_ASSUME_SAME=1 is not set. An
 * experimental function may have another signature there, and nothing in the process shows it. */
static inline bool spgen_may_change_experimental(void) {
  const spgen_host* host = spgen_running_host();
  const char* assumed = getenv("SP_ASSUME_SAME");
  return host->is_unknown && (assumed == NULL || strcmp(assumed, "1") != 0);
}

static inline spgen_function spgen_resolve_symbol(const spgen_symbol* symbol) {
  const spgen_function exported = spgen_look_up(symbol->name);
  if (exported != NULL && symbol->is_experimental && spgen_may_change_experimental()) return NULL;
  for (size_t i = 0; exported != NULL && i < symbol->older_count; ++i) {
    const int is_older = spgen_is_host_in(symbol->older_signatures[i].releases);
    if (is_older != 0) return is_older == 1 ? symbol->older_signatures[i].adapter : NULL;
  }
  return exported;
}

/** Returns the function, to call with the newest signature, or NULL if the host has none. */
static inline spgen_function spgen_find_symbol(spgen_symbol* symbol) {
  /* Acquire: a thread that reads the address must also see its library loaded. */
  spgen_function address = __atomic_load_n(&symbol->address, __ATOMIC_ACQUIRE);
  if (address == NULL) {
    address = spgen_resolve_symbol(symbol);
    __atomic_store_n(&symbol->address, address, __ATOMIC_RELEASE);
  }
  return address;
}

/** Returns the reason why spgen_find_symbol() returns NULL, or "" if it does not. The text is valid until the
 * next call in this thread. */
static inline const char* spgen_symbol_error(spgen_symbol* symbol) {
  static __thread char text[600];
  const char* host = spgen_running_host()->name;
  if (spgen_find_symbol(symbol) != NULL) return "";
  if (spgen_look_up(symbol->name) == NULL) {
    spgen_format(text, sizeof text, "%s is not exported by this process, %s. %s", symbol->name, host,
                 symbol->availability);
    return text;
  }
  if (symbol->is_experimental && spgen_may_change_experimental()) {
    spgen_format(text, sizeof text,
                 "%s is experimental, and its signature in %s is not known: the newest known release is %u.%u "
                 "(SP_ASSUME_SAME=1 calls it with the signature of that release). %s",
                 symbol->name, host, SPGEN_NEWEST_RELEASE / 100, SPGEN_NEWEST_RELEASE % 100,
                 symbol->availability);
    return text;
  }
  for (size_t i = 0; i < symbol->older_count; ++i) {
    char releases[40];
    if (spgen_is_host_in(symbol->older_signatures[i].releases) == 0) continue;
    spgen_format_releases(releases, sizeof releases, symbol->older_signatures[i].releases);
    spgen_format(text, sizeof text, "%s has another signature in %s, and the host is %s. %s", symbol->name,
                 releases, host, symbol->availability);
  }
  return text;
}

/** Writes the reason and ends the process, as a call of an undefined symbol would. */
static inline void spgen_abort_without(spgen_symbol* symbol) {
  fprintf(stderr, "plugin %s: %s\n", spgen_plugin_name(), spgen_symbol_error(symbol));
  abort();
}

/** Returns the function F, to call, or NULL if the host has none with a known signature. */
#define spgen_find(F) spgen_find_##F()

/** Returns the reason why spgen_find(F) returns NULL, or "" if it does not. */
#define spgen_find_error(F) spgen_find_error_##F()

/** Defines a function that TensorFlow promises to keep, without older signatures. */
#define SPGEN_FUNCTION(F, availability) SPGEN_DEFINE_FUNCTION(F, availability, false, NULL, 0)

/** Defines a function of an experimental header. */
#define SPGEN_EXPERIMENTAL_FUNCTION(F, availability) SPGEN_DEFINE_FUNCTION(F, availability, true, NULL, 0)

/** Defines a function with older signatures. */
#define SPGEN_DEFINE_FUNCTION(F, availability, is_experimental, older, count)  \
  static inline spgen_symbol* spgen_symbol_##F(void) {                         \
    static spgen_symbol symbol = {                                             \
        #F, availability, is_experimental, older, count, NULL};                \
    return &symbol;                                                            \
  }                                                                            \
  static inline spgen_type_##F* spgen_find_##F(void) {                         \
    return (spgen_type_##F*)spgen_find_symbol(spgen_symbol_##F());             \
  }                                                                            \
  static inline const char* spgen_find_error_##F(void) {                       \
    return spgen_symbol_error(spgen_symbol_##F());                             \
  }                                                                            \
  static inline spgen_type_##F* spgen_find_or_abort_##F(void) {                \
    spgen_type_##F* function = spgen_find_##F();                               \
    if (function == NULL) spgen_abort_without(spgen_symbol_##F());             \
    return function;                                                           \
  }

/** Declares the plain name of a function that not every release from SPGEN_MIN_RELEASE on exports. A call is a
 * compile error with the given message. */
#if defined(__has_attribute)
#if __has_attribute(error)
#define SPGEN_CALL_ERROR(message) __attribute__((error(message)))
#endif
#endif
#ifndef SPGEN_CALL_ERROR
#define SPGEN_CALL_ERROR(message) __attribute__((unavailable))
#endif

/** Rejects calls of a function that a later release added. */
#define SPGEN_ADDED_FUNCTION(F, release, number)                                     \
  spgen_type_##F F SPGEN_CALL_ERROR(#F " was added in " release ": call spgen_find(" \
                                    #F "), or define SPGEN_MIN_RELEASE as " #number);

/** Rejects calls of a function that some release does not export. */
#define SPGEN_REMOVED_FUNCTION(F)                                                             \
  spgen_type_##F F SPGEN_CALL_ERROR(#F " is not exported by every release: call spgen_find(" \
                                    #F "), which returns NULL if the host lacks it");

/** Rejects calls of a function of an experimental header, which an unknown release may have changed. */
#define SPGEN_CHANGEABLE_FUNCTION(F)                                             \
  spgen_type_##F F SPGEN_CALL_ERROR(#F " is experimental: call spgen_find(" #F   \
                                    "), which returns NULL if its signature is not known");
