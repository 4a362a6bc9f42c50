/* ---- structs of the host ----------------------------------------------------------------- */

/** A layout that a struct had: the `struct_size` that tells it, and the releases that have it. */
typedef struct sp_layout {
  size_t size;
  sp_releases releases;
} sp_layout;

/** A struct and its layouts, oldest first; no two have one size. */
typedef struct sp_layouts {
  const char* name;
  const sp_layout* all;
  size_t count;
} sp_layouts;

/** Where a field is that a layout does not have. */
#define SP_ABSENT ((size_t)-1)

/** Up to the end of a member, as the struct_size protocol counts: without tail padding. */
#define SP_END(form, member) (offsetof(form, member) + sizeof(((form*)0)->member))

#define SP_TYPE(S, field) __typeof__(((S##_newest*)0)->field)

/** The bytes that the host provides; 0 for null. */
static inline size_t sp_size(const void* host) {
  size_t size = 0;
  if (host != NULL) memcpy(&size, host, sizeof size);
  return size;
}

/** Which layout has this size; SP_ABSENT where none has. */
static inline size_t sp_reach(const sp_layouts* of, size_t size) {
  for (size_t i = of->count; i-- > 0;) {
    if (of->all[i].size == size) return i;
  }
  if (size > of->all[of->count - 1].size) {
    const char* assumed = getenv("SP_ASSUME_APPEND");
    if (assumed != NULL && strcmp(assumed, "1") == 0) return of->count - 1;
  }
  return SP_ABSENT;
}

/** Where the host's layout has a field of this width: `places` are by layout. The sizes of layouts
 * are facts of a table; that nothing is touched beyond the host's struct shall not rest on a table. */
static inline size_t sp_place(const sp_layouts* of, const void* host, const size_t* places, size_t width) {
  const size_t size = sp_size(host), layout = sp_reach(of, size);
  if (layout == SP_ABSENT || places[layout] == SP_ABSENT) return SP_ABSENT;
  return places[layout] + width <= size ? places[layout] : SP_ABSENT;
}

static inline void sp_read(const void* host, size_t place, void* value, size_t width) {
  if (place == SP_ABSENT) {
    memset(value, 0, width);
  } else {
    memcpy(value, (const char*)host + place, width);
  }
}

static inline bool sp_write(void* host, size_t place, const void* value, size_t width) {
  if (place != SP_ABSENT) memcpy((char*)host + place, value, width);
  return place != SP_ABSENT;
}

/** Writes `struct_size`: the layout's, so never above what the host provides. */
static inline void sp_announce(const sp_layouts* of, void* host) {
  const size_t size = sp_size(host), layout = sp_reach(of, size);
  if (layout != SP_ABSENT && of->all[layout].size < size) memcpy(host, &of->all[layout].size, sizeof size);
}

/** What a struct's size tells of the host. */
static inline sp_clue sp_clue_of(const sp_layouts* of, const void* host) {
  sp_clue clue;
  memset(&clue, 0, sizeof clue);
  clue.releases.first = SP_FIRST_RELEASE;
  const size_t size = sp_size(host), layout = sp_reach(of, size);
  if (layout != SP_ABSENT) {
    if (of->all[layout].size == size) clue.releases = of->all[layout].releases;
    return clue;
  }
  char sizes[120] = "";
  for (size_t i = 0, end = 0; i < of->count; ++i) {
    end += sp_print(sizes + end, sizeof sizes - end, "%s%zu", i == 0 ? "" : " or ", of->all[i].size);
  }
  sp_print(clue.refused, sizeof clue.refused,
           "its %s is %zu bytes, expected %s (SP_ASSUME_APPEND=1 takes a longer one for these with fields added "
           "at the end)",
           of->name, size, sizes);
  return clue;
}

/** The codes of a TF_Status that the shim itself reports. */
enum { SP_RESOURCE_EXHAUSTED = 8, SP_FAILED_PRECONDITION = 9, SP_UNIMPLEMENTED = 12 };

