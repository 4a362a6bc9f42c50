//! Outputs that two right kernels may compute differently.

use std::ffi::CStr;

/// The outputs of an op from `first` on are not compared.
struct Exception {
    op: &'static CStr,
    first: usize,
    reason: &'static str,
}

const RANDOM: &str = "its results are random";
const RESERVED: &str = "they are for a kernel of the gradient, or for nobody";

const EXCEPTIONS: &[Exception] = &[
    new(c"Empty", 0, "its output is uninitialized"),
    new(c"FusedBatchNorm", 3, RESERVED),
    new(c"FusedBatchNormGrad", 3, RESERVED),
    new(c"FusedBatchNormGradV2", 3, RESERVED),
    new(c"FusedBatchNormGradV3", 3, RESERVED),
    new(c"FusedBatchNormV2", 3, RESERVED),
    new(c"FusedBatchNormV3", 3, RESERVED),
    new(c"Multinomial", 0, RANDOM),
    new(c"ParameterizedTruncatedNormal", 0, RANDOM),
    new(c"RandomGamma", 0, RANDOM),
    new(c"RandomPoisson", 0, RANDOM),
    new(c"RandomPoissonV2", 0, RANDOM),
    new(c"RandomShuffle", 0, RANDOM),
    new(c"RandomStandardNormal", 0, RANDOM),
    new(c"RandomUniform", 0, RANDOM),
    new(c"RandomUniformInt", 0, RANDOM),
    new(c"TruncatedNormal", 0, RANDOM),
    new(c"_FusedBatchNormEx", 3, RESERVED),
];

const fn new(op: &'static CStr, first: usize, reason: &'static str) -> Exception {
    Exception { op, first, reason }
}

fn find(op: &CStr) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|it| it.op == op)
}

/// Returns the reason why no output of an op is compared.
pub(super) fn reason_for_op(op: &CStr) -> Option<&'static str> {
    find(op).filter(|it| it.first == 0).map(|it| it.reason)
}

/// Returns true if output `index` of an op is compared.
pub(super) fn is_compared(op: &CStr, index: usize) -> bool {
    find(op).is_none_or(|it| index < it.first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_outputs_are_not_compared() {
        assert!(reason_for_op(c"FusedBatchNormV3").is_none());
        assert!(is_compared(c"FusedBatchNormV3", 2));
        assert!(!is_compared(c"FusedBatchNormV3", 3));
    }

    #[test]
    fn ops_with_random_results_are_not_compared() {
        assert_eq!(reason_for_op(c"RandomUniform"), Some(RANDOM));
        assert!(reason_for_op(c"StatelessRandomUniformV2").is_none());
        assert!(is_compared(c"Relu", 0));
    }
}
