use super::*;

/// A header with the features of TensorFlow's headers: guards, `extern "C"`, size macros inside of braces.
const DEMO: &str = r#"
#ifndef DEMO_H_
#define DEMO_H_
#include <stdint.h>
#define FLAG unsigned char  // 0 or 1
#ifdef __cplusplus
extern "C" {
#endif
typedef struct SP_Stream_st* SP_Stream;
typedef void (*Callback)(void* const, TF_Status*);
typedef enum State { STATE_A, STATE_B = 5, STATE_C, } State;
typedef struct SP_Demo {
  size_t struct_size;
  void* ext;  // reserved; not read
  FLAG flag;
  State state;
  void (*run)(const SP_Stream stream,
              int32_t /* count */);
#define SP_DEMO_STRUCT_SIZE \
  TF_OFFSET_OF_END(SP_Demo, last)
  FLAG last;
} SP_Demo;
TF_CAPI_EXPORT extern void TF_Run(const SP_Demo* demo, FLAG flag);
static inline int helper(void) { return 1; }
#ifdef __cplusplus
}  // extern "C"
#endif
#endif
"#;

fn header(text: &str) -> Header<'_> {
    Header::scan([text]).unwrap()
}

/// Returns the error for the struct `SP_Demo` of `text`.
fn rejection(text: &str) -> HeaderError {
    let scanned = Header::scan([text]).and_then(|header| {
        let members = header.members("SP_Demo")?;
        header.layout(&members)
    });
    scanned.unwrap_err()
}

#[test]
fn reads_members_with_their_offsets() {
    let header = header(DEMO);
    let members = header.members("SP_Demo").unwrap();
    let spelled: Vec<_> = members.iter().map(|it| it.ty.to_string()).collect();
    let run = "void(SP_Stream,int32_t)";
    assert_eq!(
        spelled,
        ["size_t", "void*", "uint8_t", "State", run, "uint8_t"]
    );
    let layout = header.layout(&members).unwrap();
    assert_eq!(
        (layout.offsets["state"], layout.offsets["run"], layout.size),
        (20, 24, 33)
    );
}

#[test]
fn reads_enumerators_typedefs_and_functions() {
    let header = header(DEMO);
    let names = ["STATE_A", "STATE_B", "STATE_C"].map(str::to_owned);
    let expected: Vec<_> = names.into_iter().zip([0, 5, 6]).collect();
    assert_eq!(header.enumerators("State").unwrap(), expected);
    assert_eq!(
        header.typedef("SP_Stream").unwrap().to_string(),
        "SP_Stream_st*"
    );
    assert_eq!(
        header.typedef("Callback").unwrap().to_string(),
        "void(void*,TF_Status*)"
    );
    assert_eq!(
        header.function("TF_Run").unwrap().to_string(),
        "void(SP_Demo const*,uint8_t)"
    );
    assert_eq!(header.function("helper"), Err(HeaderError::Absent));
    assert_eq!(header.members("SP_Other"), Err(HeaderError::Absent));
}

#[test]
fn rejects_members_under_a_condition() {
    let edits = [
        ("  void* ext;", "#if X\n  void* ext;\n#endif\n"),
        (
            "typedef struct SP_Demo {",
            "#ifdef X\ntypedef struct SP_Demo {",
        ),
    ];
    for (old, new) in edits {
        let text = DEMO.replacen(old, new, 1);
        assert!(
            matches!(rejection(&text), HeaderError::Unsupported(_)),
            "{new}"
        );
    }
}

#[test]
fn rejects_constructs_that_may_change_a_layout() {
    let edits = [
        ("#include <stdint.h>", "#pragma pack(1)"),
        ("#include <stdint.h>", "#define ext other"),
        ("FLAG flag;", "FLAG flag : 1;"),
        ("FLAG flag;", "FLAG flag[2];"),
        ("#define FLAG unsigned char", "#define FLAG uint64_t*"),
        (
            "#define FLAG unsigned char",
            "#define FLAG /* x */ uint64_t",
        ),
        ("#define FLAG unsigned char", "#define FLAG"),
        (
            "#define FLAG unsigned char",
            "#define FLAG char\n#define FLAG int",
        ),
        (
            "#define FLAG unsigned char",
            "#define FLAG char\n#undef FLAG",
        ),
        (
            "#define FLAG unsigned char",
            "#if A\n#define FLAG char\n#endif",
        ),
        ("#include <stdint.h>", "#define struct union"),
        ("#include <stdint.h>", "#define int32_t int64_t"),
        ("#include <stdint.h>", "#define X 1 /* begins\n*/"),
        ("#include <stdint.h>", "#unknown"),
        ("#include <stdint.h>", "_Pragma(\"pack(1)\")"),
        ("#include <stdint.h>", "%:define ext other"),
        ("// reserved; not read", "// reserved \\"),
        ("FLAG flag;", "UNKNOWN flag;"),
        ("FLAG flag;", "long flag;"),
        ("FLAG flag;", "FLAG ext;"),
        ("FLAG flag;", "alignas(16) FLAG flag;"),
        ("} SP_Demo;", "} __attribute__((packed)) SP_Demo;"),
        ("} SP_Demo;", "} SP_Demo, *SP_Pointer;"),
        ("STATE_B = 5", "STATE_B = 1 << 3"),
        ("STATE_B = 5", "STATE_B = 99999999999"),
    ];
    for (old, new) in edits {
        assert!(DEMO.contains(old), "{old}");
        let text = DEMO.replacen(old, new, 1);
        let _reason = rejection(&text);
    }
}