/** Puts an error into a TF_Status, unless it is null. */
static inline void sp_fail(void* status, int code, const char* message) {
  typedef void set_type(void*, int, const char*);
  set_type* set = (set_type*)sp_look_up("TF_SetStatus");
  if (status != NULL && set != NULL) set(status, code, message);
}

/** Whether the layout of the host's struct is known; else `status` (which may be null) says why not. */
static inline bool sp_admit(const sp_layouts* of, const void* host, void* status) {
  if (sp_reach(of, sp_size(host)) != SP_ABSENT) return true;
  const sp_clue clue = sp_clue_of(of, host);
  char message[400];
  sp_print(message, sizeof message, "%s: %s", sp_running()->name, clue.refused);
  sp_fail(status, SP_FAILED_PRECONDITION, message);
  return false;
}

static inline uintptr_t sp_nothing(void) { return 0; }

/** Makes every slot of a table, whatever its layout, a function that does nothing. TensorFlow looks for
 * empty slots also where there are no devices, and ends the process; without devices it calls none. */
static inline void sp_stuff(void* table) {
  const size_t size = sp_size(table), credible = 4096;
  uintptr_t (*const nothing)(void) = sp_nothing;
  /* First stand struct_size and ext. */
  for (size_t place = 2 * sizeof(void*); size <= credible && place + sizeof nothing <= size; place += sizeof nothing) {
    sp_write(table, place, &nothing, sizeof nothing);
  }
}

/** Whether the host's S has the field. */
#define sp_has(S, field, host) sp_has_##S##_##field(host)

/** The field of the host's S; zero where it has none. */
#define sp_get(S, field, host) sp_get_##S##_##field(host)

/** Stores into the field of the host's S; false, and no byte touched, where it has none. */
#define sp_set(S, field, host, value) sp_set_##S##_##field(host, value)

/** Stores what the plugin fills of an S, from its own S_newest, each field where the host's layout has
 * it, and `struct_size`. False, and no byte touched, where nobody knows the host's layout; `status`,
 * which may be null, then says so. */
#define sp_fill(S, host, mine, status) sp_fill_##S(host, mine, status)

/** sp_fill() for the tables that TensorFlow asks for while it registers the plugin, when an error would
 * end the process: where nobody knows the host's layout, the host is not served from here on, which is
 * said on stderr, and the table has functions that do nothing. */
