//! Tests of precedence, conventions and mistakes in notes. The declarations are written by hand, so libclang is not
//! needed.

use miette::Diagnostic;
use sp_ir::{
    Api, Direction, Evidence, Field, Function, Handle, Item, Layout, Loc, Param, Presence, Side,
    Signature, Struct, Transfer, Type,
};

mod results;

use super::notes::Mistake;
use super::*;
use crate::clang::Comment;

fn loc(line: u32) -> Loc {
    Loc::new("demo.h", line)
}

fn field(name: &str, ty: Type) -> Field {
    Field::new(name, ty, 0, 8, loc(2))
}

fn structure(fields: Vec<Field>) -> Item {
    Item::Struct(Struct::new(fields, Layout { size: 8, align: 8 }, loc(1)))
}

fn callback(params: Vec<Param>) -> Type {
    Type::Function(Box::new(Signature::new(params, Type::Void)))
}

fn function(name: &str, params: Vec<Param>) -> Item {
    let signature = Signature::new(params, Type::Void);
    Item::Function(Function::new(signature, name, loc(9)))
}

fn pointer(name: &str) -> Type {
    Type::pointer(Type::Named(name.into()), true)
}

/// `SP_S { ext, open }` and `Init(thing)`.
fn items() -> Items {
    let open = callback(vec![Param::new("size", Type::Size)]);
    Items::from([
        (
            "SP_S".into(),
            structure(vec![field("ext", Type::Size), field("open", open)]),
        ),
        (
            "Init".into(),
            function("Init", vec![Param::new("thing", pointer("SP_S"))]),
        ),
    ])
}

fn comments(item: &str, member: &str, text: &str) -> Comments {
    let mut comments = Comments::default();
    let comment = Comment {
        text: text.into(),
        loc: loc(2),
    };
    comments.add(item, member, comment);
    comments
}

const HEAD: &str = "headers = [\"demo.h\"]\nprefixes = { SP_ = \"plugin\" }\n";

fn notes(body: &str) -> Notes {
    Notes::parse("demo", &format!("{HEAD}{body}")).unwrap()
}

fn annotated(comments: &Comments, body: &str) -> Result<Items, NotesError> {
    annotated_items(items(), comments, body)
}

fn annotated_items(mut items: Items, comments: &Comments, body: &str) -> Result<Items, NotesError> {
    let (notes, known) = (notes(body), KnownNames::default());
    annotate(&mut items, comments, &notes, &known, "2.21")?;
    Ok(items)
}

fn mistakes(comments: &Comments, body: &str) -> Vec<Mistake> {
    match annotated(comments, body) {
        Err(NotesError::Mistaken { file, mistakes }) => {
            assert_eq!(file, "headers/apis/demo.toml");
            mistakes
        }
        other => panic!("{other:?}"),
    }
}

fn codes(mistakes: &[Mistake]) -> Vec<String> {
    mistakes
        .iter()
        .map(|mistake| mistake.code().unwrap().to_string())
        .collect()
}

fn struct_of<'i>(items: &'i Items, name: &str) -> &'i Struct {
    match &items[name] {
        Item::Struct(item) => item,
        other => panic!("{other:?}"),
    }
}

#[test]
fn precedence_is_note_then_comment_then_prefix() {
    let comments = comments("SP_S", "ext", "set by core");
    let items = annotated(&comments, "").unwrap();
    let filled = struct_of(&items, "SP_S").filled_by.clone().unwrap();
    let expected = (Side::Plugin, Evidence::Prefix);
    assert_eq!((filled.value, filled.evidence), expected);
    let ext = struct_of(&items, "SP_S").fields[0]
        .filled_by
        .clone()
        .unwrap();
    assert_eq!(
        (ext.value, ext.evidence),
        (Side::Core, Evidence::Comment(loc(2)))
    );

    let note = "[item.SP_S.fields.ext]\nfilled_by = \"plugin\"\nevidence = \"seen\"\noverrides = \"comment\"";
    let items = annotated(&comments, note).unwrap();
    let ext = struct_of(&items, "SP_S").fields[0]
        .filled_by
        .clone()
        .unwrap();
    assert_eq!(
        (ext.value, ext.evidence),
        (Side::Plugin, Evidence::Notes("seen".into()))
    );
}

#[test]
fn keeps_fact_of_higher_precedence() {
    let mut slot = None;
    state(&mut slot, Side::Plugin, Evidence::Comment(loc(1)));
    state(&mut slot, Side::Core, Evidence::Prefix);
    assert_eq!(slot.unwrap().value, Side::Plugin);
}

