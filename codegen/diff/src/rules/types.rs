//! Findings about types: typedefs, handles, and how a type is spelled.

use sp_ir::Type;
use sp_ir::c::spell;

use super::{Rule, catalog};
use crate::change::{Change, OldNew};
use crate::effect;
use crate::finding::{Finding, Impact};
use crate::similarity::Similarity;

const BUILD_VARIANTS: &str = "build one variant for each type, and choose by the running release";
const CAST: &str = "add a cast if one source must compile with both headers";

pub fn added(change: &Change) -> Finding {
    let message = format!("{} was added", change.item);
    let remedy = "compile code that uses it with the newer headers";
    catalog::TYPE_ADDED.harmless(
        change,
        message,
        "a type alone does not exist in a binary",
        remedy,
    )
}

pub fn removed(change: &Change) -> Finding {
    let message = format!("{} was removed", change.item);
    let remedy = "declare it in your own code to support older releases";
    catalog::TYPE_REMOVED.harmless(
        change,
        message,
        "a type alone does not exist in a binary",
        remedy,
    )
}

pub fn renamed(change: &Change) -> Finding {
    let message = format!("{} was renamed to {}", change.old_name(), change.item);
    let remedy = "use the new name, or declare the old one";
    catalog::TYPE_RENAMED.harmless(change, message, "no binary contains the name", remedy)
}

pub fn kind_changed(change: &Change, similarity: Similarity) -> Finding {
    let message = format!("{} is another kind of declaration", change.item);
    catalog::KIND_CHANGED.reinterpreted(change, similarity, message, BUILD_VARIANTS)
}

pub fn alias_retyped(change: &Change, similarity: Similarity) -> Finding {
    let message = format!("{} names another type", change.item);
    catalog::ALIAS_RETYPED.reinterpreted(change, similarity, message, BUILD_VARIANTS)
}

pub fn handle_retyped(change: &Change) -> Finding {
    let message = format!("{} is a pointer on one side only", change.item);
    catalog::HANDLE_RETYPED.reinterpreted(change, Similarity::Other, message, BUILD_VARIANTS)
}

pub fn enum_retyped(change: &Change, integers: OldNew<&Type>, similarity: Similarity) -> Finding {
    let integers = integers.map(spell);
    let message = format!(
        "the integer type changed from {} to {}",
        integers.old, integers.new
    );
    let remedy = "pass and read it with the type of the running release";
    catalog::ENUM_RETYPED.reinterpreted(change, similarity, message, remedy)
}

impl Rule {
    /// Returns the finding about a name that stands for another type; it is source-only if the bytes are the same.
    fn reinterpreted(
        &self,
        change: &Change,
        similarity: Similarity,
        message: String,
        remedy: &str,
    ) -> Finding {
        let directions = effect::reinterpreted(similarity, &change.item);
        let finding = self.finding(change, message, directions, remedy);
        finding.reduce_if(similarity.is_binary_compatible(), Impact::SourceOnly)
    }
}

pub fn constness_changed(change: &Change, types: OldNew<&Type>) -> Finding {
    catalog::CONSTNESS_CHANGED.harmless(change, spelling(types), "the same bytes are passed", CAST)
}

pub fn respelled(change: &Change, types: OldNew<&Type>) -> Finding {
    catalog::TYPE_RESPELLED.harmless(change, spelling(types), "the same bytes are passed", CAST)
}

fn spelling(types: OldNew<&Type>) -> String {
    let types = types.map(spell);
    format!("the type changed from {} to {}", types.old, types.new)
}
