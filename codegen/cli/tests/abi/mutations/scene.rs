//! A release, an edit, and the release as edited.

use sp_diff::{Surface, Verdict};
use sp_ir::{
    Api, Callback, Direction, Enum, Evidence, Field, Function, Item, Loc, Param, Signature, Stated,
    Struct, Type, Union,
};

/// Numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    /// One of `all`.
    pub fn pick<T>(&mut self, mut all: Vec<T>) -> Option<T> {
        match all.len() {
            0 => None,
            many => Some(all.swap_remove(self.below(many))),
        }
    }
}

/// A kind of edit and what is to be said of it.
pub struct Edit {
    /// In words.
    pub name: &'static str,
    /// The rule that sees it.
    pub rule: &'static str,
    /// What the whole difference comes to.
    pub verdict: Verdict,
    /// Whether the edited side is the older one.
    pub backwards: bool,
    /// Whether it is made to what other targets have otherwise.
    pub elsewhere: bool,
    /// Makes it, and says where; nothing where the release has no place for it.
    pub make: fn(&mut Surface, &mut Random) -> Option<String>,
}

/// An edit that breaks.
pub const fn breaking(name: &'static str, rule: &'static str, make: Make) -> Edit {
    edit(name, rule, Verdict::Breaking, make)
}

/// An edit that does not break.
pub const fn compatible(name: &'static str, rule: &'static str, make: Make) -> Edit {
    edit(name, rule, Verdict::Compatible, make)
}

/// The same edit, undone.
pub const fn undone(edit: Edit) -> Edit {
    Edit {
        backwards: true,
        ..edit
    }
}

/// The same edit, made to another target.
pub const fn elsewhere(edit: Edit) -> Edit {
    Edit {
        elsewhere: true,
        ..edit
    }
}

/// How an edit is made.
pub type Make = fn(&mut Surface, &mut Random) -> Option<String>;

const fn edit(name: &'static str, rule: &'static str, verdict: Verdict, make: Make) -> Edit {
    Edit {
        name,
        rule,
        verdict,
        backwards: false,
        elsewhere: false,
        make,
    }
}

/// Two sides.
pub struct Scene {
    pub old: Surface,
    pub new: Surface,
    pub place: String,
}

impl Scene {
    /// A release that has a place for the edit, and what comes of it.
    pub fn made(releases: &[Surface], random: &mut Random, edit: &Edit) -> Self {
        for _ in 0..100 {
            let mut old = releases[random.below(releases.len())].clone();
            if !edit.elsewhere {
                // An edit is made to one target; what others have would then be left behind.
                old.apis.iter_mut().for_each(|api| api.targets.clear());
            }
            let mut new = old.clone();
            if let Some(place) = (edit.make)(&mut new, random) {
                return Self { old, new, place };
            }
        }
        panic!("no release has a place for {}", edit.name)
    }

    /// The other way round.
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.old, &mut self.new);
    }
}

/// The items that `choose` finds something in: API, name and what it found.
pub fn choose<T>(
    side: &Surface,
    choose: impl Fn(&str, &Item) -> Option<T>,
) -> Vec<(usize, String, T)> {
    let mut found = Vec::new();
    for (at, api) in side.apis.iter().enumerate() {
        let items = api.items.iter();
        found
            .extend(items.filter_map(|(name, item)| Some((at, name.clone(), choose(name, item)?))));
    }
    found
}

