//! Descriptions of functions, slots and structs of one release. The generated file has them as statics.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// A C type, as far as values are printed.
#[derive(Debug)]
pub enum Type {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// An integer, also `char` and `size_t`.
    Int {
        /// Width in bits.
        bits: u8,
        /// True for a signed integer.
        signed: bool,
    },
    /// `float` or `double`.
    Float {
        /// Width in bits.
        bits: u8,
    },
    /// An enumeration of 32 bits.
    Enum(&'static Enumeration),
    /// A struct.
    Struct(&'static Structure),
    /// A type without known contents, such as an opaque struct or a union.
    Opaque(&'static str),
    /// A pointer to data.
    Pointer {
        /// The type that it points to.
        pointee: &'static Type,
        /// True if the pointee is not `const`.
        mutable: bool,
    },
    /// A pointer to a function.
    Function,
}

impl Type {
    /// Returns the struct that this type points to.
    pub fn pointed_struct(&self) -> Option<&'static Structure> {
        match self {
            Self::Pointer {
                pointee: Self::Struct(structure),
                ..
            } => Some(structure),
            _ => None,
        }
    }

    /// Returns the name of the opaque type that this type points to, or `""`.
    pub fn pointed_opaque(&self) -> &'static str {
        match self {
            Self::Pointer {
                pointee: Self::Opaque(name),
                ..
            } => name,
            _ => "",
        }
    }
}

/// An enumeration.
#[derive(Debug)]
pub struct Enumeration {
    /// The C name.
    pub name: &'static str,
    /// Names and values.
    pub variants: &'static [(&'static str, i64)],
}

/// A struct.
#[derive(Debug)]
pub struct Structure {
    /// The C name.
    pub name: &'static str,
    /// The size in bytes: in the `struct_size` protocol if the struct takes part in it.
    pub size: usize,
    /// True if the first field is `struct_size`.
    pub is_versioned: bool,
    /// The fields in order.
    pub fields: &'static [Field],
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// The C name.
    pub name: &'static str,
    /// The offset in bytes.
    pub offset: usize,
    /// The size in bytes.
    pub size: usize,
    /// The C type.
    pub ty: Type,
    /// True if core rejects a null value, or calls it.
    pub is_required: bool,
    /// True if the header reserves the pointer for later releases, so that it stays null.
    pub is_reserved: bool,
    /// The thunks, if the field is a slot of a function table.
    pub slot: Option<&'static Slot>,
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The C name, or the type's name if the header has none.
    pub name: &'static str,
    /// The C type.
    pub ty: Type,
    /// True if the callee fills the value behind the pointer.
    pub is_out: bool,
}

/// The caller and the callee of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Core calls an entry point of the plugin.
    EntryPoint,
    /// Core calls a slot of a table that the plugin has filled.
    Slot,
    /// The plugin calls a function of core.
    Host,
    /// Core calls a function that the plugin has passed to a function of core.
    Callback,
    /// The plugin calls a function that core has passed to a slot.
    HostCallback,
}

/// A function, slot or callback.
#[derive(Debug)]
pub struct Function {
    /// The name: `TF_NewTensor`, `SP_StreamExecutor.allocate`.
    pub name: &'static str,
    /// The caller and the callee.
    pub kind: Kind,
    /// The parameters in order.
    pub parameters: &'static [Parameter],
    /// The type of the result.
    pub result: Type,
    /// Bits of [`flag`]; 0 until the settings are read.
    pub flags: AtomicU8,
    /// The address of core's function; 0 if it is unknown.
    pub original: AtomicUsize,
}

/// Bits of [`Function::flags`].
pub mod flag {
    /// Calls are recorded.
    pub const TRACE: u8 = 1;
    /// Calls are checked.
    pub const CHECK: u8 = 2;
    /// The callee fills tables, whose slots are exchanged.
    pub const FILLS: u8 = 4;
    /// The inputs and outputs of the call are captured.
    pub const CAPTURE: u8 = 8;
}

