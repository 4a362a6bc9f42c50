"""Measures what typed op definitions add to the build of a scaffold from clean.

    python3 tests/bench/definitions.py [--rounds 3] [--kernels 136]

Two crates have the same kernels of four ops: one with `#[kernel(..)]`, the other registered by hand, with the arguments
and attributes that the kernels use written as strings and nothing checked. The figures are the processor time (user and
system) of cargo in the release profile, as the median of alternating rounds: of each crate, and of sp-ops and sp-ir, which
have the table of ops. What typed definitions add is the difference of both crates plus the table. On a shared machine
the processor time rises with other processes too; the rounds alternate for that reason.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

ALL_TYPES = "f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 Bool F16 Bf16 Complex64 Complex128".split()

# Of each op: share of the kernels, listed types (attribute, type parameter, types), inputs, outputs, attribute, result.
# An argument is a name, a parameter's type and the type of its elements; `{T}` is the type of a registration.
OPS = {
    "Neg": (60, [("T", "T", ["f32", "f64"])], [("x", "In<'_, T>", "T")], [("y", "Out<'_, T>", "T")], None, "y.set(x)"),
    "Sum": (
        36,
        [("T", "T", ["f32", "f64", "i64"])],
        [("input", "In<'_, T>", "T"), ("reduction_indices", "HostIn<'_, Integer>", "marker::Integers")],
        [("output", "Out<'_, T>", "T")],
        "keep_dims: bool",
        "match keep_dims && reduction_indices.is_empty() { true => output.set(input), false => output.empty() }",
    ),
    "Tile": (
        30,
        [("T", None, ALL_TYPES)],
        [("input", "BytesIn<'_>", "{T}"), ("multiples", "HostIn<'_, Integer>", "marker::Integers")],
        [("output", "BytesOut<'_>", "{T}")],
        None,
        "match multiples.is_empty() { true => output.set(&input), false => output.uninit(&[0]).map(drop) }",
    ),
    "GatherV2": (
        10,
        [("Tparams", None, ALL_TYPES), ("Tindices", "I", ["i32", "i64"])],
        [("params", "BytesIn<'_>", "{Tparams}"), ("indices", "In<'_, I>", "I"),
         ("axis", "HostIn<'_, Integer>", "marker::Integers")],
        [("output", "BytesOut<'_>", "{Tparams}")],
        "batch_dims: i64",
        "match indices.len() as i64 + axis.scalar()? == batch_dims { true => output.set(&params), "
        "false => output.uninit(&[0]).map(drop) }",
    ),
}

HEADER = """#![allow(dead_code, unused_imports, nonstandard_style)]
use sp_plugin::kernel::{BytesIn, BytesOut, Construction, FromInput, FromOutput, HostIn, In, Integer, Kernel, ListedType};
use sp_plugin::kernel::{Out, expansion, kernel, kernels, marker};
use sp_plugin::{Bf16, Bool, Complex64, Complex128, Element, F16, Result};

static ALWAYS: &[expansion::Releases] = &[expansion::Releases::ALL];
static OPTIONS: expansion::Options = expansion::Options {
    priority: 0, label: None, releases: expansion::Releases::ALL, needs: &[], attribute_checks: &[],
    configure: None, is_asynchronous: false, device: None,
};
"""


def function(op, name):
    _, types, inputs, outputs, attribute, result = OPS[op]
    generics = ", ".join(f"{parameter}: Element" for _, parameter, _ in types if parameter)
    parameters = [f"{name}: {ty}" for name, ty, _ in inputs + outputs] + ([attribute] if attribute else [])
    generics = f"<{generics}>" if generics else ""
    return f"fn {name}{generics}({', '.join(parameters)}) -> Result<()> {{ {result} }}\n"


def typed(op, name):
    lists = [
        f"{attribute}{f': {parameter}' if parameter not in (None, attribute) else ''} = [{', '.join(types)}]"
        for attribute, parameter, types in OPS[op][1]
    ]
    return f"#[kernel({op}, {', '.join(lists)})]\n{function(op, name)}"


def choices(types):
    rows = [{}]
    for attribute, _, listed in types:
        rows = [{**row, attribute: ty} for row in rows for ty in listed]
    return rows


def by_hand(op, name):
    _, types, inputs, outputs, attribute, _ = OPS[op]
    bound = [parameter for _, parameter, _ in types if parameter]
    attribute_of = {parameter: attribute for attribute, parameter, _ in types if parameter}
    first = choices(types)[0]
    generics = f"<{', '.join(f'{it}: Element' for it in bound)}>" if bound else ""
    fetch = [f"<{ty} as FromInput<'_, {element.format(**first)}>>::from_input(call.input({index}))?"
             for index, (_, ty, element) in enumerate(inputs)]
    fetch += [f"<{ty} as FromOutput<'_, {element.format(**first)}>>::from_output(call.output({index}))"
              for index, (_, ty, element) in enumerate(outputs)]
    state, value = ("()", "()")
    if attribute:
        key, kind = attribute.split(": ")
        state, value = kind, f'construction.attribute::<{kind}>(c"{key}")?'
        fetch.append("*state")
    turbofish = f"::<{', '.join(bound)}>" if bound else ""

    def argument(role, item, row):
        argument_name, ty, element = item
        for parameter in bound:
            ty = ty.replace(f", {parameter}>", f", {row[attribute_of[parameter]]}>")
            element = row[attribute_of[parameter]] if element == parameter else element
        spec = f"<{ty} as {role}<'_, {element.format(**row)}>>::SPEC"
        return (f'expansion::ArgumentSpec {{ name: c"{argument_name}", parameter: {spec}, '
                "count: expansion::Count::One, releases: ALWAYS }")

    def registration(index, row):
        constraints = [
            f'expansion::Constraint {{ attribute: c"{attribute}", dtype: <{ty} as ListedType>::DTYPE, '
            "attribute_releases: ALWAYS, type_releases: ALWAYS }" for attribute, ty in row.items()]
        arguments = [[argument("FromInput", it, row) for it in inputs], [argument("FromOutput", it, row) for it in outputs]]
        instance = f"::<{', '.join(row[attribute_of[it]] for it in bound)}>" if bound else ""
        return (f"Kernel::new::<Table_{name}, {index}>(&OP_{name}, &[{', '.join(constraints)}], "
                f"[&[{', '.join(arguments[0])}], &[{', '.join(arguments[1])}]], &OPTIONS, "
                f"(prepare_{name}, compute_{name}{instance}))")

    rows = choices(types)
    registrations = ",\n".join(registration(index, row) for index, row in enumerate(rows))
    return f"""{function(op, name)}
