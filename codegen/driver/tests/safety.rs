//! Safe methods under failures of a driver: each program runs with a library of its own.

mod compilers;

use std::process::Command;

use compilers::{assert_success, compile, has_libclang, library_of_c, options};
use sp_driver::{Contract, Options};

/// A driver that calls functions late, and cannot enqueue host functions.
const LATE_DRIVER: &str = "#include <stddef.h>\n\
    typedef enum st { ST_OK, ST_BAD } st;\n\
    typedef struct dev_st* dev;\n\
    typedef struct q_st* q;\n\
    typedef void (*fn)(void*);\n\
    st dev_open(int ordinal, dev* out);\n\
    st dev_close(dev d);\n\
    int dev_count(void);\n\
    st q_join(dev first, dev second, q* out);\n\
    st q_destroy(q queue);\n\
    st q_call(q queue, fn f, void* data);\n\
    st q_put_then(q queue, const void* from, size_t size, fn f, void* data);\n\
    st q_get_then(q queue, void* to, size_t size, fn f, void* data);\n\
    st q_both(q queue, fn f, void* f_data, fn g, void* g_data);\n\
    st q_swap(q queue, const void* from, size_t from_size, void* to, size_t to_size);\n\
    st q_short(q queue, const void* from, unsigned char size, fn f, void* data);\n\
    st dev_open_two(dev* first, dev* second);\n\
    st q_flush(q queue);\n";

const LATE_DRIVER_CODE: &str = "static int open;\n\
    static struct { fn f; void* data; } calls[8];\n\
    static int pending;\n\
    static st later(fn f, void* data) { calls[pending].f = f; calls[pending++].data = data; return ST_OK; }\n\
    st dev_open(int ordinal, dev* out) { open++; *out = (dev)(size_t)(8 + ordinal); return ST_OK; }\n\
    st dev_close(dev d) { open--; return ST_OK; }\n\
    int dev_count(void) { return open; }\n\
    st q_join(dev first, dev second, q* out) { *out = (q)64; return ST_OK; }\n\
    st q_destroy(q queue) { return ST_OK; }\n\
    st q_call(q queue, fn f, void* data) { return ST_BAD; }\n\
    st q_put_then(q queue, const void* from, size_t size, fn f, void* data) { return later(f, data); }\n\
    st q_get_then(q queue, void* to, size_t size, fn f, void* data) { return later(f, data); }\n\
    st q_both(q queue, fn f, void* f_data, fn g, void* g_data) { later(f, f_data); return later(g, g_data); }\n\
    st q_swap(q queue, const void* from, size_t from_size, void* to, size_t to_size) {\n\
      return from_size == 2 && to_size == 3 && *(const char*)from == 7 && *(char*)to == 0 ? ST_OK : ST_BAD;\n\
    }\n\
    st q_short(q queue, const void* from, unsigned char size, fn f, void* data) { return later(f, data); }\n\
    st dev_open_two(dev* first, dev* second) { open++; *second = (dev)9; return ST_OK; }\n\
    st q_flush(q queue) {\n\
      for (int i = 0; i < pending; i++) calls[i].f(calls[i].data);\n\
      pending = 0;\n\
      return ST_OK;\n\
    }\n";

const LATE_CONTRACT: &str = r#"threads = "any"
host_function = "q_call"
[owned]
dev = { destroy = "dev_close" }
q = { destroy = "q_destroy" }
[functions]
dev_open = { out = "new" }
dev_count = {}
q_join = { out = "new" }
q_call = { f = "function data" }
q_put_then = { from = "source size", f = "function data" }
q_get_then = { to = "target size", f = "function data" }
q_both = { f = "function f_data", g = "function g_data" }
q_swap = { from = "source from_size", to = "target to_size" }
q_short = { from = "source size", f = "function data" }
dev_open_two = { first = "new", second = "new" }
q_flush = {}
"#;

