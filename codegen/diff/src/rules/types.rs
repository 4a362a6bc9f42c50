//! Findings about types: typedefs, handles, and how a type is spelled.

use sp_ir::Type;
use sp_ir::c::spell;

use super::JudgedChange;
use crate::change::OldNew;
use crate::effect;
use crate::finding::{Finding, Impact};
use crate::similarity::Similarity;

const BUILD_VARIANTS: &str = "build one variant for each type, and choose by the running release";

pub fn type_added(change: &JudgedChange) -> Finding {
    let message = format!("{} was added", change.item);
    let remedy = "compile code that uses it with the newer headers";
    change.harmless(message, "a type alone does not exist in a binary", remedy)
}

pub fn type_removed(change: &JudgedChange) -> Finding {
    let message = format!("{} was removed", change.item);
    let remedy = "declare it in your own code to support older releases";
    change.harmless(message, "a type alone does not exist in a binary", remedy)
}

pub fn type_renamed(change: &JudgedChange) -> Finding {
    let message = format!("{} was renamed to {}", change.old_name(), change.item);
    let remedy = "use the new name, or declare the old one";
    change.harmless(message, "no binary contains the name", remedy)
}

pub fn kind_changed(change: &JudgedChange, similarity: &Similarity) -> Finding {
    let message = format!("{} is another kind of declaration", change.item);
    reinterpreted(change, *similarity, message, BUILD_VARIANTS)
}

pub fn alias_retyped(change: &JudgedChange, similarity: &Similarity) -> Finding {
    let message = format!("{} names another type", change.item);
    reinterpreted(change, *similarity, message, BUILD_VARIANTS)
}

pub fn handle_retyped(change: &JudgedChange) -> Finding {
    let message = format!("{} is a pointer on one side only", change.item);
    reinterpreted(change, Similarity::Other, message, BUILD_VARIANTS)
}

pub fn enum_retyped(
    change: &JudgedChange,
    integers: &OldNew<&Type>,
    similarity: &Similarity,
) -> Finding {
    let integers = integers.map(spell);
    let message = format!(
        "the integer type changed from {} to {}",
        integers.old, integers.new
    );
    let remedy = "pass and read it with the type of the running release";
    reinterpreted(change, *similarity, message, remedy)
}

/// Returns the finding about a name that stands for another type; it is source-only if the bytes are the same.
fn reinterpreted(
    change: &JudgedChange,
    similarity: Similarity,
    message: String,
    remedy: &str,
) -> Finding {
    let directions = effect::reinterpreted(similarity, change.item);
    let finding = change.finding(message, directions, remedy);
    finding.reduce_if(similarity.is_binary_compatible(), Impact::SourceOnly)
}

pub fn type_respelled(change: &JudgedChange, types: &OldNew<&Type>) -> Finding {
    let types = types.map(spell);
    let message = format!("the type changed from {} to {}", types.old, types.new);
    let remedy = "add a cast if one source must compile with both headers";
    change.harmless(message, "the same bytes are passed", remedy)
}

// The message is the same if only the constness differs.
pub use self::type_respelled as constness_changed;
