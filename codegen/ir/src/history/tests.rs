//! Tests of the history with small APIs that are built in code.

use super::*;
use crate::{Alias, Callback, Function, Handle, Loc, Param, Struct};

fn loc() -> Loc {
    Loc::new("demo.h", 1)
}

fn api(release: &str, items: Vec<(&str, Item)>) -> Api {
    let items = items.into_iter().map(|(name, item)| (name.into(), item));
    Api {
        version: Some("0.0.1".into()),
        ..Api::new("demo", release, items.collect())
    }
}

fn named(name: &str) -> Type {
    Type::Named(name.into())
}

fn signature(params: &[Type]) -> Signature {
    let params = params.iter().map(|ty| Param::new("", ty.clone()));
    Signature::new(params.collect(), Type::Void)
}

fn function(params: &[Type]) -> Item {
    Item::Function(Function::new(signature(params), "run", loc()))
}

fn callback(params: &[Type]) -> Item {
    Item::Callback(Callback::new(signature(params), loc()))
}

fn handle() -> Item {
    Item::Handle(Handle::new(false, loc()))
}

fn alias(ty: Type) -> Item {
    Item::Alias(Alias::new(ty, loc()))
}

/// Members of eight bytes each, one after the other.
fn structure(fields: &[(&str, Type)]) -> Item {
    let field = |(index, (name, ty)): (usize, &(&str, Type))| {
        Field::new(*name, ty.clone(), 8 * index as u64, 8, loc())
    };
    let fields: Vec<_> = fields.iter().enumerate().map(field).collect();
    let size = 8 * fields.len() as u64;
    Item::Struct(Struct::new(fields, Layout { size, align: 8 }, loc()))
}

fn runs<T>(epochs: &[Epoch<T>]) -> Vec<String> {
    let run = |epoch: &Epoch<T>| epoch.releases.join(" ");
    epochs.iter().map(run).collect()
}

#[test]
fn orders_releases_by_number() {
    let plain = || vec![("S", structure(&[("a", Type::Size)]))];
    let apis = [
        api("2.10", plain()),
        api("2.9", plain()),
        api("2.4", plain()),
    ];
    let history = History::from_apis(&apis);
    assert_eq!(history.releases, ["2.4", "2.9", "2.10"]);
    assert_eq!(runs(&history.structs["S"]), ["2.4 2.9 2.10"]);
}

#[test]
fn inserted_field_begins_epoch() {
    let items = |names: &[&str]| {
        let fields: Vec<_> = names.iter().map(|name| (*name, Type::Size)).collect();
        vec![("S", structure(&fields))]
    };
    let apis = [
        api("2.5", items(&["a"])),
        api("2.6", items(&["a"])),
        api("2.7", items(&["b", "a"])),
    ];
    let history = History::from_apis(&apis);
    assert_eq!(runs(&history.structs["S"]), ["2.5 2.6", "2.7"]);
    assert_eq!(history.structs["S"][1].shape.layout.size, 16);
    let expected = ("2.5", "2.7");
    assert_eq!((&*history.since["S.a"], &*history.since["S.b"]), expected);
}

#[test]
fn alias_of_same_type_is_no_change() {
    let params = |name| vec![Type::pointer(named(name), true)];
    let apis = [
        api(
            "2.11",
            vec![("Old", handle()), ("run", function(&params("Old")))],
        ),
        api(
            "2.12",
            vec![
                ("New", handle()),
                ("Old", alias(named("New"))),
                ("run", function(&params("Old"))),
            ],
        ),
        api(
            "2.13",
            vec![("New", handle()), ("run", function(&params("New")))],
        ),
    ];
    let history = History::from_apis(&apis);
    assert_eq!(runs(&history.functions["run"]), ["2.11 2.12 2.13"]);
    assert_eq!(runs(&history.items["Old"]), ["2.11", "2.12"]);
}

#[test]
fn constness_is_no_change_but_pointer_depth_is() {
    let items = |ty| vec![("run", function(&[ty]))];
    let char_pointer = |mutable| Type::pointer(Type::Char, mutable);
    let apis = [
        api("2.4", items(char_pointer(true))),
        api("2.5", items(char_pointer(false))),
        api("2.6", items(Type::pointer(char_pointer(false), true))),
    ];
    let history = History::from_apis(&apis);
    assert_eq!(runs(&history.functions["run"]), ["2.4 2.5", "2.6"]);
}

