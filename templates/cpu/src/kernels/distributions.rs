//! The table of random distributions without parameters: a row has the op of each source of numbers, so that a distribution is added in
//! one place.
//!
//! ```text
//! name(op with a key and a counter, with a seed, with a generator's state, with seeds as attributes), [bounds] in [types] => function
//! ```
//!
//! The consumers are the macros `distributions!` of `random`, `seeded_random`, `generator` and `stateful_random`. The ops with seeds as
//! attributes have no integers of all bits.

/// Calls a macro with all rows.
macro_rules! with_distributions {
    ($consumer:ident) => { $consumer! {
        floats {
            uniform(StatelessRandomUniformV2, StatelessRandomUniform, StatefulUniform, RandomUniform), [Sample] in [F16, Bf16, f32, f64] => random::uniform::<T>;
            normal(StatelessRandomNormalV2, StatelessRandomNormal, StatefulStandardNormalV2, RandomStandardNormal), [Precision<Compute: Normal>] in [F16, Bf16, f32, f64] => fill_normal::<T>;
            truncated_normal(StatelessTruncatedNormalV2, StatelessTruncatedNormal, StatefulTruncatedNormal, TruncatedNormal), [Precision<Compute: Normal>] in [F16, Bf16, f32, f64] => fill_truncated_normal::<T>;
        }
        integers {
            uniform_full_int(StatelessRandomUniformFullIntV2, StatelessRandomUniformFullInt, StatefulUniformFullInt), [Sample] in [i32, i64, u32, u64] => random::uniform::<T>;
        }
    }};
}
pub(super) use with_distributions;
