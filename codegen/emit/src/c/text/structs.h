/* ---- structs of the host ----------------------------------------------------------------- */

/** A layout of a struct: its `struct_size`, and the releases that have it. */
typedef struct spgen_layout {
  size_t size;
  spgen_releases releases;
} spgen_layout;

/** A struct and its layouts, oldest first. Their sizes are distinct. */
typedef struct spgen_layouts {
  const char* name;
  const spgen_layout* layouts;
  size_t count;
} spgen_layouts;

/** The offset of a field in a layout without it, and the index of an unknown layout. */
#define SPGEN_ABSENT ((size_t)-1)

/** The offset of the end of a member. The `struct_size` protocol counts this way: without tail padding. */
#define SPGEN_END_OF(form, member) (offsetof(form, member) + sizeof(((form*)0)->member))

#define SPGEN_FIELD_TYPE(S, field) __typeof__(((S##_newest*)0)->field)

/** Returns the size that the host states of its struct, or 0 for a null pointer. */
static inline size_t spgen_struct_size(const void* object) {
  size_t size = 0;
  if (object != NULL) memcpy(&size, object, sizeof size);
  return size;
}

/** Returns the index of the layout with this size, or SPGEN_ABSENT. */
static inline size_t spgen_find_layout(const spgen_layouts* all, size_t size) {
  for (size_t i = all->count; i-- > 0;) {
    if (all->layouts[i].size == size) return i;
  }
  if (size > all->layouts[all->count - 1].size) {
    const char* assumed = getenv("SP_ASSUME_APPEND");
    if (assumed != NULL && strcmp(assumed, "1") == 0) return all->count - 1;
  }
  return SPGEN_ABSENT;
}

/** Returns the offset of a field in the host's layout, or SPGEN_ABSENT; `offsets` has one entry for each layout.
 * A wrong entry must not cause an access past the host's struct, so the end of the field is checked as well. */
static inline size_t spgen_field_offset(const spgen_layouts* all, const void* object, const size_t* offsets,
                                        size_t field_size) {
  const size_t size = spgen_struct_size(object), layout = spgen_find_layout(all, size);
  if (layout == SPGEN_ABSENT || offsets[layout] == SPGEN_ABSENT) return SPGEN_ABSENT;
  return offsets[layout] + field_size <= size ? offsets[layout] : SPGEN_ABSENT;
}

/** Copies a field to `value`, or sets `value` to zero if the field is absent. */
static inline void spgen_read(const void* object, size_t offset, void* value, size_t size) {
  if (offset == SPGEN_ABSENT) {
    memset(value, 0, size);
  } else {
    memcpy(value, (const char*)object + offset, size);
  }
}

/** Copies `value` to a field. Returns false, and writes nothing, if the field is absent. */
static inline bool spgen_write(void* object, size_t offset, const void* value, size_t size) {
  if (offset != SPGEN_ABSENT) memcpy((char*)object + offset, value, size);
  return offset != SPGEN_ABSENT;
}

/** Writes the layout's size to `struct_size`, unless the host states a smaller one. */
static inline void spgen_write_struct_size(const spgen_layouts* all, void* object) {
  const size_t size = spgen_struct_size(object), layout = spgen_find_layout(all, size);
  if (layout != SPGEN_ABSENT && all->layouts[layout].size < size) {
    memcpy(object, &all->layouts[layout].size, sizeof size);
  }
}

/** Returns the releases whose struct has the size of `object`, or the reason to decline the host. */
static inline spgen_size_evidence spgen_evaluate_size(const spgen_layouts* all, const void* object) {
  spgen_size_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  evidence.releases.first = SPGEN_FIRST_RELEASE;
  const size_t size = spgen_struct_size(object), layout = spgen_find_layout(all, size);
  if (layout != SPGEN_ABSENT) {
    if (all->layouts[layout].size == size) evidence.releases = all->layouts[layout].releases;
    return evidence;
  }
  char expected[120] = "";
  for (size_t i = 0, end = 0; i < all->count; ++i) {
    const char* separator = i == 0 ? "" : " or ";
    end += spgen_format(expected + end, sizeof expected - end, "%s%zu", separator, all->layouts[i].size);
  }
  spgen_format(evidence.decline_reason, sizeof evidence.decline_reason,
               SPGEN_MESSAGE_UNKNOWN_SIZE, all->name, size, expected);
  return evidence;
}

/** The codes of a TF_Status that these headers report. */
enum { SPGEN_RESOURCE_EXHAUSTED = 8, SPGEN_FAILED_PRECONDITION = 9, SPGEN_UNIMPLEMENTED = 12 };