#define sp_fill_or_decline(S, host, mine)                                      \
  do {                                                                         \
    if (sp_fill_##S(host, mine, NULL)) break;                                  \
    sp_give_up(sp_clue_##S(host).refused);                                     \
    sp_stuff(host);                                                            \
  } while (0)

/** The plugin's own S_newest as an S to hand to the host, its `struct_size` set. */
#define sp_lend(S, mine) sp_lend_##S(mine)

/** Whether the layout of the host's S is known; else `status`, which may be null, says why not. */
#define sp_known(S, host, status) sp_known_##S(host, status)

/** What there is of every struct S with a `struct_size`; `...` are its layouts. */
#define SP_STRUCT(S, ...)                                                      \
  static const sp_layout sp_all_layouts_##S[] = {__VA_ARGS__};                 \
  static const sp_layouts sp_layouts_##S = {                                   \
      #S, sp_all_layouts_##S, sizeof sp_all_layouts_##S / sizeof(sp_layout)};  \
  static inline bool sp_known_##S(const S* host, void* status) {               \
    return sp_admit(&sp_layouts_##S, host, status);                            \
  }                                                                            \
  static inline sp_clue sp_clue_##S(const S* host) {                           \
    return sp_clue_of(&sp_layouts_##S, host);                                  \
  }                                                                            \
  static inline S* sp_lend_##S(S##_newest* mine) {                             \
    mine->struct_size = sp_all_layouts_##S[sp_layouts_##S.count - 1].size;     \
    return (S*)(void*)mine;                                                  \
  }

/** A field that every layout has in one place, as far as it goes. */
#define SP_FIXED(S, field)                                                     \
  SP_FIXED_PLACE(S, field)                                                     \
  SP_ACCESS(S, field)

#define SP_FIXED_PLACE(S, field)                                               \
  static inline size_t sp_fixed_##S##_##field(const S* host) {                 \
    return SP_END(S##_newest, field) <= sp_size(host)                          \
               ? offsetof(S##_newest, field)                                   \
               : SP_ABSENT;                                                    \
  }                                                                            \
  static inline size_t sp_place_##S##_##field(const S* host) {                 \
    return sp_reach(&sp_layouts_##S, sp_size(host)) == SP_ABSENT               \
               ? SP_ABSENT                                                     \
               : sp_fixed_##S##_##field(host);                                 \
  }

/** A field that lies elsewhere in some layouts; `...` are its places, by layout. */
#define SP_MOVED(S, field, ...)                                                \
  SP_MOVED_PLACE(S, field, __VA_ARGS__)                                        \
  SP_ACCESS(S, field)

#define SP_MOVED_PLACE(S, field, ...)                                          \
  static inline size_t sp_fixed_##S##_##field(const S* host) {                 \
    (void)host;                                                                \
    return SP_ABSENT;                                                          \
  }                                                                            \
  static inline size_t sp_place_##S##_##field(const S* host) {                 \
    static const size_t places[] = {__VA_ARGS__};                              \
    return sp_place(&sp_layouts_##S, host, places, sizeof(SP_TYPE(S, field))); \
  }

#define SP_ACCESS(S, field)                                                    \
  static inline bool sp_has_##S##_##field(const S* host) {                     \
    return sp_place_##S##_##field(host) != SP_ABSENT;                          \
  }                                                                            \
  static inline SP_TYPE(S, field) sp_get_##S##_##field(const S* host) {        \
    SP_TYPE(S, field) value;                                                   \
    sp_read(host, sp_place_##S##_##field(host), &value, sizeof value);         \
    return value;                                                              \
  }                                                                            \
  static inline bool sp_set_##S##_##field(S* host, SP_TYPE(S, field) value) {  \
    return sp_write(host, sp_place_##S##_##field(host), &value, sizeof value); \
  }

/** Stores into a field that no layout has moved, whatever the struct's size: enough to decline by. */
#define SP_SET_FIXED(S, field, host, value)                                    \
  do {                                                                         \
    SP_TYPE(S, field) sp_value = (value);                                      \
    sp_write(host, sp_fixed_##S##_##field(host), &sp_value, sizeof sp_value);  \
  } while (0)

/** Reads a field that no layout has moved into `into`, whatever the struct's size. */
#define SP_GET_FIXED(S, field, host, into) \
  sp_read(host, sp_fixed_##S##_##field(host), into, sizeof(SP_TYPE(S, field)))

/** What the compiler must find of a type. The numbers are of targets with 64-bit pointers. */
#if UINTPTR_MAX > 0xffffffffu
#define SP_LAID_OUT(T, size, align)                    \
  SP_ASSERT(sizeof(T) == (size), #T " has " #size " bytes"); \
  SP_ASSERT(SP_ALIGN(T) == (align), #T " is aligned to " #align)
#define SP_AT(T, member, offset) SP_ASSERT(offsetof(T, member) == (offset), #T "." #member " is at " #offset)
#define SP_SIZED(T, member, size) SP_ASSERT(SP_END(T, member) == (size), #T " ends at " #size)
#else
#define SP_LAID_OUT(T, size, align) SP_ASSERT(sizeof(T) <= (size), #T " has at most " #size " bytes")
#define SP_AT(T, member, offset) SP_ASSERT(offsetof(T, member) <= (offset), #T "." #member)
#define SP_SIZED(T, member, size) SP_ASSERT(SP_END(T, member) <= (size), #T " ends")
#endif
