//! From a row of the table of elementwise ops to its kernels: one for each class of element types.
//!
//! A kernel is a generic function under `#[kernel(..)]`, in a block of its own, so that a row needs no name beside its op.

/// Evaluates to the kernels of rows, in order. Their ops are in the module whose path is in brackets, or are TensorFlow's.
#[doc(hidden)]
#[macro_export]
macro_rules! elementwise_kernels {
    ($module:tt $($operands:ident { $($op:ident $names:tt -> $result:ident: $cost:ident
        $(, step($step:ty))? $(, activation($activation:ident))?
        { $($class:ident $(($($ty:ty),+))? => $f:path),+ $(,)? }
    )* })*) => {{
        let mut table: Vec<&'static ::sp_plugin::kernel::Kernel> = Vec::new();
        $($($(table.extend($crate::elementwise_kernel!(
            $class [$($($ty),+)?] [$operands $module $op $names $result $cost] $f
        ));)+)*)*
        table
    }};
}

/// Evaluates to the kernels of a row for a class of element types: the class, its types, the row, the function.
#[doc(hidden)]
#[macro_export]
macro_rules! elementwise_kernel {
    (none [] $row:tt $f:path) => { ::sp_plugin::kernel::kernels![] };
    (floats [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define floats $row [Compute: $crate::compute::special::Special] [T] inlined $f)
    };
    (floats $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define $types $row [Compute: $crate::compute::special::Special] [T] inlined $f)
    };
    (numbers [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define numbers $row [Compute: $crate::compute::arith::Number] [T] direct $f)
    };
    (properties [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(
            @define floats $row [Compute: $crate::compute::arith::Number] [::sp_plugin::Bool] direct $f
        )
    };
    (orders [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(
            @define numbers $row [Compute: $crate::compute::arith::Number] [::sp_plugin::Bool] direct $f
        )
    };
    (called [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define floats $row [Compute: $crate::compute::special::Special] [T] called $f)
    };
    (in_f64 $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define $types $row [Compute: $crate::compute::special::Special] [T] in_f64 $f)
    };
    (in_place [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(@in_place numbers $row [$crate::compute::arith::Number] $f)
    };
    (in_place $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@in_place $types $row [$crate::compute::special::Special] $f)
    };
    (quotients [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define floats $row [Compute: $crate::compute::division::Divide] [T] direct $f)
    };
    (divisions $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(
            @checked $types $row [Compute: $crate::compute::division::Divide] check_divisors, $f
        )
    };
    (powers $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@checked $types $row [Compute = i64] check_exponents, $f)
    };
    (integers $types:tt [Two $($row:tt)+] $f:path) => {
        $crate::elementwise_kernel!(@unconverted $types [Two $($row)+] [T] $f)
    };
    (integers $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define $types $row [Compute = i64] [T] called $f)
    };
    (wide_integers $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@define $types $row [Compute = i64] [T] called $f)
    };
    (small_orders $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(@unconverted $types $row [::sp_plugin::Bool] $f)
    };
    (equalities [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(
            @equality [::sp_plugin::Bool, ::sp_plugin::F16, ::sp_plugin::Bf16, f32, f64, i64] $row
            [$crate::compute::Precision<Compute: PartialEq>] map_two, [$crate::compute::cost::Cheap,] $f, $f
        )
    };
    (small_equalities $types:tt $row:tt $f:path) => {
        $crate::elementwise_kernel!(
            @equality $types $row [$crate::compute::arith::Number] map_two_unconverted, [] $f, $f
        )
    };
    (complex_equalities [] $row:tt $f:path) => {
        $crate::elementwise_kernel!(
            @equality [::sp_plugin::Complex64] $row [$crate::compute::Precision<Compute = T> + PartialEq]
            map_two, [$crate::compute::cost::Cheap,] $f, $f as fn(T, T) -> ::sp_plugin::Bool
        )
    };
    (parts [] [One [$($module:tt)*] $op:ident ($x:ident) $y:ident $cost:ident] $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = [::sp_plugin::Complex64], Tout = [f32])]
        fn compute(
            $x: ::sp_plugin::kernel::In<'_, ::sp_plugin::Complex64>,
            $y: ::sp_plugin::kernel::Out<'_, f32>,
        ) -> ::sp_plugin::Result<()> {
            let f: fn(::sp_plugin::Complex64) -> f32 = $f;
            $crate::kernels::elementwise::map_one($crate::compute::cost::$cost, $x, $y, f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (complex [] [TwoOfOneShape $($row:tt)+] $f:path) => {
        $crate::elementwise_kernel!(@gradient_of_complex [TwoOfOneShape $($row)+] $f)
    };
    (complex [] [$operands:ident $module:tt $op:ident $names:tt $result:ident $cost:ident] $f:path) => {
        $crate::elementwise_kernel!(
            @define [::sp_plugin::Complex64] [$operands $module $op $names $result Expensive]
            [Compute = ::sp_plugin::Complex64] [T] called $f
        )
    };

    (@$rule:ident floats $($rest:tt)+) => {
        $crate::elementwise_kernel!(@$rule [::sp_plugin::F16, ::sp_plugin::Bf16, f32, f64] $($rest)+)
    };
    (@$rule:ident numbers $($rest:tt)+) => {
        $crate::elementwise_kernel!(@$rule [::sp_plugin::F16, ::sp_plugin::Bf16, f32, f64, i64] $($rest)+)
    };

    // Elements that are computed in another type, or in their own.
    (@define $types:tt [One [$($module:tt)*] $op:ident ($x:ident) $y:ident $cost:ident]
        [$($bound:tt)+] [$result:ty] $call:ident $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = $types)]
        fn compute<T: ::sp_plugin::Element + $crate::compute::Precision<$($bound)+>>(
            $x: ::sp_plugin::kernel::In<'_, T>,
            $y: ::sp_plugin::kernel::Out<'_, $result>,
        ) -> ::sp_plugin::Result<()> {
            let f = $crate::elementwise_kernel!(@function $call One $f);
            $crate::kernels::elementwise::map_one($crate::compute::cost::$cost, $x, $y, f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (@define $types:tt [$operands:ident [$($module:tt)*] $op:ident ($x:ident, $y:ident) $z:ident $cost:ident]
        [$($bound:tt)+] [$result:ty] $call:ident $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = $types)]
        fn compute<T: ::sp_plugin::Element + $crate::compute::Precision<$($bound)+>>(
            $x: ::sp_plugin::kernel::In<'_, T>,
            $y: ::sp_plugin::kernel::In<'_, T>,
            $z: ::sp_plugin::kernel::Out<'_, $result>,
        ) -> ::sp_plugin::Result<()> {
            $crate::elementwise_kernel!(@check $operands $x $y);
            let f = $crate::elementwise_kernel!(@function $call Two $f);
            $crate::kernels::elementwise::map_two($crate::compute::cost::$cost, $x, $y, $z, f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (@check Two $x:ident $y:ident) => {};
    (@check TwoOfOneShape $x:ident $y:ident) => {
        $crate::kernels::elementwise::check_same(($x.dims(), stringify!($x)), ($y.dims(), stringify!($y)))?;
    };
    // A closure, since the compiler may not inline the call of a long function through `Fn`. Its type depends on `T::Compute`
    // only, so that half precision and `f32` share a loop.
    (@function inlined One $f:path) => {{
        #[inline(always)]
        fn function<C: $crate::compute::special::Special>() -> impl Fn(C) -> C + Sync + Copy {
            #[inline(always)]
            |x| $f(x)
        }
        function::<T::Compute>()
    }};
    (@function inlined Two $f:path) => {{
        #[inline(always)]
        fn function<C: $crate::compute::special::Special>() -> impl Fn(C, C) -> C + Sync + Copy {
            #[inline(always)]
            |x, y| $f(x, y)
        }
        function::<T::Compute>()
    }};
    (@function direct $operands:ident $f:path) => { $f };
    (@function called One $f:path) => { $f as fn(T::Compute) -> T::Compute };
    (@function called Two $f:path) => { $f as fn(T::Compute, T::Compute) -> T::Compute };
    (@function in_f64 One $f:path) => {{
        let f: fn(f64) -> f64 = $f;
        move |x: T::Compute| T::Compute::constant(f(x.into()))
    }};
    (@function in_f64 Two $f:path) => {{
        let f: fn(f64, f64) -> f64 = $f;
        move |x: T::Compute, y: T::Compute| T::Compute::constant(f(x.into(), y.into()))
    }};

    (@unconverted $types:tt [Two [$($module:tt)*] $op:ident ($x:ident, $y:ident) $z:ident $cost:ident]
        [$result:ty] $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = $types)]
        fn compute<T: ::sp_plugin::Element + $crate::compute::arith::Integer>(
            $x: ::sp_plugin::kernel::In<'_, T>,
            $y: ::sp_plugin::kernel::In<'_, T>,
            $z: ::sp_plugin::kernel::Out<'_, $result>,
        ) -> ::sp_plugin::Result<()> {
            $crate::kernels::elementwise::map_two_unconverted($x, $y, $z, $f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (@checked $types:tt [Two [$($module:tt)*] $op:ident ($x:ident, $y:ident) $z:ident $cost:ident]
        [$($bound:tt)+] $check:ident, $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = $types)]
        fn compute<T: ::sp_plugin::Element + $crate::compute::Precision<$($bound)+>>(
            $x: ::sp_plugin::kernel::In<'_, T>,
            $y: ::sp_plugin::kernel::In<'_, T>,
            $z: ::sp_plugin::kernel::Out<'_, T>,
        ) -> ::sp_plugin::Result<()> {
            $crate::kernels::elementwise::$check(&$x, &$y)?;
            let f = $crate::elementwise_kernel!(@function called Two $f);
            $crate::kernels::elementwise::map_two($crate::compute::cost::Expensive, $x, $y, $z, f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (@in_place $types:tt [Two [$($module:tt)*] $op:ident ($x:ident, $y:ident) $z:ident $cost:ident]
        [$($bound:tt)+] $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = $types)]
        fn compute<T: ::sp_plugin::Element + $crate::compute::Precision<Compute: $($bound)+>>(
            $x: ::sp_plugin::kernel::In<'_, T>,
            $y: ::sp_plugin::kernel::In<'_, T>,
            $z: ::sp_plugin::kernel::Out<'_, T>,
        ) -> ::sp_plugin::Result<()> {
            $crate::kernels::elementwise::map_two_in_place($x, $y, $z, $f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (@equality $types:tt [Two [$($module:tt)*] $op:ident ($x:ident, $y:ident) $z:ident $cost:ident]
        [$($bound:tt)+] $map:ident, [$($first:tt)*] $f:path, $call:expr) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = $types)]
        fn compute<T: ::sp_plugin::Element + $($bound)+>(
            $x: ::sp_plugin::kernel::In<'_, T>,
            $y: ::sp_plugin::kernel::In<'_, T>,
            $z: ::sp_plugin::kernel::Out<'_, ::sp_plugin::Bool>,
            incompatible_shape_error: bool,
        ) -> ::sp_plugin::Result<()> {
            // Tensors of shapes that do not broadcast are not equal.
            let other = (!incompatible_shape_error).then(|| !$f((), ()).get());
            $crate::kernels::elementwise::write_unless_incompatible($x, $y, $z, other, |x, y, z| {
                $crate::kernels::elementwise::$map($($first)* x, y, z, $call)
            })
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
    (@gradient_of_complex [TwoOfOneShape [$($module:tt)*] $op:ident ($y:ident, $dy:ident) $z:ident $cost:ident]
        $f:path) => {{
        #[::sp_plugin::kernel::kernel($($module)* $op, T = [::sp_plugin::Complex64])]
        fn compute(
            $y: ::sp_plugin::kernel::In<'_, ::sp_plugin::Complex64>,
            $dy: ::sp_plugin::kernel::In<'_, ::sp_plugin::Complex64>,
            $z: ::sp_plugin::kernel::Out<'_, ::sp_plugin::Complex64>,
        ) -> ::sp_plugin::Result<()> {
            $crate::kernels::elementwise::map_gradient($y, $dy, $z, $f)
        }
        ::sp_plugin::kernel::kernels![compute]
    }};
}