#[test]
fn rejects_struct_that_is_defined_twice() {
    let twice = DEMO.replacen("#endif\n#endif", "#endif", 1);
    assert!(Header::scan([twice.as_str()]).is_err());
    let error = Header::scan([DEMO, DEMO]).unwrap().members("SP_Demo");
    assert_eq!(
        error,
        Err(HeaderError::Unsupported("a name is declared twice"))
    );
}

#[test]
fn rejects_every_truncation_that_cuts_the_struct() {
    let end = DEMO.find("} SP_Demo;").unwrap();
    for len in (0..end).filter(|len| DEMO.is_char_boundary(*len)) {
        let _reason = rejection(&DEMO[..len]);
    }
}

#[test]
fn rejects_header_over_size_limit() {
    let large = " ".repeat(MAX_SIZE + 1);
    assert!(Header::scan([large.as_str()]).is_err());
}

#[test]
fn recognizes_function_pointers_behind_typedefs() {
    let header = header(DEMO);
    let may_be = |name: &str| header.may_be_function(&CType::Named(name.into()));
    assert!(may_be("Callback") && may_be("Unknown"));
    assert!(!may_be("SP_Stream") && !may_be("State") && !may_be("int32_t"));
}

#[test]
fn rejects_thousands_of_stars_without_overflow_of_the_stack() {
    let stars = "*".repeat(199_000);
    let text = format!("typedef struct S {{ int {stars} x; }} S;");
    assert!(Header::scan([&*text]).unwrap().members("S").is_err());
    let text = format!("typedef int {stars} T;");
    assert!(Header::scan([&*text]).unwrap().typedef("T").is_err());
    let text = format!("int {stars} F(void);");
    assert!(Header::scan([&*text]).unwrap().function("F").is_err());
    let text = format!("typedef int {} T;", "*".repeat(64));
    assert!(Header::scan([&*text]).unwrap().typedef("T").is_ok());
}

#[test]
fn rejects_long_declarations_that_many_names_use() {
    let enumerators: String = (0..5_000).map(|number| format!("E{number},")).collect();
    let parameters = "int,".repeat(5_000);
    let text = format!(
        "typedef enum E {{ {enumerators} }} E;\ntypedef void (*F)({parameters} int);\n\
        typedef struct S {{ E e; }} S;"
    );
    let header = Header::scan([&*text]).unwrap();
    assert!(header.enumerators("E").is_err() && header.typedef("F").is_err());
    let members = header.members("S").unwrap();
    assert!(header.layout(&members).is_err());
}

#[test]
fn macro_with_a_long_body_has_no_known_value() {
    let text = format!("#define M unsigned{}\nM f(void);", " int".repeat(100_000));
    assert!(Header::scan([&*text]).unwrap().function("f").is_err());
}

/// Returns the shortest CPU time of three scans on this thread, so that other work on the machine does not count.
fn scan_time(text: &str) -> std::time::Duration {
    let scan = |_| {
        let start = cpu_time();
        assert!(Header::scan([text]).is_err());
        cpu_time() - start
    };
    (0..3).map(scan).min().unwrap_or_default()
}

/// Returns the CPU time of the calling thread.
fn cpu_time() -> std::time::Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable, and every thread has this clock.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0);
    std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn scans_conditionals_and_punctuation_in_linear_time() {
    let conditionals = |count| "#ifdef __cplusplus\n".repeat(count) + &";".repeat(8 * count);
    let braces = |count| "*".repeat(3 * count) + " struct " + &"{}".repeat(3 * count);
    for text in [conditionals as fn(usize) -> String, braces] {
        let (short, long) = (scan_time(&text(2_500)), scan_time(&text(20_000)));
        assert!(
            long < 24 * short,
            "{short:?}, eight times as much: {long:?}"
        );
    }
}