#[test]
fn rejects_contradiction_without_overrides() {
    let comments = comments("SP_S", "open", "[Optional]");
    let note = "[item.SP_S]\npresence = [{ value = \"required\", fields = [\"open\"], evidence = \"seen\" }]";
    let found = mistakes(&comments, note);
    assert_eq!(codes(&found), ["sp_gen::notes::contradiction"]);
    let text = found[0].to_string();
    for part in [
        "headers/apis/demo.toml",
        "item.SP_S.presence: open",
        "demo.h:2",
        "Required",
        "Optional",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let announced = note.replace("evidence =", "overrides = \"comment\", evidence =");
    let items = annotated(&comments, &announced).unwrap();
    let presence = struct_of(&items, "SP_S").fields[1]
        .presence
        .clone()
        .unwrap();
    assert_eq!(presence.value, Presence::Required);
}

#[test]
fn rejects_override_without_contradiction() {
    let note =
        "[item.SP_S.fields.ext]\ndirection = \"in\"\nevidence = \"seen\"\noverrides = \"comment\"";
    assert_eq!(
        codes(&mistakes(&Comments::default(), note)),
        ["sp_gen::notes::override_unused"]
    );
}

#[test]
fn reports_all_unused_notes() {
    let note = "
        entry_points = { Nope = \"seen\" }
        docs = { Gone = \"text\" }
        item.Away.doc = \"text\"
        item.SP_S.fields.lost.doc = \"text\"
        item.SP_S.rust = \"u8\"
        item.SP_S.fields.open.params.no = { direction = \"in\", evidence = \"seen\" }
        item.Init.author_trait = \"T\"
        item.SP_S.ret = { transfer = \"full\", evidence = \"seen\" }
        item.SP_S.instead = \"Init\"
        item.Init.discriminator = \"release\"
        item.Init.params.other = { scope = \"call\", evidence = \"seen\" }";
    let found = mistakes(&Comments::default(), note);
    let keys: Vec<&str> = found
        .iter()
        .map(|mistake| match mistake {
            Mistake::Unused { key, .. } => key.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = "entry_points.Nope docs.Gone item.Away item.Init.author_trait \
        item.Init.discriminator item.Init.params.other item.SP_S.rust item.SP_S.fields.lost \
        item.SP_S.fields.open.params.no item.SP_S.instead item.SP_S.ret";
    assert_eq!(keys.join(" "), expected);
}

#[test]
fn accepts_note_on_name_of_another_release() {
    let items_elsewhere = [("Away".into(), structure(vec![field("old", Type::Size)]))];
    let elsewhere = Api::new("demo", "2.5", items_elsewhere.into());
    let note = notes("item.Away = { doc = \"text\", fields.old.doc = \"text\" }");
    annotate(
        &mut items(),
        &Comments::default(),
        &note,
        &KnownNames::from_apis([&elsewhere]),
        "2.21",
    )
    .unwrap();
}

#[test]
fn applies_note_to_its_releases_only() {
    let note = notes(
        "[item.SP_S]
        evidence = \"seen\"
        presence = [
            { value = \"required\", fields = [\"open\"], releases = \"..2.13\", evidence = \"old\" },
            { value = \"optional\", fields = [\"open\"], releases = \"2.14..\", evidence = \"new\" },
        ]
        fields.open = { default_return = \"0\", releases = \"2.9\" }",
    );
    let facts = |release: &str| {
        let mut items = items();
        let (comments, known) = (Comments::default(), KnownNames::default());
        annotate(&mut items, &comments, &note, &known, release).unwrap();
        let open = struct_of(&items, "SP_S").fields[1].clone();
        (
            open.presence.map(|fact| fact.value),
            open.default_return.is_some(),
        )
    };
    assert_eq!(facts("2.8"), (Some(Presence::Required), false));
    assert_eq!(facts("2.9"), (Some(Presence::Required), true));
    assert_eq!(facts("2.14"), (Some(Presence::Optional), false));
    let error = Notes::parse("demo", &format!("{HEAD}item.SP_S.releases = \"new\""));
    assert!(matches!(error, Err(NotesError::Malformed(_))), "{error:?}");
}

#[test]
fn reads_side_from_name_pattern() {
    let with = "[prefixes]\nSP_ = \"plugin\"\n\"SP_*_Args\" = \"core\"";
    let notes = Notes::parse("demo", &format!("headers = [\"demo.h\"]\n{with}")).unwrap();
    let names = ["SP_Table", "SP_Run_Args", "Other"];
    let mut items: Items = names
        .map(|name| (name.to_string(), structure(Vec::new())))
        .into();
    let (comments, known) = (Comments::default(), KnownNames::default());
    annotate(&mut items, &comments, &notes, &known, "2.21").unwrap();
    let side = |name: &str| {
        struct_of(&items, name)
            .filled_by
            .clone()
            .map(|fact| fact.value)
    };
    assert_eq!(side("SP_Table"), Some(Side::Plugin));
    assert_eq!(side("SP_Run_Args"), Some(Side::Core));
    assert_eq!(side("Other"), None);
}

#[test]
fn requires_evidence_in_note_or_outer_table() {
    let bare = "item.SP_S.fields.open.default_return = \"0\"";
    let expected = ["sp_gen::notes::no_evidence"];
    assert_eq!(codes(&mistakes(&Comments::default(), bare)), expected);
    let around = format!("{bare}\nitem.SP_S.evidence = \"seen\"");
    let items = annotated(&Comments::default(), &around).unwrap();
    let default_return = struct_of(&items, "SP_S").fields[1]
        .default_return
        .clone()
        .unwrap();
    assert_eq!(default_return.evidence, Evidence::Notes("seen".into()));
}

#[test]
fn rejects_malformed_notes_with_source_span() {
    let error = Notes::parse("demo", "headers = []\nheaderz = 1\n").unwrap_err();
    let expected = "sp_gen::notes::malformed";
    assert_eq!(error.code().unwrap().to_string(), expected);
    assert!(
        error.to_string().contains("unknown field `headerz`"),
        "{error}"
    );
    assert!(
        error
            .labels()
            .is_some_and(|mut labels| labels.next().is_some())
    );
}

#[test]
fn core_exports_functions_that_are_not_entry_points() {
    let side = |body: &str| match &annotated(&Comments::default(), body).unwrap()["Init"] {
        Item::Function(function) => function.exported_by.clone().unwrap().value,
        other => panic!("{other:?}"),
    };
    assert_eq!(side(""), Side::Core);
    assert_eq!(side("entry_points = { Init = \"seen\" }"), Side::Plugin);
}

#[test]
fn create_and_destroy_transfer_the_handle() {
    let handle = Item::Handle(Handle::new(true, loc(1)));
    let create = callback(vec![
        Param::new("owner", pointer("SP_S")),
        Param::new("out", pointer("Q")),
    ]);
    let destroy = callback(vec![Param::new("q", Type::Named("Q".into()))]);
    let borrow = callback(vec![Param::new("q", Type::Named("Q".into()))]);
    let fields = vec![
        field("create_q", create),
        field("destroy_q", destroy),
        field("use_q", borrow),
    ];
    let items = Items::from([("Q".into(), handle), ("Fns".into(), structure(fields))]);
    let items = annotated_items(items, &Comments::default(), "").unwrap();
    let params = |slot: usize| match &struct_of(&items, "Fns").fields[slot].ty {
        Type::Function(signature) => signature.params.clone(),
        other => panic!("{other:?}"),
    };
    let transfer = |param: &Param| param.transfer.clone().map(|fact| fact.value);
    let created = params(0);
    assert_eq!(created[1].direction.clone().unwrap().value, Direction::Out);
    assert_eq!(transfer(&created[1]), Some(Transfer::Full));
    assert_eq!(
        transfer(&created[0]),
        None,
        "a pointer to a struct transfers no ownership"
    );
    assert_eq!(transfer(&params(1)[0]), Some(Transfer::Full));
    assert_eq!(transfer(&params(2)[0]), None);
}

#[test]
fn reads_ownership_in_function_comments() {
    let out = Type::pointer(pointer("T"), true);
    let cases = [
        (
            pointer("B"),
            "This call takes ownership of the `thing` pointer.",
            None,
            Some(Transfer::Full),
        ),
        (
            pointer("B"),
            "This call does not take ownership of `thing`.",
            None,
            Some(Transfer::None),
        ),
        (
            out,
            "On success *thing is populated and its ownership\nis passed to the caller.",
            Some(Direction::Out),
            Some(Transfer::Full),
        ),
        (
            pointer("T"),
            "Places it into *thing. *status is set.",
            Some(Direction::Out),
            None,
        ),
        (
            pointer("T"),
            "The caller takes ownership of nothing.",
            None,
            None,
        ),
    ];
    for (ty, text, direction, transfer) in cases {
        let function = function("F", vec![Param::new("thing", ty)]);
        let items = Items::from([("F".into(), function)]);
        let items = annotated_items(items, &comments("F", "", text), "").unwrap();
        let Item::Function(found) = &items["F"] else {
            unreachable!()
        };
        let param = &found.signature.params[0];
        let found = param.direction.clone().map(|fact| fact.value);
        assert_eq!(found, direction, "{text}");
        let found = param.transfer.clone().map(|fact| fact.value);
        assert_eq!(found, transfer, "{text}");
    }
}
