//! Bit-fields: values are compared with those that a C library reads and writes.

mod compilers;

use compilers::{bind, library_of_c};

/// Runs Rust code with the bindings of a header and a library of C code with the same declarations.
fn run(header: &str, c_code: &str, code: &str) {
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.left_out, []);
    let folder = tempfile::tempdir().unwrap();
    let library = library_of_c(&format!("{header}{c_code}"), folder.path());
    let code = format!(
        "use driver::*;
        fn main() {{
            // SAFETY: the library has the functions of its header, and the values are those that they take.
            unsafe {{
                let driver = Driver::load_from({library:?}).unwrap();
                driver.require(FUNCTIONS).unwrap();
                {code}
            }}
        }}"
    );
    compilers::run(&bindings.text, &code);
}

#[test]
fn accessors_read_and_write_the_bits_of_c() {
    let header = "#include <stdint.h>\n\
        typedef struct { unsigned a : 3, b : 5; } v_bits;\n\
        enum v_mode { V_OFF, V_ON, V_AUTO = 3 };\n\
        struct v_all { char first; int low : 4; signed char s : 7; _Bool flag : 1; enum v_mode mode : 2; double x;\n\
            uint64_t wide : 60; unsigned : 0; unsigned short after : 9, set_after : 1, type : 2, default_ : 1; short last; };\n\
        v_bits fill(int a, int b);\n\
        int sum(v_bits value);\n\
        void fill_all(struct v_all* value);\n\
        int is_same(const struct v_all* value);\n";
    let c_code = "v_bits fill(int a, int b) { v_bits v = {a, b}; return v; }\n\
        int sum(v_bits v) { return v.a * 100 + v.b; }\n\
        void fill_all(struct v_all* v) { struct v_all x = {'x', -8, -64, 1, V_AUTO, 1.5, 0x800000000000001, 511, 1, 2, 1, -3}; *v = x; }\n\
        int is_same(const struct v_all* v) { return v->first == 'y' && v->low == 7 && v->s == 63 && !v->flag && v->mode == V_ON\n\
            && v->x == 2.5 && v->wide == 0x7fffffffffffffe && v->after == 256 && v->set_after == 0 && v->type == 1\n\
            && v->default_ == 0 && v->last == 9; }\n";
    let code = "let bits = driver.fill(5, 30).unwrap();
        assert_eq!((bits.a(), bits.b()), (5, 30));
        let mut own = v_bits::default();
        own.set_a(7 + 8);
        own.set_b(17);
        assert_eq!(driver.sum(own), Ok(717));
        let mut all = v_all::default();
        driver.fill_all(&mut all).unwrap();
        assert_eq!((all.low(), all.s(), all.flag(), all.mode()), (-8, -64, true, v_mode::V_AUTO));
        assert_eq!((all.wide(), all.after(), all.set_after(), all.r#type()), (0x800000000000001, 511, 1, 2));
        assert_eq!((all.first as u8, all.x, all.last, all.default_()), (b'x', 1.5, -3, 1));
        (all.first, all.x, all.last) = (b'y' as _, 2.5, 9);
        all.set_low(7);
        all.set_s(63);
        all.set_flag(false);
        all.set_mode(v_mode::V_ON);
        all.set_wide(0x7fffffffffffffe);
        all.set_after_(256);
        all.set_set_after(0);
        all.set_type(1);
        all.set_default_(0);
        assert_eq!(driver.is_same(&all), Ok(1));";
    run(header, c_code, code);
}

#[test]
fn layouts_with_bit_fields_are_those_of_c() {
    let header = "struct v_float { float f; long a : 60; };\n\
        struct v_char { char x[7]; int a : 20; char c; };\n\
        #pragma pack(push, 1)\nstruct v_packed { char c; unsigned a : 13; unsigned long b : 61; short s; };\n#pragma pack(pop)\n\
        struct v_reserved { unsigned a : 3; unsigned : 29; unsigned : 0; unsigned char b; };\n\
        union v_union { unsigned a : 4; unsigned char bytes[4]; };\n\
        struct v_outer { struct { unsigned a : 1; unsigned b : 2; }; struct v_char inner; union { int i; unsigned u : 31; }; };\n\
        struct v_float copy_float(struct v_float v);\n\
        struct v_char copy_char(struct v_char v);\n\
        struct v_packed copy_packed(struct v_packed v);\n\
        struct v_reserved copy_reserved(struct v_reserved v);\n\
        union v_union copy_union(union v_union v);\n\
        int outer(const struct v_outer* v, unsigned long size);\n";
    let copies = ["float", "char", "packed", "reserved"];
    let copies = copies.map(|name| {
        format!("struct v_{name} copy_{name}(struct v_{name} v) {{ v.a++; return v; }}\n")
    });
    let c_code = copies.concat()
        + "union v_union copy_union(union v_union v) { v.a++; return v; }\n\
        int outer(const struct v_outer* v, unsigned long size) { return size == sizeof(*v) && v->b == 2 && v->inner.a == 5 && v->u == 9; }\n";
    let code = "let mut float = v_float { f: 0.5, ..v_float::default() };
        float.set_a(-4);
        let float = driver.copy_float(float).unwrap();
        assert_eq!((float.f, float.a(), size_of::<v_float>()), (0.5, -3, 16));
        let mut chars = v_char { x: [1; 7], c: 7, ..v_char::default() };
        chars.set_a(-524288);
        let chars = driver.copy_char(chars).unwrap();
        assert_eq!((chars.x, chars.a(), chars.c), ([1; 7], -524287, 7));
        let mut packed = v_packed { c: 1, s: 2, ..v_packed::default() };
        packed.set_a(0x1ffe);
        packed.set_b(1 << 60);
        let packed = driver.copy_packed(packed).unwrap();
        assert_eq!((packed.a(), packed.b(), { packed.s }), (0x1fff, 1 << 60, 2));
        let mut reserved = v_reserved { b: 3, ..v_reserved::default() };
        reserved.set_a(6);
        let reserved = driver.copy_reserved(reserved).unwrap();
        assert_eq!((reserved.a(), reserved.b), (7, 3));
        let mut value = v_union { bytes: [0xf0, 1, 2, 3] };
        value.set_a(3);
        let value = driver.copy_union(value).unwrap();
        assert_eq!((value.a(), value.bytes), (4, [0xf4, 1, 2, 3]));
        let mut outer = v_outer::default();
        outer.anonymous.set_b(2);
        outer.inner.set_a(5);
        outer.anonymous_2.set_u(9);
        assert_eq!(driver.outer(&outer, size_of::<v_outer>() as _), Ok(1));";
    run(header, &c_code, code);
}