impl Function {
    /// Returns a description.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        parameters: &'static [Parameter],
        result: Type,
    ) -> Self {
        Self {
            name,
            kind,
            parameters,
            result,
            flags: AtomicU8::new(0),
            original: AtomicUsize::new(0),
        }
    }

    /// Returns true if the call must be recorded or checked.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.flags.load(Ordering::Relaxed) != 0
    }

    /// Returns true if `bit` of [`flag`] is set.
    #[inline]
    pub fn has(&self, bit: u8) -> bool {
        self.flags.load(Ordering::Relaxed) & bit != 0
    }

    /// Returns the address of core's function. Without one no call can have reached the wrapper.
    #[inline]
    pub fn original(&self) -> usize {
        self.original.load(Ordering::Acquire)
    }

    /// Returns the position of the parameter `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|it| it.name == name)
    }

    /// Returns the name without the table: `allocate` for `SP_StreamExecutor.allocate`.
    pub fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

/// The address of a thunk; it is called with the signature of the slot only.
pub type Thunk = unsafe extern "C-unwind" fn();

/// Number of different functions of one slot that can be told apart.
pub const INSTANCES: usize = 4;

/// A slot of a function table, and its thunks.
#[derive(Debug)]
pub struct Slot {
    /// The function.
    pub function: Function,
    /// The plugin's functions, one for each thunk in use.
    pub originals: [AtomicUsize; INSTANCES],
    /// The thunks.
    pub thunks: [Thunk; INSTANCES],
}

impl Slot {
    /// Returns the thunk that calls `original`, or `None` if each thunk has another function. A thunk of this slot is
    /// returned as it is.
    pub fn thunk(&self, original: usize) -> Option<usize> {
        if self.thunks.iter().any(|it| *it as usize == original) {
            return Some(original);
        }
        for (place, thunk) in self.originals.iter().zip(self.thunks) {
            let stored = place.compare_exchange(0, original, Ordering::AcqRel, Ordering::Acquire);
            if stored.is_ok() || stored == Err(original) {
                return Some(thunk as usize);
            }
        }
        None
    }

    /// Returns the plugin's function that thunk `instance` calls.
    #[inline]
    pub fn original(&self, instance: usize) -> usize {
        self.originals[instance].load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C-unwind" fn first() {
        std::hint::black_box(1);
    }
    unsafe extern "C-unwind" fn second() {
        std::hint::black_box(2);
    }
    unsafe extern "C-unwind" fn third() {
        std::hint::black_box(3);
    }
    unsafe extern "C-unwind" fn fourth() {
        std::hint::black_box(4);
    }

    fn slot() -> Slot {
        Slot {
            function: Function::new("SP_Table.run", Kind::Slot, &[], Type::Void),
            originals: [const { AtomicUsize::new(0) }; INSTANCES],
            thunks: [first, second, third, fourth],
        }
    }

    #[test]
    fn different_functions_of_one_slot_get_different_thunks() {
        let slot = slot();
        let (one, two) = (slot.thunk(0x1000).unwrap(), slot.thunk(0x2000).unwrap());
        assert_ne!(one, two);
        assert_eq!(slot.thunk(0x1000), Some(one));
        assert_eq!((slot.original(0), slot.original(1)), (0x1000, 0x2000));
    }

    #[test]
    fn a_wrapped_slot_is_not_wrapped_again() {
        let slot = slot();
        let thunk = slot.thunk(0x1000).unwrap();
        assert_eq!(slot.thunk(thunk), Some(thunk));
        assert_eq!(slot.original(1), 0);
    }

    #[test]
    fn the_fifth_function_of_a_slot_has_no_thunk() {
        let slot = slot();
        for original in 1..=INSTANCES {
            assert!(slot.thunk(original * 0x1000).is_some());
        }
        assert_eq!(slot.thunk(0x9000), None);
    }
}
