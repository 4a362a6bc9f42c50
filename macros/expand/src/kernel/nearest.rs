//! The known name that is nearest to a misspelt one.

/// Returns the known name that differs in the fewest characters, or `None` if all differ in more than a third.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.len().div_ceil(3);
    let distances = known.map(|it| (distance(&name.to_lowercase(), &it.to_lowercase()), it));
    distances
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, it)| it)
}

/// Returns the number of insertions, removals and replacements from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, byte) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, other) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(byte != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_misspelt_names() {
        let known = ["features", "activations", "T"];
        assert_eq!(nearest("feature", known.into_iter()), Some("features"));
        assert_eq!(
            nearest("activatoins", known.into_iter()),
            Some("activations")
        );
        assert_eq!(nearest("input", known.into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