/// The start of a program: a queue of two devices, and closures that count their calls and their drops.
const LATE_PROGRAM: &str = "use driver::safe;
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLED: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Bytes(Vec<u8>, #[allow(dead_code)] Counted);
    impl AsRef<[u8]> for Bytes {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    struct Counted([u8; 2]);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    fn closure(step: usize) -> impl FnOnce() + Send + 'static {
        let value = Counted([7, 7]);
        move || {
            let value = &value;
            assert_eq!(value.0, [7, 7]);
            CALLED.fetch_add(step, Ordering::SeqCst);
        }
    }
    fn counts() -> (usize, usize) {
        (CALLED.load(Ordering::SeqCst), DROPPED.load(Ordering::SeqCst))
    }
    fn queue() -> (safe::Driver, safe::q) {
        let driver = safe::Driver::get(&[]).expect(\"the library\");
        let devices = [0, 1].map(|ordinal| driver.dev_open(ordinal).unwrap());
        (driver, devices[0].q_join(&devices[1]).unwrap())
    }
";

/// Runs a program with the bindings of `LATE_DRIVER` and its library.
fn run_with_late_driver(program: &str) {
    run_with_driver(
        ("late", LATE_DRIVER, LATE_DRIVER_CODE, LATE_CONTRACT),
        &format!("{LATE_PROGRAM}\n{program}"),
    );
}

/// Runs a program with the bindings of a driver and its library: the driver's name, header, code and contract.
fn run_with_driver((name, text, code, contract): (&str, &str, &str, &str), program: &str) {
    if !has_libclang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join(format!("{name}.h"));
    std::fs::write(&header, text).unwrap();
    let contract = Contract::parse(&format!("{name}.toml"), contract).unwrap();
    let bindings = sp_driver::bindings(&Options {
        contract: Some(contract),
        ..options(&header)
    });
    let code = format!("#include \"{}\"\n{code}", header.display());
    let library = library_of_c(&code, folder.path());
    let unused = "#[allow(dead_code, reason = \"each program uses a part\")]\nmod program {\n    use super::driver;\n";
    let code = format!("{unused}{program}\n}}\nfn main() {{ program::main() }}");
    let built = compile(&bindings.unwrap().text, &code);
    let mut command = Command::new(built.path().join("program"));
    command
        .env(format!("{}_LIBRARY", name.to_uppercase()), library)
        .env("MALLOC_PERTURB_", "165");
    assert_success(&command.output().expect("the program runs"));
}

#[test]
fn closure_that_the_driver_has_taken_is_not_freed_if_a_later_host_function_fails() {
    run_with_late_driver(
        "pub fn main() {
            let (_, queue) = queue();
            assert!(queue.q_put_then([1_u8, 2], closure(1)).is_err());
            assert!(queue.q_get_then(|_| (), 4, closure(10)).is_err());
            assert_eq!(counts(), (0, 0));
            queue.q_flush().unwrap();
            assert_eq!(counts(), (11, 2));
            assert!(queue.q_call(closure(100)).is_err());
            assert_eq!(counts(), (11, 3));
        }",
    );
}

#[test]
fn function_with_several_closures_or_buffers_passes_each() {
    run_with_late_driver(
        "pub fn main() {
            let (_, queue) = queue();
            queue.q_both(closure(1), closure(10)).unwrap();
            queue.q_flush().unwrap();
            assert_eq!(counts(), (11, 2));
            let error = queue.q_swap([7_u8, 7], |_| (), 3).unwrap_err();
            assert!(error.to_string().contains(\"q_call\"), \"{error}\");
        }",
    );
}

#[test]
fn value_keeps_each_of_two_handles_of_one_type_alive() {
    run_with_late_driver(
        "pub fn main() {
            let (driver, queue) = queue();
            assert_eq!(driver.dev_count().unwrap(), 2);
            drop(queue);
            assert_eq!(driver.dev_count().unwrap(), 0);
        }",
    );
}

#[test]
fn length_that_is_too_large_frees_source_and_closure() {
    run_with_late_driver(
        "pub fn main() {
            let (_, queue) = queue();
            let bytes = Bytes(vec![0; 300], Counted([7, 7]));
            let error = queue.q_short(bytes, closure(1)).unwrap_err();
            assert!(error.to_string().contains(\"a length is too large\"), \"{error}\");
            assert_eq!(counts(), (0, 2));
        }",
    );
}

#[test]
fn value_is_destroyed_if_another_one_of_the_call_is_null() {
    run_with_late_driver(
        "pub fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let error = driver.dev_open_two().err().unwrap();
            assert!(error.to_string().contains(\"returned null\"), \"{error}\");
            assert_eq!(driver.dev_count().unwrap(), 0);
        }",
    );
}

/// A driver that accesses as many bytes of a struct as it states. Each function returns the sum of the sizes.
const SIZED_DRIVER: &str = "#include <stddef.h>\n\
    typedef enum st { ST_OK, ST_BAD } st;\n\
    typedef struct item { int value; size_t size; } item;\n\
    typedef item item_alias;\n\
    typedef struct __attribute__((packed)) { char tag; item items[2][2]; size_t size; } holder;\n\
    st check(void);\n\
    size_t of_slice(const item* items, unsigned count);\n\
    size_t of_alias(const item_alias* item);\n\
    size_t of_optional(const item_alias* item);\n\
    size_t of_holder(const holder* whole);\n\
    st written(item_alias* item);\n";

const SIZED_DRIVER_CODE: &str = "st check(void) { return ST_OK; }\n\
    size_t of_slice(const item* items, unsigned count) {\n\
      size_t sum = 0;\n\
      for (unsigned i = 0; i < count; i++) sum += items[i].size;\n\
      return sum;\n\
    }\n\
    size_t of_alias(const item_alias* item) { return item->size; }\n\
    size_t of_optional(const item_alias* item) { return item ? item->size : 0; }\n\
    size_t of_holder(const holder* whole) {\n\
      size_t sum = whole->size;\n\
      for (int i = 0; i < 4; i++) sum += whole->items[i / 2][i % 2].size;\n\
      return sum;\n\
    }\n\
    st written(item_alias* item) { return item->size == sizeof *item ? ST_OK : ST_BAD; }\n";

const SIZED_CONTRACT: &str = r#"threads = "any"
size_field = "size"
[functions]
check = {}
of_slice = { items = "slice count" }
of_alias = { item = "in" }
of_optional = { item = "optional" }
of_holder = { whole = "in" }
written = { item = "out" }
"#;

#[test]
fn caller_does_not_choose_the_size_of_a_struct() {
    run_with_driver(
        ("sized", SIZED_DRIVER, SIZED_DRIVER_CODE, SIZED_CONTRACT),
        "use driver::safe;
        pub fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let large = driver::item { value: 1, size: usize::MAX / 8 };
            let (item, whole) = (size_of::<driver::item>(), size_of::<driver::holder>());
            assert_eq!(driver.of_alias(large).unwrap(), item);
            assert_eq!(driver.of_optional(Some(large)).unwrap(), item);
            assert_eq!(driver.of_slice(&[large, large]).unwrap(), 2 * item);
            let boxed = driver::holder { tag: 1, items: [[large; 2]; 2], size: usize::MAX / 8 };
            assert_eq!(driver.of_holder(boxed).unwrap(), whole + 4 * item);
            driver.written().unwrap();
        }",
    );
}

/// A driver whose memory is an integer, whose stream is a narrow one, and whose context and buffer are `void*`. `MISUSES`
/// counts values that were destroyed before, or after what they belong to.
const NUMBERED_DRIVER: &str = "#include <stddef.h>\n\
    #include <stdint.h>\n\
    typedef enum st { ST_OK, ST_BAD } st;\n\
    typedef void* ctx;\n\
    typedef uint64_t ptr;\n\
    typedef ptr ptr_alias;\n\
    typedef uint32_t stream;\n\
    typedef const void* pinned;\n\
    typedef uint64_t tagged;\n\
    st ctx_open(ctx* out);\n\
    st ctx_close(ctx c);\n\
    st mem_alloc(ctx c, size_t bytes, ptr* out);\n\
    st mem_free(ctx c, ptr memory);\n\
    st mem_fill(ptr_alias memory, unsigned char value);\n\
    st mem_copy(stream s, ptr to, ptr from);\n\
    st stream_create(ctx c, stream* out);\n\
    st stream_destroy(stream s);\n\
    st stream_call(stream s, void (*f)(void*), void* data);\n\
    st stream_put(stream s, ptr to, const void* from, size_t bytes);\n\
    st pin(pinned* out);\n\
    st unpin(pinned memory);\n\
    st tag(uint64_t* out);\n\
    st untag(tagged t);\n\
    st tag_use(tagged t);\n\
    ctx ctx_make(void);\n\
    ptr_alias mem_make(ctx c, size_t bytes);\n\
    stream stream_make(ctx c, ptr* memory);\n\
    pinned pin_make(int is_absent);\n\
    uint64_t tag_make(void);\n\
    int live(void);\n\
    int misuses(void);\n";

const NUMBERED_DRIVER_CODE: &str = "static int contexts, memories, streams, pins, tags, misuse, next;\n\
    static int freed[64];\n\
    st ctx_open(ctx* out) { contexts++; *out = &contexts; return ST_OK; }\n\
    st ctx_close(ctx c) { contexts--; misuse += c != &contexts || memories || streams; return ST_OK; }\n\
    st mem_alloc(ctx c, size_t bytes, ptr* out) {\n\
      misuse += c != &contexts;\n\
      *out = bytes ? ((uint64_t)1 << 40) + ++next : 0;\n\
      memories += bytes != 0;\n\
      return ST_OK;\n\
    }\n\
    st mem_free(ctx c, ptr memory) {\n\
      memories--;\n\
      misuse += c != &contexts || !contexts || memory >> 40 != 1 || freed[memory & 63]++;\n\
      return ST_OK;\n\
    }\n\
    st mem_fill(ptr_alias memory, unsigned char value) { return memory >> 40 == 1 ? ST_OK : ST_BAD; }\n\
    st mem_copy(stream s, ptr to, ptr from) { return s == 7 && to >> 40 == 1 && from >> 40 == 1 ? ST_OK : ST_BAD; }\n\
    st stream_create(ctx c, stream* out) { streams++; *out = 7; return ST_OK; }\n\
    st stream_destroy(stream s) { streams--; misuse += s != 7; return ST_OK; }\n\
    st stream_call(stream s, void (*f)(void*), void* data) { misuse += s != 7; f(data); return ST_OK; }\n\
    st stream_put(stream s, ptr to, const void* from, size_t bytes) {\n\
      return s == 7 && to >> 40 == 1 && bytes == 2 && *(const char*)from == 7 ? ST_OK : ST_BAD;\n\
    }\n\
    st pin(pinned* out) { pins++; *out = &pins; return ST_OK; }\n\
    st unpin(pinned memory) { pins--; misuse += memory != &pins; return ST_OK; }\n\
    st tag(uint64_t* out) { tags++; *out = 99; return ST_OK; }\n\
    st untag(tagged t) { tags--; misuse += t != 99; return ST_OK; }\n\
    st tag_use(tagged t) { return t == 99 ? ST_OK : ST_BAD; }\n\
    ctx ctx_make(void) { ctx made; ctx_open(&made); return made; }\n\
    ptr_alias mem_make(ctx c, size_t bytes) { ptr made; mem_alloc(c, bytes, &made); return made; }\n\
    stream stream_make(ctx c, ptr* memory) { mem_alloc(c, 1, memory); return 0; }\n\
    pinned pin_make(int is_absent) { pinned made = 0; if (!is_absent) pin(&made); return made; }\n\
    uint64_t tag_make(void) { uint64_t made; tag(&made); return made; }\n\
    int live(void) { return contexts + memories + streams + pins + tags; }\n\
    int misuses(void) { return misuse; }\n";

const NUMBERED_CONTRACT: &str = r#"threads = "any"
host_function = "stream_call"
[owned]
ctx = { destroy = "ctx_close" }
ptr = { destroy = "mem_free" }
stream = { destroy = "stream_destroy" }
pinned = { destroy = "unpin" }
label = { type = "tagged", destroy = "untag" }
[functions]
ctx_open = { out = "new" }
mem_alloc = { out = "new" }
mem_fill = {}
mem_copy = { to = "address" }
stream_create = { out = "new" }
stream_call = { f = "function data" }
stream_put = { to = "address", from = "source bytes" }
pin = { out = "new" }
tag = { out = "new label" }
tag_use = {}
ctx_make = { return = "new" }
mem_make = { return = "new" }
stream_make = { memory = "new", return = "new stream" }
pin_make = { return = "new" }
tag_make = { return = "new label" }
live = {}
misuses = {}
"#;

#[test]
fn integer_and_pointer_typedefs_are_destroyed_once_and_before_what_they_belong_to() {
    run_with_driver(
        (
            "numbered",
            NUMBERED_DRIVER,
            NUMBERED_DRIVER_CODE,
            NUMBERED_CONTRACT,
        ),
        "use driver::{self as raw, safe};
        fn is_shared<T: Send + Sync + Clone>(_: &T) {}
        pub fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let context: safe::ctx = driver.ctx_open().unwrap();
            let memory: safe::ptr = context.mem_alloc(4).unwrap();
            let other = context.mem_alloc(4).unwrap();
            let stream: safe::stream = context.stream_create().unwrap();
            let pinned: safe::pinned = driver.pin().unwrap();
            let label: safe::label = driver.tag().unwrap();
            is_shared(&(&context, &memory, &stream, &pinned, &label));
            let (raw_context, raw_pinned): (raw::ctx, raw::pinned) = (context.handle(), pinned.handle());
            assert!(!raw_context.is_null() && !raw_pinned.is_null());
            let (number, address): (raw::ptr, usize) = (memory.handle(), label.address());
            assert_eq!((number >> 40, stream.handle(), address), (1, 7_u32, 99));
            memory.mem_fill(1).unwrap();
            stream.mem_copy(number as usize, &other).unwrap();
            stream.stream_put(number as usize, [7_u8, 7]).unwrap();
            label.tag_use().unwrap();
            let error = context.mem_alloc(0).err().unwrap();
            assert!(error.to_string().contains(\"returned 0\"), \"{error}\");
            assert_eq!(driver.live().unwrap(), 6);
            // Each value keeps the context alive.
            drop(context);
            let clone = memory.clone();
            drop(memory);
            assert_eq!(driver.live().unwrap(), 6);
            drop((clone, other, stream, pinned, label));
            assert_eq!((driver.live().unwrap(), driver.misuses().unwrap()), (0, 0));
        }",
    );
}

#[test]
fn values_that_functions_return_are_destroyed_once_and_null_is_an_error() {
    run_with_driver(
        (
            "returned",
            NUMBERED_DRIVER,
            NUMBERED_DRIVER_CODE,
            NUMBERED_CONTRACT,
        ),
        "use driver::safe;
        pub fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let context: safe::ctx = driver.ctx_make().unwrap();
            let memory: safe::ptr = context.mem_make(4).unwrap();
            let pinned: safe::pinned = driver.pin_make(0).unwrap();
            let label: safe::label = driver.tag_make().unwrap();
            assert_eq!((memory.handle() >> 40, label.address(), driver.live().unwrap()), (1, 99, 4));
            let error = context.mem_make(0).err().unwrap();
            assert!(error.to_string().contains(\"returned 0\"), \"{error}\");
            let error = driver.pin_make(1).err().unwrap();
            assert!(error.to_string().contains(\"returned null\"), \"{error}\");
            // The memory of a call whose stream is absent is freed.
            assert!(context.stream_make().is_err());
            assert_eq!(driver.live().unwrap(), 4);
            // The memory keeps its context alive.
            drop(context);
            assert_eq!(driver.live().unwrap(), 4);
            drop((memory, pinned, label));
            assert_eq!((driver.live().unwrap(), driver.misuses().unwrap()), (0, 0));
        }",
    );
}

/// A driver whose device is an opaque struct, whose buffer is a typedef of a pointer to one, and whose scan is a struct that
/// the header defines. `misuses` counts values that were destroyed before, or after what they belong to.
const STRUCT_DRIVER: &str = "typedef struct qk_device qk_device;\n\
    typedef struct qk_other *qk_other;\n\
    typedef struct qk_buffer qk_buffer;\n\
    typedef qk_buffer *qk_buffer_h;\n\
    typedef struct { unsigned version, size; int found; } qk_props;\n\
    typedef struct qk_scan { int count; } qk_scan;\n\
    typedef enum qk_status { QK_OK, QK_BAD } qk_status;\n\
    qk_status qk_open(int ordinal, qk_device **out);\n\
    qk_device *qk_first(int is_absent);\n\
    void qk_close(qk_device *dev);\n\
    qk_status qk_check(const qk_device *dev, qk_device *null);\n\
    qk_status qk_alloc(qk_device *dev, int bytes, qk_buffer_h *out);\n\
    void qk_free(qk_buffer *buffer, qk_device *dev);\n\
    qk_status qk_copy(qk_buffer_h to, const qk_buffer *from);\n\
    const qk_scan *qk_scan_start(qk_device *dev);\n\
    qk_status qk_scan_end(const qk_scan *scan);\n\
    int qk_scan_next(qk_scan *scan);\n\
    qk_status qk_get_props(const qk_device *dev, qk_props *props);\n\
    int live(void);\n\
    int misuses(void);\n";

const STRUCT_DRIVER_CODE: &str = "struct qk_device { int open; };\n\
    struct qk_buffer { int used; };\n\
    static qk_device device;\n\
    static qk_buffer buffers[8];\n\
    static qk_scan scan;\n\
    static int next, scans, misuse, allocated;\n\
    qk_status qk_open(int ordinal, qk_device **out) {\n\
      *out = ordinal ? 0 : &device;\n\
      device.open += !ordinal;\n\
      return QK_OK;\n\
    }\n\
    qk_device *qk_first(int is_absent) { qk_device *out; qk_open(is_absent, &out); return out; }\n\
    void qk_close(qk_device *dev) { misuse += dev != &device || !device.open; misuse += !--device.open && (scans || allocated); }\n\
    qk_status qk_check(const qk_device *dev, qk_device *null) { return dev == &device && !null ? QK_OK : QK_BAD; }\n\
    qk_status qk_alloc(qk_device *dev, int bytes, qk_buffer_h *out) {\n\
      *out = &buffers[next++];\n\
      (*out)->used = 1;\n\
      allocated++;\n\
      return dev == &device ? QK_OK : QK_BAD;\n\
    }\n\
    void qk_free(qk_buffer *buffer, qk_device *dev) { allocated--; misuse += dev != &device || !buffer->used--; }\n\
    qk_status qk_copy(qk_buffer_h to, const qk_buffer *from) { return to->used && from->used && to != from ? QK_OK : QK_BAD; }\n\
    const qk_scan *qk_scan_start(qk_device *dev) { scans++; return &scan; }\n\
    qk_status qk_scan_end(const qk_scan *it) { misuse += it != &scan || !scans--; return QK_OK; }\n\
    int qk_scan_next(qk_scan *it) { return ++it->count; }\n\
    qk_status qk_get_props(const qk_device *dev, qk_props *props) {\n\
      if (props->version != 2 || props->size != sizeof *props) return QK_BAD;\n\
      props->found = 42;\n\
      return QK_OK;\n\
    }\n\
    int live(void) { return device.open + scans + allocated; }\n\
    int misuses(void) { return misuse; }\n";

const STRUCT_CONTRACT: &str = r#"threads = "any"
size_field = "size"
[owned]
qk_device = { destroy = "qk_close" }
qk_buffer_h = { destroy = "qk_free" }
qk_scan = { destroy = "qk_scan_end" }
[functions]
qk_open = { out = "new" }
qk_first = { return = "new" }
qk_check = { null = "null" }
qk_alloc = { out = "new" }
qk_copy = {}
qk_scan_start = { return = "new" }
qk_scan_next = {}
qk_get_props = { props = "inout" }
live = {}
misuses = {}
"#;

#[test]
fn pointers_to_structs_are_destroyed_once_and_before_what_they_belong_to() {
    run_with_driver(
        (
            "pointed",
            STRUCT_DRIVER,
            STRUCT_DRIVER_CODE,
            STRUCT_CONTRACT,
        ),
        "use driver::{self as raw, safe};
        fn is_shared<T: Send + Sync + Clone>(_: &T) {}
        pub fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let device: safe::qk_device = driver.qk_open(0).unwrap();
            let other: safe::qk_device = driver.qk_first(0).unwrap();
            let error = driver.qk_open(1).err().unwrap();
            assert!(error.to_string().contains(\"returned null\"), \"{error}\");
            assert!(driver.qk_first(1).is_err());
            other.qk_check().unwrap();
            let buffer: safe::qk_buffer_h = device.qk_alloc(4).unwrap();
            let second = other.qk_alloc(4).unwrap();
            buffer.qk_copy(&second).unwrap();
            assert!(buffer.qk_copy(&buffer).is_err());
            let scan: safe::qk_scan = device.qk_scan_start().unwrap();
            assert_eq!((scan.qk_scan_next().unwrap(), scan.qk_scan_next().unwrap()), (1, 2));
            is_shared(&(&device, &buffer, &scan));
            let raw_device: *mut raw::qk_device = device.handle();
            assert!(!raw_device.is_null() && raw_device == buffer.qk_device().handle());
            assert_eq!(driver.live().unwrap(), 5);
            // Each value keeps its device alive.
            drop((device, other));
            assert_eq!(driver.live().unwrap(), 5);
            let clone = buffer.clone();
            drop(buffer);
            assert_eq!(driver.live().unwrap(), 5);
            drop((clone, second, scan));
            assert_eq!((driver.live().unwrap(), driver.misuses().unwrap()), (0, 0));
        }",
    );
}

#[test]
fn inout_struct_has_the_callers_fields_its_own_size_and_the_drivers_result() {
    run_with_driver(
        (
            "changed",
            STRUCT_DRIVER,
            STRUCT_DRIVER_CODE,
            STRUCT_CONTRACT,
        ),
        "use driver::{self as raw, safe};
        pub fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let device = driver.qk_open(0).unwrap();
            let asked = raw::qk_props { version: 2, size: u32::MAX, found: 0 };
            let found: raw::qk_props = device.qk_get_props(asked).unwrap();
            assert_eq!((found.version, found.found), (2, 42));
            assert!(device.qk_get_props(raw::qk_props { version: 1, ..asked }).is_err());
        }",
    );
}
