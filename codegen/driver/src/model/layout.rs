//! Layouts of structs and unions: the attribute that gives Rust's struct the layout of C, or the bytes alone.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Field, Item, Items, Layout, Type};
use sp_parse::clang::Undescribed;

use super::LeftOut;

/// The form of a struct or union in Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// With its fields.
    Fields(Fields),
    /// As bytes of its size and alignment, with the reason.
    Bytes(Layout, String),
}

/// The attribute of a struct with fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// `repr(C)`.
    Natural,
    /// `repr(C, packed(N))`.
    Packed(u64),
    /// `repr(C, align(N))`.
    Aligned(u64),
}

/// Sizes of types.
pub struct Sizes<'a> {
    items: &'a Items,
    /// The layouts of structs and unions that the IR cannot describe.
    pub undescribed: BTreeMap<String, Layout>,
    /// The structs and unions that a packed struct may contain: each is asked for by all that contain it.
    plain: RefCell<BTreeMap<String, bool>>,
    /// The structs and unions that a function can take by value.
    passable: RefCell<BTreeMap<String, bool>>,
}

/// The deepest nesting of types that is followed, against types that contain themselves.
const MAX_DEPTH: usize = 64;

impl<'a> Sizes<'a> {
    /// Collects the layouts.
    pub fn new(items: &'a Items, undescribed: &[Undescribed]) -> Self {
        let layouts = undescribed.iter();
        let layouts = layouts.filter_map(|it| Some((it.name.clone(), it.layout?)));
        Self {
            items,
            undescribed: layouts.collect(),
            plain: RefCell::default(),
            passable: RefCell::default(),
        }
    }

    /// Returns the layout of a type, or `None` if it has none.
    pub fn layout(&self, ty: &Type) -> Option<Layout> {
        self.layout_at(ty, 0)
    }

    fn layout_at(&self, ty: &Type, depth: usize) -> Option<Layout> {
        let scalar = |size| Some(Layout { size, align: size });
        match ty {
            Type::Void => None,
            Type::Int { bits, .. } | Type::Float { bits } => scalar(u64::from(*bits) / 8),
            Type::Bool | Type::Char => scalar(1),
            Type::Size | Type::Address { .. } | Type::Pointer { .. } | Type::Function(_) => {
                scalar(8)
            }
            Type::Array { elem, len } => {
                let elem = self.layout_at(elem, depth + 1)?;
                let size = elem.size.checked_mul(*len)?;
                Some(Layout { size, ..elem })
            }
            Type::Named(_) if depth > MAX_DEPTH => None,
            Type::Named(name) => self.layout_of_item(name, depth + 1),
        }
    }

    fn layout_of_item(&self, name: &str, depth: usize) -> Option<Layout> {
        let pointer = Layout { size: 8, align: 8 };
        match self.items.get(name) {
            Some(Item::Struct(item)) => Some(item.layout),
            Some(Item::Union(item)) => Some(item.layout),
            Some(Item::Enum(item)) => self.layout_at(&item.repr, depth),
            Some(Item::Alias(item)) => self.layout_at(&item.ty, depth),
            Some(Item::Callback(_)) => Some(pointer),
            Some(Item::Handle(item)) => item.pointer.then_some(pointer),
            Some(Item::Function(_) | Item::Constant(_)) => None,
            None => self.undescribed.get(name).copied(),
        }
    }

    /// Returns true for a type that a function can take by value: bytes alone are passed in other registers than fields.
    pub fn is_passable(&self, name: &str) -> bool {
        let (name, aliased) = self.resolve(name);
        match self.items.get(name) {
            Some(Item::Struct(item)) => self.are_passable(name, &item.fields),
            Some(Item::Union(item)) => self.are_passable(name, &item.fields),
            Some(Item::Alias(_)) => {
                aliased.is_some_and(|ty| *ty == Type::Void || self.layout(ty).is_some())
            }
            Some(Item::Handle(handle)) => handle.pointer,
            Some(Item::Enum(_) | Item::Callback(_)) => true,
            Some(Item::Function(_) | Item::Constant(_)) | None => false,
        }
    }

    /// Returns true for a struct with its fields, if none of them is bytes alone.
    fn are_passable(&self, name: &str, fields: &[Field]) -> bool {
        if let Some(known) = self.passable.borrow().get(name) {
            return *known;
        }
        // A type that contains itself, by two types of one name, is not passable.
        self.passable.borrow_mut().insert(name.to_owned(), false);
        let are_passable = matches!(self.shape(name), Some(Shape::Fields(_)))
            && fields.iter().all(|field| self.is_passable_field(&field.ty));
        let mut known = self.passable.borrow_mut();
        known.insert(name.to_owned(), are_passable);
        are_passable
    }

    fn is_passable_field(&self, ty: &Type) -> bool {
        match ty {
            Type::Array { elem, .. } => self.is_passable_field(elem),
            Type::Named(name) => {
                let (name, aliased) = self.resolve(name);
                match aliased {
                    Some(ty @ Type::Array { .. }) => self.is_passable_field(ty),
                    _ => self.is_passable(name),
                }
            }
            _ => true,
        }
    }

