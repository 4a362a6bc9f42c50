//! A release before and after an edit.

use sp_diff::{Surface, Verdict};
use sp_ir::{
    Api, Callback, Enum, Evidence, Field, Function, Item, Loc, Param, Signature, Stated, Struct,
    Type, Union,
};

/// A deterministic sequence of numbers.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    /// Returns one of `candidates`.
    pub fn pick<T>(&mut self, mut candidates: Vec<T>) -> Option<T> {
        match candidates.len() {
            0 => None,
            count => Some(candidates.swap_remove(self.below(count))),
        }
    }
}

/// A kind of edit and its expected finding.
pub struct Edit {
    /// The description.
    pub name: &'static str,
    /// The rule of the finding.
    pub rule: &'static str,
    /// The verdict of the whole diff.
    pub verdict: Verdict,
    /// True if the edited side is OLD.
    pub is_reversed: bool,
    /// True if the edit changes the layouts of other targets.
    pub edits_other_target: bool,
    /// Makes the edit and returns its location, or `None` if the release has nothing to edit.
    pub make: Make,
}

/// Returns an edit with a breaking finding.
pub const fn breaking(name: &'static str, rule: &'static str, make: Make) -> Edit {
    edit(name, rule, Verdict::Breaking, make)
}

/// Returns an edit with a compatible finding.
pub const fn compatible(name: &'static str, rule: &'static str, make: Make) -> Edit {
    edit(name, rule, Verdict::Compatible, make)
}

/// Returns the reverse edit: NEW is the release, OLD the edited one.
pub const fn reversed(edit: Edit) -> Edit {
    Edit {
        is_reversed: true,
        ..edit
    }
}

/// Returns an edit of another target's layouts.
pub const fn on_other_target(edit: Edit) -> Edit {
    Edit {
        edits_other_target: true,
        ..edit
    }
}

/// Defines the edits of a file: `kind "description", rule: function`. A function that takes more than the side and the numbers is
/// followed by the other arguments.
macro_rules! edits {
    ($($kind:ident $(of $inner:ident)? $name:literal, $rule:ident: $make:ident $(($($argument:expr),*))?;)*) => {
        pub const EDITS: &[Edit] = &[
            $(edits!(@edit $kind $($inner)? ($name, stringify!($rule), edits!(@make $make $(($($argument),*))?)))),*
        ];
    };
    (@edit $kind:ident $arguments:tt) => { super::scene::$kind $arguments };
    (@edit $outer:ident $kind:ident $arguments:tt) => { super::scene::$outer(super::scene::$kind $arguments) };
    (@make $make:ident) => { $make };
    (@make $make:ident ($($argument:expr),*)) => { |side, random| $make(side, random, $($argument),*) };
}

/// The function of an edit.
pub type Make = fn(&mut Surface, &mut Random) -> Option<String>;

const fn edit(name: &'static str, rule: &'static str, verdict: Verdict, make: Make) -> Edit {
    Edit {
        name,
        rule,
        verdict,
        is_reversed: false,
        edits_other_target: false,
        make,
    }
}

/// The two sides of an edit.
pub struct Scene {
    pub old: Surface,
    pub new: Surface,
    /// The location of the edit.
    pub location: String,
}

impl Scene {
    /// Edits a random release that has something to edit.
    pub fn new(releases: &[Surface], random: &mut Random, edit: &Edit) -> Self {
        for _ in 0..100 {
            let mut old = releases[random.below(releases.len())].clone();
            if !edit.edits_other_target {
                // The edit changes one target only, so the others would have inconsistent layouts.
                old.apis.iter_mut().for_each(|api| api.targets.clear());
            }
            let mut new = old.clone();
            if let Some(location) = (edit.make)(&mut new, random) {
                return Self { old, new, location };
            }
        }
        panic!("no release has anything to edit for: {}", edit.name)
    }

    /// Exchanges OLD and NEW.
    pub fn reverse(&mut self) {
        std::mem::swap(&mut self.old, &mut self.new);
    }
}

/// Returns the items for which `select` returns a value: the API's index, the name and the value.
pub fn select_items<T>(
    side: &Surface,
    select: impl Fn(&str, &Item) -> Option<T>,
) -> Vec<(usize, String, T)> {
    let mut selected = Vec::new();
    for (api_index, api) in side.apis.iter().enumerate() {
        let items = api.items.iter();
        selected.extend(
            items.filter_map(|(name, item)| Some((api_index, name.clone(), select(name, item)?))),
        );
    }
    selected
}