#[test]
fn added_parameter_changes_callback_and_slot() {
    let field = |params: &[Type]| Type::Function(Box::new(signature(params)));
    let release = |name, params: &[Type]| {
        let slots = [("named", named("Call")), ("plain", field(params))];
        api(
            name,
            vec![("Call", callback(params)), ("S", structure(&slots))],
        )
    };
    let apis = [
        release("2.5", &[Type::Size]),
        release("2.6", &[Type::Size, Type::Bool]),
    ];
    let history = History::from_apis(&apis);
    assert_eq!(runs(&history.callbacks["Call"]), ["2.5", "2.6"]);
    assert_eq!(runs(&history.slots["S.plain"]), ["2.5", "2.6"]);
    assert_eq!(runs(&history.structs["S"]), ["2.5", "2.6"]);
    assert!(!history.slots.contains_key("S.named"));
}

#[test]
fn member_renamed_at_its_offset_is_no_change() {
    let raw = ("priv", Type::pointer(Type::Void, true));
    let typed = ("extension", Type::pointer(named("Base"), true));
    let other = ("extension", Type::Size);
    let apis = [
        api("2.16", vec![("S", structure(&[raw]))]),
        api("2.17", vec![("S", structure(&[typed]))]),
        api("2.18", vec![("S", structure(&[other]))]),
    ];
    let history = History::from_apis(&apis);
    assert_eq!(runs(&history.structs["S"]), ["2.16 2.17", "2.18"]);
}

#[test]
fn swapped_members_are_a_change() {
    let (a, b) = (("a", Type::Size), ("b", Type::Size));
    let apis = [
        api("2.5", vec![("S", structure(&[a.clone(), b.clone()]))]),
        api("2.6", vec![("S", structure(&[b, a]))]),
    ];
    let expected = ["2.5", "2.6"];
    assert_eq!(runs(&History::from_apis(&apis).structs["S"]), expected);
}

#[test]
fn absent_item_leaves_gap_in_epoch() {
    let items = || vec![("run", function(&[named("Old")])), ("Old", handle())];
    let apis = [api("2.4", items()), api("2.5", vec![]), api("2.6", items())];
    let history = History::from_apis(&apis);
    assert_eq!(runs(&history.functions["run"]), ["2.4 2.6"]);
}

#[test]
fn fields_moved_into_embedded_struct_are_no_change() {
    let (a, b) = (("a", Type::Size), ("b", Type::Size));
    let flat = structure(&[a.clone(), b.clone()]);
    let Item::Struct(mut nested) = structure(&[("base", named("Base"))]) else {
        unreachable!("structure() makes structs");
    };
    nested.fields[0].size = 16;
    nested.layout.size = 16;
    let base = structure(&[a, b]);
    let apis = [
        api("2.19", vec![("S", flat)]),
        api("2.20", vec![("S", Item::Struct(nested)), ("Base", base)]),
    ];
    assert_eq!(runs(&History::from_apis(&apis).structs["S"]), ["2.19 2.20"]);
}

#[test]
fn typed_void_pointer_is_no_change() {
    let items = |ty| vec![("S", structure(&[("next", Type::pointer(ty, true))]))];
    let apis = [
        api("2.16", items(Type::Void)),
        api("2.17", items(named("Base"))),
    ];
    assert_eq!(runs(&History::from_apis(&apis).structs["S"]), ["2.16 2.17"]);
}

#[test]
fn appended_field_breaks_only_embedded_struct() {
    let both = [("a", Type::Size), ("b", Type::Size)];
    let (short, long) = (structure(&both[..1]), structure(&both));
    let holder = structure(&[("embedded", named("Embedded"))]);
    let release = |name, item: &Item| {
        let items = [
            ("Standalone", item),
            ("Embedded", item),
            ("Holder", &holder),
        ];
        api(name, items.map(|(name, item)| (name, item.clone())).into())
    };
    let history = History::from_apis(&[release("2.5", &short), release("2.6", &long)]);
    let breaks = |name: &str| {
        let epochs = history.structs[name].iter();
        epochs.map(|epoch| epoch.breaks).collect::<Vec<_>>()
    };
    assert_eq!(breaks("Standalone"), [false, false]);
    assert_eq!(breaks("Embedded"), [false, true]);
}

#[test]
fn equal_sized_epochs_need_a_version() {
    let items = |name: &str| vec![("S", structure(&[(name, Type::Size)]))];
    let release = |name, field, version: &str| Api {
        version: Some(version.into()),
        ..api(name, items(field))
    };
    let function = Type::Function(Box::new(signature(&[])));
    let other = vec![("S", structure(&[("a", function)]))];
    let unversioned = [api("2.5", items("a")), api("2.6", other.clone())];
    let history = History::from_apis(&unversioned);
    let pairs = history.indistinguishable("S");
    assert_eq!(pairs.len(), 1);
    assert_eq!((pairs[0].0.last(), pairs[0].1.first()), ("2.5", "2.6"));
    let newer = Api {
        version: Some("2".into()),
        ..api("2.6", other)
    };
    let history = History::from_apis(&[release("2.5", "a", "1"), newer]);
    assert!(history.indistinguishable("S").is_empty());
    assert_eq!(history.structs["S"].len(), 2);
}