    /// Returns the last name of a chain of typedefs, and the type without a name that it is a typedef of.
    fn resolve<'n>(&'n self, mut name: &'n str) -> (&'n str, Option<&'n Type>) {
        for _ in 0..MAX_DEPTH {
            match self.items.get(name) {
                Some(Item::Alias(alias)) => match &alias.ty {
                    Type::Named(other) => name = other,
                    ty => return (name, Some(ty)),
                },
                _ => break,
            }
        }
        (name, None)
    }

    /// Returns the shapes of the structs and unions among `names`.
    pub fn shapes(&self, names: &BTreeSet<String>) -> BTreeMap<String, Shape> {
        let shape = |name: &String| Some((name.clone(), self.shape(name)?));
        names.iter().filter_map(shape).collect()
    }

    fn shape(&self, name: &str) -> Option<Shape> {
        let (fields, layout, is_union) = match self.items.get(name)? {
            Item::Struct(item) => (&item.fields, item.layout, false),
            Item::Union(item) => (&item.fields, item.layout, true),
            _ => return None,
        };
        let bytes = |reason: &str| Some(Shape::Bytes(layout, reason.to_owned()));
        let members: Option<Vec<Layout>> = fields.iter().map(|it| self.layout(&it.ty)).collect();
        let Some(members) = members else {
            return bytes("has a field of an unknown size");
        };
        let expected = |pack| natural(fields, &members, pack, is_union);
        if expected(u64::MAX) == Some(layout) {
            return Some(Shape::Fields(Fields::Natural));
        }
        let packed = [1, 2, 4, 8]
            .into_iter()
            .find(|pack| expected(*pack) == Some(layout));
        if let Some(pack) = packed.filter(|_| fields.iter().all(|it| self.is_plain(&it.ty, 0))) {
            return Some(Shape::Fields(Fields::Packed(pack)));
        }
        let is_aligned = expected(u64::MAX).is_some_and(|natural| {
            layout.align > natural.align && round_up(natural.size, layout.align) == layout.size
        });
        match is_aligned {
            true => Some(Shape::Fields(Fields::Aligned(layout.align))),
            false => bytes("has a layout that Rust cannot express"),
        }
    }

    /// Returns true for a type that a packed struct may contain: none with an alignment attribute.
    fn is_plain(&self, ty: &Type, depth: usize) -> bool {
        match ty {
            Type::Array { elem, .. } => self.is_plain(elem, depth + 1),
            Type::Named(_) if depth > MAX_DEPTH => false,
            Type::Named(name) => match self.items.get(name) {
                Some(Item::Struct(item)) => self.are_plain(name, &item.fields, depth),
                Some(Item::Union(item)) => self.are_plain(name, &item.fields, depth),
                Some(Item::Alias(item)) => self.is_plain(&item.ty, depth + 1),
                item => item.is_some(),
            },
            _ => true,
        }
    }

    fn are_plain(&self, name: &str, fields: &[Field], depth: usize) -> bool {
        if let Some(known) = self.plain.borrow().get(name) {
            return *known;
        }
        let is_aligned = || {
            !matches!(
                self.shape(name),
                Some(Shape::Fields(Fields::Natural | Fields::Packed(_)))
            )
        };
        let are_plain = fields.iter().all(|it| self.is_plain(&it.ty, depth + 1)) && !is_aligned();
        self.plain.borrow_mut().insert(name.to_owned(), are_plain);
        are_plain
    }
}

/// Returns the layout of `repr(C, packed(pack))`, or `None` if it gives other offsets.
fn natural(fields: &[Field], members: &[Layout], pack: u64, is_union: bool) -> Option<Layout> {
    let mut whole = Layout { size: 0, align: 1 };
    for (field, member) in fields.iter().zip(members) {
        let align = member.align.min(pack);
        let offset = match is_union {
            true => 0,
            false => round_up(whole.size, align),
        };
        if offset != field.offset {
            return None;
        }
        whole.size = whole.size.max(offset.checked_add(member.size)?);
        whole.align = whole.align.max(align);
    }
    whole.size = round_up(whole.size, whole.align);
    Some(whole)
}

fn round_up(size: u64, align: u64) -> u64 {
    size.div_ceil(align.max(1)).saturating_mul(align.max(1))
}

/// Returns the structs and unions whose fields are not bound.
pub fn left_out<'a>(
    shapes: &'a BTreeMap<String, Shape>,
    items: &'a Items,
) -> impl Iterator<Item = LeftOut> + 'a {
    shapes.iter().filter_map(|(name, shape)| match shape {
        Shape::Fields(_) => None,
        Shape::Bytes(_, reason) => Some(LeftOut {
            name: name.clone(),
            reason: reason.clone(),
            loc: items[name].loc().clone(),
            is_function: false,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status;
    use sp_ir::{Alias, Loc};

    #[test]
    fn chains_of_typedefs_of_any_length_have_an_end() {
        let loc = Loc::new("demo.h", 1);
        let alias = |number: usize| {
            let ty = Type::Named(format!("t{}", number + 1));
            let (doc, loc) = (None, loc.clone());
            (format!("t{number}"), Item::Alias(Alias { doc, ty, loc }))
        };
        let items: Items = (0..200_000).map(alias).collect();
        let sizes = Sizes::new(&items, &[]);
        assert!(!sizes.is_passable("t0"));
        assert_eq!(sizes.layout(&Type::Named("t0".to_owned())), None);
        let returned = Type::Named("t0".to_owned());
        let known = status::Known {
            items: &items,
            constants: &[],
            header: "demo.h",
        };
        let status = status::find(&[&returned, &returned], &known, None);
        assert!(status.unwrap().is_none());
    }
}
