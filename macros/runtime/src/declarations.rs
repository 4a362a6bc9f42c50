//! The declarations of the newest release that sp-abi contains, and their comparison with the headers of a
//! newer host.
//!
//! sp-abi has one [`KnownApi`] for each API whose tables a plugin fills. `KnownApi::read` computes the
//! layouts of its structs from the host's header. It accepts them if everything that a plugin uses has an
//! unchanged declaration.

use crate::c_header::{Declaration, Header, HeaderError};
use crate::error::{Code, Error, Result};
use crate::host_layout::{HostLayout, HostLayoutCell};
use crate::prefix::Versioned;

/// The declarations of an API.
#[derive(Debug)]
pub struct KnownApi {
    /// Its name, such as `stream_executor`.
    pub name: &'static str,
    /// Its header, by the path below the include root.
    pub header: &'static str,
    /// Its structs with a `struct_size`.
    pub structs: &'static [KnownStruct],
    /// The types that members of these structs name.
    pub types: &'static [KnownType],
}

/// A struct with a `struct_size`.
#[derive(Debug)]
pub struct KnownStruct {
    name: &'static str,
    fields: &'static [&'static str],
    members: &'static [KnownMember],
    host_layout: fn() -> &'static HostLayoutCell,
}

/// A member of a struct: its name, and its type in the IR's canonical spelling.
#[derive(Debug)]
pub struct KnownMember {
    name: &'static str,
    ty: &'static str,
    is_needed: bool,
}

impl KnownMember {
    /// Describes a member that the host stores, or that it requires of the plugin.
    pub const fn needed(name: &'static str, ty: &'static str) -> Self {
        Self {
            name,
            ty,
            is_needed: true,
        }
    }

    /// Describes a member that a plugin can work without.
    pub const fn optional(name: &'static str, ty: &'static str) -> Self {
        Self {
            name,
            ty,
            is_needed: false,
        }
    }
}

/// A type that a member names.
#[derive(Debug)]
pub enum KnownType {
    /// An enumeration.
    Enum {
        /// Its name.
        name: &'static str,
        /// Its enumerators; a newer host may have more.
        enumerators: &'static [(&'static str, i64)],
    },
    /// Another typedef.
    Typedef {
        /// Its name.
        name: &'static str,
        /// Its type in the IR's canonical spelling.
        ty: &'static str,
    },
    /// A pointer to a struct that the header does not define.
    Handle {
        /// Its name.
        name: &'static str,
    },
}

impl KnownStruct {
    /// Describes the struct `T`.
    ///
    /// # Safety
    /// - `members` are the members of the C struct.
    /// - Each member's type is the C type of the Rust field of the same name.
    pub const unsafe fn new<T: Versioned>(members: &'static [KnownMember]) -> Self {
        Self {
            name: T::NAME,
            fields: T::FIELDS,
            members,
            host_layout: T::host_layout,
        }
    }

    /// Computes the layout from the host's header. A struct that the header lacks has no fields.
    fn layout(&self, header: &Header<'_>) -> Result<HostLayout> {
        let unread = |error| unread(self.name, &error);
        let members = match header.members(self.name) {
            Err(HeaderError::Absent) => Vec::new(),
            members => members.map_err(unread)?,
        };
        let first = members
            .first()
            .map(|it| (it.name.as_str(), it.ty.to_string()));
        if first.is_some_and(|(name, ty)| (name, ty.as_str()) != ("struct_size", "size_t")) {
            return Err(declined(format_args!(
                "{} does not begin with struct_size",
                self.name
            )));
        }
        let layout = header.layout(&members).map_err(unread)?;
        let same_offset = |field: &str| {
            let member = members.iter().find(|it| it.name == field)?;
            let known = self.members.iter().find(|it| it.name == field)?;
            (member.ty.to_string() == known.ty).then(|| layout.offsets[&member.name])
        };
        Ok(HostLayout {
            size: layout.size,
            offsets: self.fields.iter().map(|it| same_offset(it)).collect(),
            is_accepted: false,
        })
    }

    /// Checks that every member that a plugin needs has an unchanged declaration, and that the host
    /// requires no other.
    fn check(
        &self,
        api: &KnownApi,
        header: &Header<'_>,
        members: &[Declaration],
        requires: &dyn RequiredSlots,
    ) -> Result<()> {
        for known in self.members.iter().filter(|it| it.is_needed) {
            match members.iter().find(|it| it.name == known.name) {
                Some(member) => self.check_type(known, member)?,
                None => {
                    return Err(declined(format_args!(
                        "{}.{} is absent",
                        self.name, known.name
                    )));
                }
            }
        }
        let mut others = members.iter().filter(|it| !self.is_unchanged(it));
        others.try_for_each(|it| self.check_new(api, header, it, requires))
    }

