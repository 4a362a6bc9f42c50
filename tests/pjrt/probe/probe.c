// The table: trampolines that record a call and continue to the implementation, if there is one.
#define _GNU_SOURCE
#include "probe.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void* (*implementation)(void* arguments);

struct field {
    const char* name;
    size_t offset, size;
};

struct slot {
    const char* name;
    void* (*trampoline)(void* arguments);
    const struct field* fields;
};

struct extension {
    uint32_t type;
    const char* name;
    void* (*const* functions)(void* arguments);
    size_t function_count;
    size_t (*fill)(void* body);  // writes the members after the base, and returns their size
};

static void* call_slot(size_t index, void* arguments, implementation implementation, void* caller);
static void* call_extension(const char* name, void* arguments, implementation implementation, void* caller);
#include "slots.h"

enum { SLOTS_OFFSET = __builtin_offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version) };
_Static_assert(sizeof(PJRT_Api) == SLOTS_OFFSET + SLOT_COUNT * sizeof(void*), "the table has slots only");

size_t setting_devices = 2;
bool setting_vtables = true;
const void* setting_no_vtable;
const char* setting_stablehlo;
static int log_file = -1;
static int fail_codes[SLOT_COUNT];
static int fail_next_execution;

void record(const char* format, ...)
{
    char line[4096];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    if (log_file < 0 || length < 0) return;
    if (length > (int)sizeof line - 2) length = sizeof line - 2;
    line[length] = '\n';
    if (write(log_file, line, length + 1) < 0) abort();
}

static const char* library_of(void* address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) return "unknown";
    const char* slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static bool is_set(const unsigned char* bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return true;
    return false;
}

// Appends the names of the fields that are not zero at the call.
static void append_fields(char* line, size_t capacity, const struct field* fields, const unsigned char* arguments, size_t size)
{
    for (; fields->name; fields++) {
        if (fields->offset + fields->size > size || !is_set(arguments + fields->offset, fields->size)) continue;
        size_t length = strlen(line);
        snprintf(line + length, capacity - length, " %s", fields->name);
    }
}

static void* call_slot(size_t index, void* arguments, implementation implementation, void* caller)
{
    const struct slot* slot = &slots[index];
    const PJRT_Api_Version* start = arguments;  // its first two members are those of every argument struct
    char fields[2048] = "";
    append_fields(fields, sizeof fields, slot->fields, arguments, start->struct_size);
    record("call %s %zu %d %s %s%s", slot->name, start->struct_size, start->extension_start != NULL, library_of(caller),
           gettid() == getpid() ? "main" : "other", fields);
    int code = fail_codes[index];
    if (fail_next_execution && strcmp(slot->name, "PJRT_LoadedExecutable_Execute") == 0) {
        code = fail_next_execution;
        fail_next_execution = 0;
    }
    char message[200];
    if (code) {
        snprintf(message, sizeof message, "the probe fails %s", slot->name);
        return new_error(code, message);
    }
    if (!implementation) {
        snprintf(message, sizeof message, "the probe does not implement %s", slot->name);
        return new_error(PJRT_Error_Code_UNIMPLEMENTED, message);
    }
    return implementation(arguments);
}

static void* call_extension(const char* name, void* arguments, implementation implementation, void* caller)
{
    record("extension-call %s %zu %s", name, *(size_t*)arguments, library_of(caller));
    if (implementation) return implementation(arguments);
    return new_error(PJRT_Error_Code_UNIMPLEMENTED, "the probe does not implement this function of an extension");
}

// The next execution fails with the code: for tests of errors.
__attribute__((visibility("default"))) void probe_fail_next_execution(int code) { fail_next_execution = code; }

// --- Pages without access, whose first read is recorded ---

struct guarded {
    char* page;
    const char* name;
    size_t index;
};
static struct guarded guarded[EXTENSION_COUNT + 2];
static size_t guarded_count, page_size;
static struct sigaction previous_action;

static void on_fault(int signal, siginfo_t* info, void* context)
{
    for (size_t i = 0; i < guarded_count; i++) {
        char* page = guarded[i].page;
        if ((char*)info->si_addr < page || (char*)info->si_addr >= page + page_size) continue;
        record("read %s %zu", guarded[i].name, guarded[i].index + ((char*)info->si_addr - page) / sizeof(void*));
        mprotect(page, page_size, PROT_READ);
        return;
    }
    sigaction(SIGSEGV, &previous_action, NULL);  // the access is repeated, and ends the process
    (void)signal, (void)context;
}

