//! The generated headers as C11 and as C++17, with every compiler of this machine: alone, beside TensorFlow's own
//! headers, and for targets with other layouts; and the compile errors for calls that some release lacks.

#[path = "shim/compiler.rs"]
#[allow(dead_code, reason = "each test crate has this module and uses a part")]
mod compiler;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use compiler::{
    STRICT, compile, compilers, folder, headers, headers_of, source, split_words, stored,
};
use similar::TextDiff;
use sp_data::snapshots;
use sp_ir::{Api, Item, Struct, TargetDifference};
use sp_tests::root;

const C: [&str; 3] = ["cc", "gcc", "clang-14"];
const CPP: [&str; 3] = ["c++", "g++", "clang-14"];

/// The folder with the headers, generated once.
static HEADERS: LazyLock<PathBuf> = LazyLock::new(headers);

fn names() -> Vec<String> {
    names_in(&HEADERS)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Compiles the text, which is C or C++ by its file name.
fn check(compiler: &str, options: &str, name: &str, text: &str) -> Result<(), String> {
    let path = folder("checked").join(format!("{compiler}-{name}"));
    fs::write(&path, text).unwrap();
    let include = format!("-I{}", HEADERS.display());
    let options = split_words(&format!("-fsyntax-only {options}"));
    let strict = STRICT.map(str::to_owned);
    let file = path.display().to_string();
    compile(
        compiler,
        &[options, strict.into(), vec![include, file]].concat(),
    )
}

fn assert_compiles(compiler: &str, options: &str, name: &str, text: &str) {
    check(compiler, options, name, text)
        .unwrap_or_else(|error| panic!("{compiler} {options} {name}:\n{error}"));
}

fn include(names: &[String]) -> String {
    let lines = names.iter().map(|name| format!("#include \"{name}\"\n"));
    lines.collect()
}

#[test]
fn each_header_compiles_alone_in_c_and_cpp() {
    let (c, cpp) = (compilers(&C), compilers(&CPP));
    if c.is_empty() || cpp.is_empty() {
        return println!("skipped: this machine has no C or no C++ compiler");
    }
    for name in names() {
        let text = include(std::slice::from_ref(&name));
        // The other compilers compile all headers at once, in other tests.
        for compiler in c.iter().take(1) {
            assert_compiles(
                compiler,
                "-std=c11 -fsyntax-only",
                &format!("{name}.c"),
                &text,
            );
        }
        for compiler in cpp.iter().take(1) {
            assert_compiles(
                compiler,
                "-std=c++17 -fsyntax-only",
                &format!("{name}.cc"),
                &text,
            );
        }
    }
}

#[test]
fn headers_of_older_releases_compile() {
    for release in ["2.5", "2.6", "2.9", "2.13"] {
        let folder = headers_of(Some(release.parse().unwrap()));
        let names: Vec<String> = names_in(&folder);
        for (compilers, options) in [(compilers(&C), "-std=c11"), (compilers(&CPP), "-std=c++17")] {
            let end = if options == "-std=c11" { "c" } else { "cc" };
            // The compiler searches the first folder first.
            let options = format!("{options} -I{}", folder.display());
            for compiler in compilers.into_iter().take(1) {
                let name = format!("{release}.{end}");
                assert_compiles(compiler, &options, &name, &include(&names));
            }
        }
    }
}

#[test]
fn plugin_compiles_with_every_optimization_level() {
    for compiler in compilers(&C) {
        for level in ["-O0", "-O1", "-O3"] {
            let text = fs::read_to_string(source("after.c")).unwrap();
            let options = format!("-std=c11 -D_DEFAULT_SOURCE {level}");
            assert_compiles(compiler, &options, "after.c", &text);
        }
    }
}

/// Returns the include root of a release and TensorFlow's headers in it, or `None` if they are not stored.
fn tensorflow_headers(release: &str, apis: &[Api]) -> Option<(PathBuf, Vec<String>)> {
    let root = stored(release)?;
    let of_release = apis.iter().filter(|api| api.release == release);
    let files = of_release.flat_map(|api| api.items.values().map(|item| item.loc().file.clone()));
    let files: BTreeSet<String> = files.collect();
    Some((root, files.into_iter().collect()))
}

/// TensorFlow's headers are empty after the generated ones.
#[test]
fn tensorflow_headers_compile_after_generated_ones() {
    let Some(compiler) = compilers(&CPP).first().copied() else {
        return println!("skipped: this machine has no C++ compiler");
    };
    let apis = apis();
    for release in ["2.5", "2.12", "2.21"] {
        let Some((root, files)) = tensorflow_headers(release, &apis) else {
            println!("skipped: the headers of {release} are not stored");
            continue;
        };
        let text = include(&names()) + &include(&files);
        let options = format!("-std=c++17 -isystem {}", root.display());
        assert_compiles(compiler, &options, &format!("beside-{release}.cc"), &text);
    }
}

/// The generated headers define the include guard of each of TensorFlow's headers, in every release.
#[test]
fn defines_every_include_guard_of_tensorflow() {
    let paths = names().into_iter().map(|name| HEADERS.join(name));
    let generated: String = paths
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let apis = apis();
    let releases: BTreeSet<&str> = apis.iter().map(|api| api.release.as_str()).collect();
    for release in releases {
        let Some((root, files)) = tensorflow_headers(release, &apis) else {
            println!("skipped: the headers of {release} are not stored");
            continue;
        };
        assert!(!files.is_empty());
        for file in files {
            let text = fs::read_to_string(root.join(&file)).unwrap();
            let guard = text.lines().find_map(|line| line.strip_prefix("#ifndef "));
            let guard = guard.unwrap_or_else(|| panic!("{file} of {release} has no guard"));
            let line = format!("#define {} 1\n", guard.trim());
            assert!(generated.contains(&line), "{file} of {release}: {line}");
        }
    }
}

#[test]
fn rejects_tensorflow_headers_before_generated_ones() {
    let (Some(root), Some(compiler)) = (stored("2.21"), compilers(&C).first().copied()) else {
        return println!("skipped: no C compiler, or the headers of 2.21 are not stored");
    };
    let first = "#include \"tensorflow/c/experimental/stream_executor/stream_executor.h\"\n";
    let text = format!("{first}#include \"spgen_stream_executor.h\"\n");
    let options = format!("-std=c11 -isystem {}", root.display());
    let error = check(compiler, &options, "before.c", &text).unwrap_err();
    let expected = "before TensorFlow's own headers, or without them";
    assert!(error.contains(expected), "{error}");
}

/// A call of a function that some release lacks, and an access to a field of a host's struct, do not compile.
#[test]
fn rejects_calls_and_accesses_that_some_release_lacks() {
    let Some(compiler) = compilers(&["gcc"]).first().copied() else {
        return println!("skipped: this machine has no gcc");
    };
    for (body, expected) in [
        (
            "void f(TF_OpKernelContext* c) { TF_GetStepId(c); }",
            "TF_GetStepId was added in 2.12: call spgen_find(TF_GetStepId), or define SPGEN_MIN_RELEASE as 212",
        ),
        (
            "void f(TF_OpKernelContext* c) { TF_GetDevice(c); }",
            "TF_GetDevice is not exported by every release",
        ),
        (
            "void f(TF_GraphProperties* g) { TF_DeleteGraphProperties(g); }",
            "TF_DeleteGraphProperties is experimental",
        ),
        ("void f(SP_Platform* p) { p->name = \"X\"; }", "incomplete"),
        (
            "void f(SP_Platform* p) { p->struct_size = SP_PLATFORM_STRUCT_SIZE; }",
            "undeclared",
        ),
    ] {
        let all = names().into_iter().filter(|name| name != "spgen_pjrt.h");
        let text = include(&all.collect::<Vec<_>>()) + body + "\n";
        // The compiler checks the attribute when it generates code.
        let path = folder("checked").join("uncallable.c");
        fs::write(&path, text).unwrap();
        let options = compile_arguments(compiler, &path);
        let error = compile(compiler, &options).unwrap_err();
        assert!(error.contains(expected), "{body}: {error}");
    }
    let later = "void f(TF_OpKernelContext* c) { TF_GetStepId(c); }\n";
    let text = include(&["spgen_kernels.h".to_owned()]) + later;
    assert_compiles(
        compiler,
        "-std=c11 -DSPGEN_MIN_RELEASE=212",
        "later.c",
        &text,
    );
}

fn compile_arguments(compiler: &str, path: &Path) -> Vec<String> {
    let out = folder("checked").join(format!("{compiler}.o"));
    let rest = [
        format!("-I{}", HEADERS.display()),
        format!("-o{}", out.display()),
        path.display().to_string(),
    ];
    [split_words("-std=c11 -O1 -c"), rest.into()].concat()
}

/// The compiler determines the layouts of other targets. They must be those of the IR, if it has them.
#[test]
fn layouts_of_other_targets_match_ir() {
    let Some(compiler) = compilers(&["clang-14", "clang"]).first().copied() else {
        return println!("skipped: this machine has no clang");
    };
    let newest = apis().into_iter().filter(|api| api.release == "2.22");
    let asserted: String = newest.map(|api| i686_assertions(&api)).collect();
    assert!(asserted.contains("sizeof(SP_AllocatorStats_newest) == 84"));
    let text = include(&names());
    for (target, text) in [
        ("i686-unknown-linux-gnu", format!("{text}{asserted}")),
        ("aarch64-unknown-linux-gnu", text.clone()),
        ("riscv64-unknown-linux-gnu", text.clone()),
        ("arm64-apple-macosx11.0", text),
    ] {
        for (standard, end) in [("c11", "c"), ("c++17", "cc")] {
            let options = format!(
                "-std={standard} --target={target} -nostdinc -nostdinc++ -Qunused-arguments -Wno-gnu-include-next \
                 -Wno-unknown-warning-option -isystem {} -isystem {}",
                source("system").display(),
                root().join("headers/builtin").display()
            );
            assert_compiles(compiler, &options, &format!("{target}.{end}"), &text);
        }
    }
}

/// Returns assertions for the layouts of i686 in the IR.
fn i686_assertions(api: &Api) -> String {
    let Some(differs) = api.targets.get("i686-unknown-linux-gnu") else {
        return String::new();
    };
    let lines = differs
        .iter()
        .map(|(name, differs)| match api.items.get(name) {
            Some(Item::Struct(item)) => layout(name, item, differs),
            _ => String::new(),
        });
    lines.collect()
}

fn layout(name: &str, item: &Struct, differs: &TargetDifference) -> String {
    let name = match item.is_versioned() {
        true => format!("{name}_newest"),
        false => name.to_owned(),
    };
    let size = differs.layout.iter();
    let size = size.map(|it| format!("sizeof({name}) == {}", it.size));
    let fields = item.fields.iter().zip(&differs.offsets);
    let fields =
        fields.map(|(field, offset)| format!("offsetof({name}, {}) == {offset}", field.name));
    let last = item.struct_size.as_ref().map(|it| &it.last_field);
    let end = last.zip(differs.struct_size);
    let end = end.map(|(last, size)| format!("SPGEN_END_OF({name}, {last}) == {size}"));
    let all = size.chain(fields).chain(end);
    all.map(|fact| format!("SPGEN_STATIC_ASSERT({fact}, \"{name}\");\n"))
        .collect()
}

fn apis() -> Vec<Api> {
    snapshots::read_folder(&root().join("generated/ir"), None).unwrap()
}

/// The page contains the diff of the two plugins; `SP_BLESS=1` updates it.
#[test]
fn page_contains_the_diff_of_the_plugins() {
    let page = root().join("codegen/docs/c.md");
    let text = fs::read_to_string(&page).unwrap();
    let read = |name| fs::read_to_string(source(name)).unwrap();
    let (before, after) = (read("before.c"), read("after.c"));
    let diff = TextDiff::from_lines(&before, &after);
    let diff = diff.unified_diff().context_radius(1).to_string();
    let (start, rest) = text.split_once("```diff\n").expect("it has a diff");
    let (_, end) = rest.split_once("```").expect("the diff ends");
    let updated = format!("{start}```diff\n{diff}```{end}");
    if std::env::var_os("SP_BLESS").is_some() {
        fs::write(&page, &updated).unwrap();
    } else {
        let hint = "SP_BLESS=1 cargo test -p sp-gen --test c_headers page";
        assert!(
            text == updated,
            "the page has an outdated diff; `{hint}` updates it"
        );
    }
}