    /// Returns true if the newest known release declares the same member.
    fn is_unchanged(&self, member: &Declaration) -> bool {
        let known = self.members.iter().find(|it| it.name == member.name);
        known.is_some_and(|it| it.ty == member.ty.to_string())
    }

    fn check_type(&self, known: &KnownMember, member: &Declaration) -> Result<()> {
        if member.ty.to_string() == known.ty {
            return Ok(());
        }
        Err(declined(format_args!(
            "{}.{} is `{}`, expected `{}`",
            self.name, known.name, member.ty, known.ty
        )))
    }

    /// Checks a member that the plugin does not set.
    fn check_new(
        &self,
        api: &KnownApi,
        header: &Header<'_>,
        member: &Declaration,
        requires: &dyn RequiredSlots,
    ) -> Result<()> {
        match requires.requires(api, self.name, &member.name) {
            Some(false) => Ok(()),
            Some(true) => Err(required(self.name, &member.name)),
            None if !header.may_be_function(&member.ty) => Ok(()),
            None => Err(declined(format_args!(
                "{}.{} is new, and its libraries have no validation messages",
                self.name, member.name
            ))),
        }
    }

    /// Returns the C name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl KnownType {
    fn check(&self, header: &Header<'_>) -> Result<()> {
        let (name, is_same) = match self {
            Self::Enum { name, enumerators } => (name, {
                header.enumerators(name).map(|declared| {
                    let is_declared = |(known, value): &(&str, i64)| {
                        declared
                            .iter()
                            .any(|(name, it)| name == known && it == value)
                    };
                    enumerators.iter().all(is_declared)
                })
            }),
            Self::Typedef { name, ty } => {
                (name, header.typedef(name).map(|it| it.to_string() == *ty))
            }
            Self::Handle { name } => (name, header.typedef(name).map(|it| it.is_pointer())),
        };
        match is_same {
            Ok(true) => Ok(()),
            Ok(false) => Err(declined(format_args!(
                "the declaration of {name} has changed"
            ))),
            Err(error) => Err(unread(name, &error)),
        }
    }
}

/// The slots that the running host requires.
pub trait RequiredSlots {
    /// Returns true if the host rejects a table `name` of `api` whose slot `field` is null, or `None` if
    /// the host's libraries do not show it.
    fn requires(&self, api: &KnownApi, name: &str, field: &str) -> Option<bool>;
}

impl KnownApi {
    /// Reads the layouts of the host's structs from its header, for this process.
    ///
    /// # Errors
    /// Returns an error if a declaration that a plugin needs has changed, or if the host requires a new
    /// slot. The layouts are then used to decline only.
    pub(crate) fn read(&self, header: &Header<'_>, requires: &dyn RequiredSlots) -> Result<()> {
        let layouts = self.structs.iter().map(|known| known.layout(header));
        let layouts: Vec<_> = layouts.collect();
        let unread = layouts.iter().find_map(|it| it.clone().err());
        let accepted = unread.map_or_else(|| self.check(header, requires), Err);
        for (known, layout) in self.structs.iter().zip(layouts) {
            let Ok(mut layout) = layout else { continue };
            layout.is_accepted = accepted.is_ok();
            (known.host_layout)().set(layout);
        }
        accepted
    }

    /// Returns true if a member that a plugin needs names the struct `name`.
    fn needs(&self, name: &str) -> bool {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let members = self.structs.iter().flat_map(|it| it.members);
        let mut needed = members.filter(|it| it.is_needed);
        needed.any(|it| it.ty.split(|it| !is_word(it)).any(|word| word == name))
    }

    fn check(&self, header: &Header<'_>, requires: &dyn RequiredSlots) -> Result<()> {
        for known in self.structs {
            match header.members(known.name) {
                Err(HeaderError::Absent) if !self.needs(known.name) => {}
                Err(error) => return Err(unread(known.name, &error)),
                Ok(members) => known.check(self, header, &members, requires)?,
            }
        }
        self.types.iter().try_for_each(|known| known.check(header))
    }
}

/// Returns the error that declines the host for `reason`.
fn declined(reason: std::fmt::Arguments<'_>) -> Error {
    Error::new(
        Code::FAILED_PRECONDITION,
        format!("its headers differ from the known ones: {reason}"),
    )
}

fn unread(name: &str, error: &HeaderError) -> Error {
    match error {
        HeaderError::Absent => declined(format_args!("{name} is absent")),
        HeaderError::Unsupported(reason) => {
            declined(format_args!("{name} could not be read: {reason}"))
        }
    }
}

/// Returns the error for a required slot that the plugin leaves null.
fn required(name: &str, field: &str) -> Error {
    Error::new(
        Code::FAILED_PRECONDITION,
        format!("it requires {name}.{field}, which the plugin does not provide"),
    )
}