// Returns `size` bytes that end where a page without access begins, and that page.
static char* allocate_before_guard(size_t size, const char* name, size_t index, char** guard)
{
    page_size = sysconf(_SC_PAGESIZE);
    size_t front = (size + page_size - 1) / page_size * page_size;
    char* pages = mmap(NULL, front + page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) abort();
    *guard = pages + front;
    guarded[guarded_count++] = (struct guarded){*guard, name, index};
    return pages + front - size;
}

static void protect_guards(void)
{
    for (size_t i = 0; i < guarded_count; i++) mprotect(guarded[i].page, page_size, PROT_NONE);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, &previous_action);
}

// --- Settings ---

// True if the list `A,B:1` has the name; `value` is the number after the colon.
static bool find_in_list(const char* list, const char* name, int* value)
{
    for (size_t length = strlen(name); list && *list; list = strchr(list, ',') ? strchr(list, ',') + 1 : "") {
        if (strncmp(list, name, length) != 0) continue;
        if (list[length] == ':') *value = atoi(list + length + 1);
        if (strchr(",:", list[length])) return true;
    }
    return false;
}

static int number_setting(const char* name, int otherwise)
{
    const char* value = getenv(name);
    return value && *value ? atoi(value) : otherwise;
}

static PJRT_Extension_Base* extension_chain(void)
{
    PJRT_Extension_Base* first = NULL;
    char number[12];
    int ignored;
    for (size_t i = EXTENSION_COUNT; i-- > 0;) {
        snprintf(number, sizeof number, "%u", extensions[i].type);
        if (!find_in_list(getenv("SP_PROBE_EXTENSIONS"), number, &ignored)) continue;
        char* body;
        PJRT_Extension_Base* base = (void*)allocate_before_guard(sizeof *base, extensions[i].name, 0, &body);
        size_t size = extensions[i].function_count * sizeof(void*);
        memcpy(body, extensions[i].functions, size);
        if (extensions[i].fill && number_setting("SP_PROBE_FILL", 1)) size = extensions[i].fill(body);
        *base = (PJRT_Extension_Base){sizeof *base + size, extensions[i].type, first};
        first = base;
    }
    return first;
}

static void read_settings(void)
{
    const char* path = getenv("SP_PROBE_LOG");
    if (path) log_file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    setting_devices = number_setting("SP_PROBE_DEVICES", 2);
    if (setting_devices > MAX_DEVICES) setting_devices = MAX_DEVICES;
    setting_vtables = number_setting("SP_PROBE_VTABLES", 1);
    char* page;
    allocate_before_guard(0, "vtable", 0, &page);
    setting_no_vtable = page;
    const char* attributes = getenv("SP_PROBE_ATTRIBUTES");
    if (attributes && strncmp(attributes, "stablehlo=", 10) == 0) setting_stablehlo = attributes + 10;
}

static PJRT_Api* new_table(void)
{
    size_t count = number_setting("SP_PROBE_SLOTS", SLOT_COUNT);
    if (count > SLOT_COUNT) count = SLOT_COUNT;
    size_t size = SLOTS_OFFSET + count * sizeof(void*);
    char* guard;
    PJRT_Api* api = (void*)allocate_before_guard(size, "PJRT_Api", count, &guard);
    api->struct_size = number_setting("SP_PROBE_STRUCT_SIZE", size);
    api->extension_start = extension_chain();
    api->pjrt_api_version = (PJRT_Api_Version){sizeof(PJRT_Api_Version), NULL, number_setting("SP_PROBE_MAJOR", 0), number_setting("SP_PROBE_MINOR", HEADER_MINOR)};
    void** pointers = (void**)((char*)api + SLOTS_OFFSET);
    for (size_t i = 0; i < count; i++) {
        int ignored;
        bool null = find_in_list(getenv("SP_PROBE_NULL"), slots[i].name, &ignored);
        pointers[i] = null ? NULL : (void*)slots[i].trampoline;
        find_in_list(getenv("SP_PROBE_FAIL"), slots[i].name, &fail_codes[i]);
    }
    protect_guards();
    return api;
}

__attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi(void)
{
    static PJRT_Api* api;
    if (!api) {
        read_settings();
        api = new_table();
        record("GetPjrtApi %s", library_of(__builtin_return_address(0)));
    }
    return api;
}
