//! Formats: the order of a tensor's dims, with a letter for each.

use crate::compute::{Error, Result};

/// Two formats with the same letters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formats {
    source: Vec<char>,
    target: Vec<char>,
}

impl Formats {
    /// Checks the formats.
    ///
    /// # Errors
    /// Returns an error if they have not four or five letters, or other ones.
    pub fn new(source: &str, target: &str) -> Result<Self> {
        let invalid = |reason: String| Err(Error::Invalid(reason));
        for (attribute, format) in [("src", source), ("dst", target)] {
            if !(4..=5).contains(&format.chars().count()) {
                return invalid(format!(
                    "{attribute}_format {format} must have 4 or 5 letters"
                ));
            }
        }
        let [from, to]: [Vec<char>; 2] = [source, target].map(|it| it.chars().collect());
        let is_once = |letter: &char| {
            [&from, &to].map(|it| it.iter().filter(|it| *it == letter).count()) == [1, 1]
        };
        match from.iter().chain(&to).all(is_once) {
            true => Ok(Self {
                source: from,
                target: to,
            }),
            false => invalid(format!(
                "{target} must have the letters of {source} in another order"
            )),
        }
    }

    /// Returns the position in the target of a dim of the source. Positions are modulo the number of dims.
    pub fn position(&self, dim: i64) -> usize {
        let letter = self.source[dim.rem_euclid(self.source.len() as i64) as usize];
        self.target.iter().position(|it| *it == letter).unwrap_or(0)
    }

    /// Returns, for each row of the result, the row of a vector with an element for each dim or for each spatial dim, or of a
    /// matrix of two columns.
    ///
    /// # Errors
    /// Returns an error for another shape.
    pub fn order(&self, dims: &[usize]) -> Result<Vec<usize>> {
        let (all, text) = (self.source.len(), shape_text(dims));
        let invalid =
            |reason: String| Err(Error::Invalid(format!("{reason}, but got shape {text}")));
        let rows = match *dims {
            [rows] | [rows, 2] => rows,
            [_, _] => return invalid("a matrix must have 2 columns".into()),
            _ => return invalid("a vector or a matrix is required".into()),
        };
        let is_included = |it: &&char| rows == all || !['N', 'C'].contains(*it);
        let [from, to]: [Vec<&char>; 2] =
            [&self.source, &self.target].map(|it| it.iter().filter(is_included).collect());
        if rows != from.len() {
            let least = all - 2;
            return invalid(format!("input must have {least} or {all} rows"));
        }
        let find = |letter| from.iter().position(|it| it == letter);
        Ok(to.iter().filter_map(find).collect())
    }
}

/// Returns a shape as TensorFlow prints it.
fn shape_text(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    format!("[{}]", dims.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_orders_are_those_of_the_letters() {
        let formats = Formats::new("NHWC", "NCHW").unwrap();
        assert_eq!(
            [0, 1, 2, 3, -1, -4].map(|it| formats.position(it)),
            [0, 2, 3, 1, 1, 0]
        );
        assert_eq!(formats.order(&[4]).unwrap(), [0, 3, 1, 2]);
        assert_eq!(formats.order(&[2, 2]).unwrap(), [0, 1]);
        let turned = Formats::new("NCHW", "WHCN").unwrap();
        assert_eq!(turned.order(&[2]).unwrap(), [1, 0]);
        let volume = Formats::new("NDHWC", "NCDHW").unwrap();
        assert_eq!(volume.order(&[5]).unwrap(), [0, 4, 1, 2, 3]);
        assert_eq!(volume.order(&[3]).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn rejects_formats_and_shapes_without_a_permutation() {
        for (source, target) in [
            ("NHW", "NWH"),
            ("NHWC", "NCDHW"),
            ("NHHC", "NHWC"),
            ("NXWC", "NHWC"),
        ] {
            assert!(Formats::new(source, target).is_err());
        }
        let formats = Formats::new("NHWC", "NCHW").unwrap();
        for dims in [&[][..], &[3], &[4, 3], &[3, 2], &[4, 2, 1]] {
            assert!(formats.order(dims).is_err());
        }
    }
}
