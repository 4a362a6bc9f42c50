//! The canonical C spelling of types: every qualifier to the right, parameters without names. Two
//! declarations are equal in an ABI if their spellings are equal.

use crate::{Signature, Type};

impl Type {
    /// Returns the canonical spelling, such as `char const*` or `void(SP_Device const*,int32_t)`.
    /// A pointer to a function is spelled as the function.
    pub fn canonical(&self) -> String {
        match self {
            Type::Pointer { pointee, mutable } => {
                let qualifier = if *mutable { "" } else { " const" };
                pointee.canonical() + qualifier + "*"
            }
            Type::Array { elem, len } => format!("{}[{len}]", elem.canonical()),
            Type::Function(signature) => signature.canonical(),
            simple => simple.c_name().unwrap_or_default(),
        }
    }
}

impl Signature {
    /// Returns the canonical spelling of a function with this signature.
    pub fn canonical(&self) -> String {
        let params = self.params.iter().map(|it| it.ty.canonical());
        let params: Vec<_> = params.collect();
        let convention = crate::c::attribute(self);
        format!("{convention}{}({})", self.ret.canonical(), params.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Param;

    #[test]
    fn spells_pointers_and_functions() {
        let status = Type::pointer(Type::Named("TF_Status".into()), true);
        let name = Type::pointer(Type::Char, false);
        let signature = Signature::new(
            vec![Param::new("x", name), Param::new("x", status)],
            Type::Void,
        );
        let slot = Type::Function(Box::new(signature));
        assert_eq!(slot.canonical(), "void(char const*,TF_Status*)");
    }
}