/// Picks a struct for which `select` returns a value: the API's index, the name and the value.
pub fn pick_struct<T>(
    side: &Surface,
    random: &mut Random,
    select: impl Fn(&str, &Struct) -> Option<T>,
) -> Option<(usize, String, T)> {
    random.pick(select_items(side, |name, item| match item {
        Item::Struct(item) => select(name, item),
        _ => None,
    }))
}

/// Picks the first member that `fits` accepts of a struct that has one.
pub fn pick_field(
    side: &Surface,
    random: &mut Random,
    fits: impl Fn(&Field) -> bool,
) -> Option<(usize, String, usize)> {
    pick_struct(side, random, |_, item| item.fields.iter().position(&fits))
}

/// Returns true if an item embeds `name`, passes it by value, or has an array of it.
pub fn is_used_by_value(side: &Surface, name: &str) -> bool {
    let is_value = |ty: &Type| match ty {
        Type::Named(other) => other == name,
        Type::Array { elem, .. } => elem.named() == Some(name),
        _ => false,
    };
    let is_counted = |pair: &[(&str, &Type)]| {
        let is_pointer = |(_, ty): &(&str, &Type)| ty.points_to(name);
        let is_count = |(name, _): &(&str, &Type)| name.starts_with("num_");
        (is_pointer(&pair[0]) && is_count(&pair[1])) || (is_count(&pair[0]) && is_pointer(&pair[1]))
    };
    let in_list = |members: &[(&str, &Type)]| {
        members.iter().any(|(_, ty)| is_value(ty)) || members.windows(2).any(is_counted)
    };
    let in_signature = |signature: &Signature| {
        let params = signature.params.iter();
        let params: Vec<(&str, &Type)> = params.map(|param| (&*param.name, &param.ty)).collect();
        is_value(&signature.ret) || in_list(&params)
    };
    let in_fields = |fields: &[Field]| {
        let members = fields.iter().map(|field| (&*field.name, &field.ty));
        let is_function = |field: &Field| matches!(&field.ty, Type::Function(signature) if in_signature(signature));
        in_list(&members.collect::<Vec<_>>()) || fields.iter().any(is_function)
    };
    let mut items = side.apis.iter().flat_map(|api| api.items.values());
    items.any(|item| match item {
        Item::Struct(item) => in_fields(&item.fields),
        Item::Union(item) => in_fields(&item.fields),
        Item::Function(item) => in_signature(&item.signature),
        Item::Callback(item) => in_signature(&item.signature),
        _ => false,
    })
}

/// Defines functions that return an item of a kind.
macro_rules! accessors {
    ($($function:ident: $kind:ident,)*) => {$(
        pub fn $function<'s>(side: &'s mut Surface, api: usize, name: &str) -> &'s mut $kind {
            match side.apis[api].items.get_mut(name) {
                Some(Item::$kind(found)) => found,
                _ => panic!("{name} is no {}", stringify!($kind)),
            }
        }
    )*};
}

accessors! {
    structure: Struct,
    union: Union,
    function: Function,
    callback: Callback,
    enumeration: Enum,
}

pub fn loc() -> Loc {
    Loc::new("tensorflow/c/edit.h", 1)
}

pub fn stated<T>(value: T) -> Option<Stated<T>> {
    Some(Stated::new(value, Evidence::Notes("an edit".into())))
}

/// Returns `void (*)(void* self)`.
pub fn function_pointer() -> Type {
    let params = vec![Param::new("self", pointer(Type::Void))];
    Type::Function(Box::new(Signature::new(params, Type::Void)))
}

pub fn pointer(pointee: Type) -> Type {
    Type::pointer(pointee, true)
}

pub fn int(bits: u8) -> Type {
    Type::int(bits, true)
}

pub fn field(name: &str, ty: Type, offset: u64, size: u64) -> Field {
    Field::new(name, ty, offset, size, loc())
}

/// Returns a random API.
pub fn any_api<'s>(side: &'s mut Surface, random: &mut Random) -> &'s mut Api {
    let api = random.below(side.apis.len());
    &mut side.apis[api]
}