/** Sets a TF_Status to an error, unless it is null. */
static inline void spgen_set_status(void* status, int code, const char* message) {
  typedef void set_type(void*, int, const char*);
  set_type* set = (set_type*)spgen_look_up("TF_SetStatus");
  if (status != NULL && set != NULL) set(status, code, message);
}

/** Returns true if the layout of the host's struct is known. Otherwise sets `status`, which may be null. */
static inline bool spgen_check_layout(const spgen_layouts* all, const void* object, void* status) {
  if (spgen_find_layout(all, spgen_struct_size(object)) != SPGEN_ABSENT) return true;
  const spgen_size_evidence evidence = spgen_evaluate_size(all, object);
  char message[400];
  spgen_format(message, sizeof message, "%s: %s", spgen_running_host()->name, evidence.decline_reason);
  spgen_set_status(status, SPGEN_FAILED_PRECONDITION, message);
  return false;
}

static inline uintptr_t spgen_stub(void) { return 0; }

/** Fills every slot of a table, whatever its layout, with a stub that does nothing. TensorFlow ends the process
 * for a null slot even if there are no devices; without devices it calls no slot. */
static inline void spgen_fill_with_stubs(void* table) {
  const size_t size = spgen_struct_size(table), largest_plausible = 4096;
  uintptr_t (*const stub)(void) = spgen_stub;
  /* The first two members are struct_size and ext. */
  for (size_t offset = 2 * sizeof(void*); size <= largest_plausible && offset + sizeof stub <= size;
       offset += sizeof stub) {
    spgen_write(table, offset, &stub, sizeof stub);
  }
}

/** Returns true if the host's S has the field. */
#define spgen_has(S, field, object) spgen_has_##S##_##field(object)

/** Returns the field of the host's S, or zero if S has no such field. */
#define spgen_get(S, field, object) spgen_get_##S##_##field(object)

/** Stores into the field of the host's S. Returns false, and writes nothing, if S has no such field. */
#define spgen_set(S, field, object, value) spgen_set_##S##_##field(object, value)

/** Copies the fields that the plugin fills, and `struct_size`, from an S_newest to the host's S, as far as the
 * host's layout has them. If that layout is not known, returns false, writes nothing, and sets `status`, which
 * may be null. */
#define spgen_fill(S, object, values, status) spgen_fill_##S(object, values, status)

/** spgen_fill() for tables that TensorFlow requests while it registers the plugin, where an error status would
 * end the process. If the layout of S is not known, fills it with stubs and declines the host for the rest of
 * the process, with a line on stderr. */
#define spgen_fill_or_decline(S, object, values)                               \
  do {                                                                         \
    if (spgen_fill_##S(object, values, NULL)) break;                           \
    spgen_decline_host(spgen_evaluate_size_##S(object).decline_reason);        \
    spgen_fill_with_stubs(object);                                             \
  } while (0)

/** Returns the plugin's own S_newest as an S, to pass to the host, and sets its `struct_size`. */
#define spgen_as_host_struct(S, own) spgen_as_host_struct_##S(own)

/** Returns true if the layout of the host's S is known. Otherwise sets `status`, which may be null. */
#define spgen_has_known_layout(S, object, status) spgen_has_known_layout_##S(object, status)

/** Defines the functions of a struct S with a `struct_size`; `...` are its layouts. */
#define SPGEN_STRUCT(S, ...)                                                           \
  static const spgen_layout spgen_layout_list_##S[] = {__VA_ARGS__};                   \
  static const spgen_layouts spgen_layouts_##S = {                                     \
      #S, spgen_layout_list_##S,                                                       \
      sizeof spgen_layout_list_##S / sizeof(spgen_layout)};                            \
  static inline bool spgen_has_known_layout_##S(const S* object, void* status) {       \
    return spgen_check_layout(&spgen_layouts_##S, object, status);                     \
  }                                                                                    \
  static inline spgen_size_evidence spgen_evaluate_size_##S(const S* object) {         \
    return spgen_evaluate_size(&spgen_layouts_##S, object);                            \
  }                                                                                    \
  static inline S* spgen_as_host_struct_##S(S##_newest* own) {                         \
    own->struct_size = spgen_layout_list_##S[spgen_layouts_##S.count - 1].size;        \
    return (S*)(void*)own;                                                             \
  }

/** Defines the accessors of a field with one offset in all layouts that have it. */
#define SPGEN_FIXED_FIELD(S, field)                                            \
  SPGEN_FIXED_OFFSET(S, field)                                                 \
  SPGEN_ACCESSORS(S, field)

#define SPGEN_FIXED_OFFSET(S, field)                                           \
  static inline size_t spgen_fixed_offset_##S##_##field(const S* object) {     \
    return SPGEN_END_OF(S##_newest, field) <= spgen_struct_size(object)        \
               ? offsetof(S##_newest, field)                                   \
               : SPGEN_ABSENT;                                                 \
  }                                                                            \
  static inline size_t spgen_offset_##S##_##field(const S* object) {           \
    const size_t size = spgen_struct_size(object);                             \
    return spgen_find_layout(&spgen_layouts_##S, size) == SPGEN_ABSENT         \
               ? SPGEN_ABSENT                                                  \
               : spgen_fixed_offset_##S##_##field(object);                     \
  }

/** Defines the accessors of a field whose offset differs between layouts; `...` are its offsets, by layout. */
#define SPGEN_MOVED_FIELD(S, field, ...)                                       \
  SPGEN_MOVED_OFFSET(S, field, __VA_ARGS__)                                    \
  SPGEN_ACCESSORS(S, field)

#define SPGEN_MOVED_OFFSET(S, field, ...)                                      \
  static inline size_t spgen_fixed_offset_##S##_##field(const S* object) {     \
    (void)object;                                                              \
    return SPGEN_ABSENT;                                                       \
  }                                                                            \
  static inline size_t spgen_offset_##S##_##field(const S* object) {           \
    static const size_t offsets[] = {__VA_ARGS__};                             \
    return spgen_field_offset(&spgen_layouts_##S, object, offsets,             \
                              sizeof(SPGEN_FIELD_TYPE(S, field)));             \
  }