static OP_{name}: expansion::OpSpec = expansion::OpSpec {{
    name: c"{op}", releases: ALWAYS, attributes: &[], definition: None,
}};
fn prepare_{name}(construction: &Construction<'_>) -> Result<expansion::State> {{
    let _ = construction;
    Ok(Box::new({value}))
}}
fn compute_{name}{generics}(call: &expansion::Call<'_>) -> Result<()> {{
    let state: &{state} = call.state()?;
    let _ = state;
    {name}{turbofish}({', '.join(fetch)})
}}
struct Table_{name};
impl expansion::KernelTable for Table_{name} {{
    fn kernels() -> &'static [Kernel] {{ &KERNELS_{name} }}
}}
static KERNELS_{name}: [Kernel; {len(rows)}] = unsafe {{ [{registrations}] }};
"""


def write_crate(folder, name, kernels, print_kernel):
    (folder / "src").mkdir(parents=True)
    path = ROOT / "templates/sdk"
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n[lib]\ncrate-type = ["cdylib"]\n'
        f'[dependencies]\nsp-plugin = {{ path = "{path}" }}\n[workspace]\n')
    (folder / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    names = [f"{op.lower()}_{index}" for op, index in kernels]
    body = "".join(print_kernel(op, name) for (op, _), name in zip(kernels, names))
    is_typed = print_kernel is typed
    table = f"kernels![{', '.join(names)}]" if is_typed else (
        "expansion::concat(&[" + ", ".join(f"&KERNELS_{name}" for name in names) + "])")
    body += f"#[unsafe(no_mangle)]\npub fn kernel_count() -> usize {{ let all: Vec<&'static Kernel> = {table}; all.len() }}\n"
    (folder / "src/lib.rs").write_text(HEADER + body)


def processor_time(folder, target, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}
    subprocess.run(["cargo", "build", "--quiet", *arguments], cwd=folder, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rebuild(folder, target, package):
    if package.startswith("sp-"):
        # Cargo compiles what macros need without optimization, as in its profile for development.
        folder, profile = ROOT, ["--profile", "dev", "--config", "profile.dev.debug=false"]
    else:
        profile = ["--release"]
    subprocess.run(["cargo", "clean", "--quiet", *profile[:2], "-p", package], cwd=folder, check=True,
                   env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    return processor_time(folder, target, "-p", package, *profile)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernels", type=int, default=136)
    parser.add_argument("--target", help="folder of cargo's results; a temporary one by default")
    options = parser.parse_args()
    shares = [op for op, row in OPS.items() for _ in range(row[0])]
    kernels = [(shares[index * len(shares) // options.kernels], index) for index in range(options.kernels)]
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        target = pathlib.Path(options.target or temporary / "target").absolute()
        variants = {"typed": typed, "by_hand": by_hand}
        for name, print_kernel in variants.items():
            write_crate(temporary / name, name, kernels, print_kernel)
            processor_time(temporary / name, target, "-p", "sp-plugin", "--release")
        # What sp-ops depends on is built before it is measured.
        processor_time(ROOT, target, "-p", "sp-ops", "--config", "profile.dev.debug=false")
        packages = [("typed", "typed"), ("by_hand", "by_hand"), ("typed", "sp-ops"), ("typed", "sp-ir")]
        times = {package: [] for _, package in packages}
        for _ in range(options.rounds):
            for crate, package in packages:
                times[package].append(rebuild(temporary / crate, target, package))
    medians = {package: statistics.median(values) for package, values in times.items()}
    registrations = sum(len(choices(OPS[op][1])) for op, _ in kernels)
    print(f"{options.kernels} kernels, {registrations} registrations, median of {options.rounds} rounds, seconds of processor time")
    for package, value in medians.items():
        print(f"{package:8} {value:6.2f}  ({', '.join(f'{it:.2f}' for it in times[package])})")
    added = medians["typed"] - medians["by_hand"] + medians["sp-ops"] + medians["sp-ir"]
    print(f"typed definitions add {added:.2f} s; without the table {medians['typed'] - medians['by_hand']:.2f} s")


if __name__ == "__main__":
    main()
