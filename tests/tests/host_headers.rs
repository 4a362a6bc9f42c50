//! The scanner of a host's headers against the IR, which clang made of the same headers: every struct,
//! enumeration, typedef and function of the APIs that a plugin fills tables of, in every release.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sp_ir::{Api, Item, Struct};
use sp_runtime::c_header::Header;
use sp_runtime::installation::IncludeRoot;

const APIS: [&str; 5] = [
    "stream_executor",
    "grappler",
    "pluggable_profiler",
    "kernels",
    "kernels_experimental",
];

/// The slowest scan that is accepted, several times what is measured: the machine may be busy.
const SLOWEST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 10 });

/// Returns the include roots of the store by release: `2.21` for the folder `2.21.0`.
fn include_roots() -> Vec<(String, PathBuf)> {
    let store = sp_tests::root().join("headers/store");
    let folders = fs::read_dir(store).into_iter().flatten().flatten();
    let roots = folders.filter_map(|folder| {
        let name = folder.file_name().into_string().ok()?;
        let minor: Vec<_> = name.split('.').take(2).collect();
        Some((minor.join("."), folder.path().join("include")))
    });
    roots.collect()
}

fn check_struct(header: &Header<'_>, name: &str, expected: &Struct) {
    let members = header
        .members(name)
        .unwrap_or_else(|why| panic!("{name}: {why:?}"));
    let layout = header.layout(&members).unwrap();
    let size = expected.struct_size.as_ref().map(|it| it.value);
    assert_eq!(Some(layout.size as u64), size, "{name}");
    assert_eq!(members.len(), expected.fields.len(), "{name}");
    for (member, field) in members.iter().zip(&expected.fields) {
        assert_eq!(member.name, field.name, "{name}");
        assert_eq!(
            member.ty.to_string(),
            field.ty.canonical(),
            "{name}.{}",
            field.name
        );
        assert_eq!(layout.offsets[&field.name] as u64, field.offset, "{name}");
    }
}

/// Checks every item that `api` declares; returns how many those were.
fn check(header: &Header<'_>, api: &Api) -> usize {
    let mut checked = 0;
    for (name, item) in &api.items {
        match item {
            Item::Struct(it) if it.struct_size.is_some() => check_struct(header, name, it),
            Item::Enum(it) => {
                let found = header.enumerators(name).unwrap();
                let expected = it.variants.iter().map(|it| (it.name.clone(), it.value));
                assert!(found.into_iter().eq(expected), "{name}");
            }
            Item::Callback(it) => {
                let found = header.typedef(name).unwrap();
                assert_eq!(found.to_string(), it.signature.canonical(), "{name}");
            }
            Item::Function(it) if !it.inline => {
                let found = header
                    .function(name)
                    .unwrap_or_else(|why| panic!("{name}: {why:?}"));
                assert_eq!(found.to_string(), it.signature.canonical(), "{name}");
            }
            _ => continue,
        }
        checked += 1;
    }
    checked
}

#[test]
fn agrees_with_clang_on_every_release() {
    let roots = include_roots();
    if roots.is_empty() {
        println!("skipped: headers/store is empty; run `sp-gen import tensorflow all`");
        return;
    }
    let mut checked = 0;
    for (release, root) in roots {
        let apis = sp_tests::snapshots(&release);
        for api in apis.iter().filter(|api| APIS.contains(&api.name.as_str())) {
            let headers: BTreeSet<_> = api.items.values().map(|it| &*it.loc().file).collect();
            let root = IncludeRoot::new(&root).unwrap();
            let start = Instant::now();
            let texts = headers.into_iter().flat_map(|it| root.read(it).unwrap());
            let texts: BTreeMap<_, _> = texts.collect();
            let header = Header::scan(texts.values().map(String::as_str)).unwrap();
            let here = check(&header, api);
            assert!(
                here > 0 && start.elapsed() < SLOWEST,
                "{:?}",
                start.elapsed()
            );
            println!(
                "{release} {}: {here} items in {:?}",
                api.name,
                start.elapsed()
            );
            checked += here;
        }
    }
    assert!(checked > 1000, "{checked}");
}

/// A generator of numbers, seeded: a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Characters that mean something to C.
const MARKS: &[u8] = b"{}()[]*;,#\"'/\\=% \n";

/// Removes, repeats or replaces a few bytes of `text`.
fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=numbers.below(4) {
        let (from, to) = (numbers.below(bytes.len()), numbers.below(bytes.len()));
        let len = numbers.below(60).min(bytes.len() - from.max(to));
        let part = bytes[from..from + len].to_vec();
        match numbers.below(3) {
            0 => drop(bytes.drain(to..to + len)),
            1 => drop(bytes.splice(to..to, part)),
            _ => bytes[to] = MARKS[numbers.below(MARKS.len())],
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The fuzz target `header` does this without an end.
#[test]
fn survives_mutations_of_a_real_header() {
    let api = sp_tests::snapshots("2.21");
    let api = api
        .iter()
        .find(|api| api.name == "stream_executor")
        .unwrap();
    let Some((_, root)) = include_roots().into_iter().find(|(it, _)| it == "2.21") else {
        println!("skipped: headers/store is empty; run `sp-gen import tensorflow all`");
        return;
    };
    let path = &*api.items["SP_StreamExecutor"].loc().file;
    let text = fs::read_to_string(root.join(path)).unwrap();
    let (mut numbers, mut read) = (Numbers(0x5eed), 0);
    for _ in 0..2000 {
        let mutated = mutate(&text, &mut numbers);
        let Ok(header) = Header::scan([mutated.as_str()]) else {
            continue;
        };
        for name in api.items.keys() {
            let _typedef = header.typedef(name);
            let _enumerators = header.enumerators(name);
            let layout = header.members(name).and_then(|it| header.layout(&it));
            if let Ok(layout) = layout {
                assert!(layout.offsets.values().all(|offset| *offset < layout.size));
                read += 1;
            }
        }
    }
    assert!(read > 1000, "{read}");
}