#define SPGEN_ACCESSORS(S, field)                                              \
  static inline bool spgen_has_##S##_##field(const S* object) {                \
    return spgen_offset_##S##_##field(object) != SPGEN_ABSENT;                 \
  }                                                                            \
  static inline SPGEN_FIELD_TYPE(S, field)                                     \
      spgen_get_##S##_##field(const S* object) {                               \
    SPGEN_FIELD_TYPE(S, field) value;                                          \
    spgen_read(object, spgen_offset_##S##_##field(object), &value,             \
               sizeof value);                                                  \
    return value;                                                              \
  }                                                                            \
  static inline bool spgen_set_##S##_##field(                                  \
      S* object, SPGEN_FIELD_TYPE(S, field) value) {                           \
    return spgen_write(object, spgen_offset_##S##_##field(object), &value,     \
                       sizeof value);                                          \
  }

/** Stores into a field with a fixed offset, whatever the struct's size. Used to decline unknown hosts. */
#define SPGEN_SET_FIXED(S, field, object, value)                               \
  do {                                                                         \
    SPGEN_FIELD_TYPE(S, field) spgen_value = (value);                          \
    spgen_write(object, spgen_fixed_offset_##S##_##field(object),              \
                &spgen_value, sizeof spgen_value);                             \
  } while (0)

/** Copies a field with a fixed offset to `target`, whatever the struct's size. */
#define SPGEN_GET_FIXED(S, field, object, target)                              \
  spgen_read(object, spgen_fixed_offset_##S##_##field(object), target,         \
             sizeof(SPGEN_FIELD_TYPE(S, field)))

/** Assertions about the compiler's layout of a type. The numbers are those of targets with 64-bit pointers. */
#if UINTPTR_MAX > 0xffffffffu
#define SPGEN_ASSERT_LAYOUT(T, size, align)                                    \
  SPGEN_STATIC_ASSERT(sizeof(T) == (size), #T " has " #size " bytes");         \
  SPGEN_STATIC_ASSERT(SPGEN_ALIGNOF(T) == (align), #T " is aligned to " #align)
#define SPGEN_ASSERT_OFFSET(T, member, offset)                                 \
  SPGEN_STATIC_ASSERT(offsetof(T, member) == (offset), #T "." #member " is at " #offset)
#define SPGEN_ASSERT_STRUCT_SIZE(T, member, size)                              \
  SPGEN_STATIC_ASSERT(SPGEN_END_OF(T, member) == (size), #T " ends at " #size)
#else
#define SPGEN_ASSERT_LAYOUT(T, size, align)                                    \
  SPGEN_STATIC_ASSERT(sizeof(T) <= (size), #T " has at most " #size " bytes")
#define SPGEN_ASSERT_OFFSET(T, member, offset)                                 \
  SPGEN_STATIC_ASSERT(offsetof(T, member) <= (offset), #T "." #member)
#define SPGEN_ASSERT_STRUCT_SIZE(T, member, size)                              \
  SPGEN_STATIC_ASSERT(SPGEN_END_OF(T, member) <= (size), #T " ends")
#endif