/// Whether any item holds, passes or counts out `name` otherwise than behind one pointer.
pub fn held(side: &Surface, name: &str) -> bool {
    let value = |ty: &Type| match ty {
        Type::Named(other) => other == name,
        Type::Array { elem, .. } => elem.named() == Some(name),
        _ => false,
    };
    let counted = |pair: &[(&str, &Type)]| {
        let points = |one: &(&str, &Type)| one.1.points_to(name);
        let counts = |one: &(&str, &Type)| one.0.starts_with("num_");
        (points(&pair[0]) && counts(&pair[1])) || (counts(&pair[0]) && points(&pair[1]))
    };
    let calls = |signature: &Signature| {
        let params: Vec<(&str, &Type)> = signature
            .params
            .iter()
            .map(|it| (&*it.name, &it.ty))
            .collect();
        params.iter().any(|it| value(it.1))
            || value(&signature.ret)
            || params.windows(2).any(counted)
    };
    let members = |fields: &[Field]| {
        let all: Vec<(&str, &Type)> = fields.iter().map(|it| (&*it.name, &it.ty)).collect();
        let slots = fields
            .iter()
            .any(|it| matches!(&it.ty, Type::Function(inner) if calls(inner)));
        all.iter().any(|it| value(it.1)) || all.windows(2).any(counted) || slots
    };
    side.apis
        .iter()
        .flat_map(|api| api.items.values())
        .any(|item| match item {
            Item::Struct(item) => members(&item.fields),
            Item::Union(item) => members(&item.fields),
            Item::Function(item) => calls(&item.signature),
            Item::Callback(item) => calls(&item.signature),
            _ => false,
        })
}

pub fn structure<'s>(side: &'s mut Surface, at: usize, name: &str) -> &'s mut Struct {
    match side.apis[at].items.get_mut(name) {
        Some(Item::Struct(found)) => found,
        _ => panic!("{name} is a struct"),
    }
}

pub fn union<'s>(side: &'s mut Surface, at: usize, name: &str) -> &'s mut Union {
    match side.apis[at].items.get_mut(name) {
        Some(Item::Union(found)) => found,
        _ => panic!("{name} is a union"),
    }
}

pub fn function<'s>(side: &'s mut Surface, at: usize, name: &str) -> &'s mut Function {
    match side.apis[at].items.get_mut(name) {
        Some(Item::Function(found)) => found,
        _ => panic!("{name} is a function"),
    }
}

pub fn callback<'s>(side: &'s mut Surface, at: usize, name: &str) -> &'s mut Callback {
    match side.apis[at].items.get_mut(name) {
        Some(Item::Callback(found)) => found,
        _ => panic!("{name} is a callback"),
    }
}

pub fn enumeration<'s>(side: &'s mut Surface, at: usize, name: &str) -> &'s mut Enum {
    match side.apis[at].items.get_mut(name) {
        Some(Item::Enum(found)) => found,
        _ => panic!("{name} is an enumeration"),
    }
}

pub fn loc() -> Loc {
    Loc {
        file: "tensorflow/c/edit.h".into(),
        line: 1,
    }
}

pub fn stated<T>(value: T) -> Option<Stated<T>> {
    Some(Stated::new(value, Evidence::Notes("an edit".into())))
}

/// `void (*)(void* self)`.
pub fn slot() -> Type {
    Type::Function(Box::new(Signature {
        params: vec![param("self", pointer(Type::Void))],
        ret: Type::Void,
        ret_transfer: None,
    }))
}

pub fn pointer(pointee: Type) -> Type {
    Type::Pointer {
        pointee: Box::new(pointee),
        mutable: true,
    }
}

pub fn int(bits: u8) -> Type {
    Type::Int { bits, signed: true }
}

pub fn param(name: &str, ty: Type) -> Param {
    Param {
        name: name.into(),
        ty,
        direction: None,
        transfer: None,
        scope: None,
    }
}

pub fn field(name: &str, ty: Type, offset: u64, size: u64) -> Field {
    Field {
        name: name.into(),
        doc: None,
        ty,
        offset,
        size,
        filled_by: None,
        direction: None::<Stated<Direction>>,
        presence: None,
        neutral: None,
        section: None,
        loc: loc(),
    }
}

/// The API that has the most structs of the kind that `edit` wants is of no concern: any will do.
pub fn api<'s>(side: &'s mut Surface, random: &mut Random) -> &'s mut Api {
    let at = random.below(side.apis.len());
    &mut side.apis[at]
}
