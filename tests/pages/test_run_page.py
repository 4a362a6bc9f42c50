"""The program that runs the blocks of pages: `python -m pytest tests/pages`."""

import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("run_page", ROOT / "tests/virtaccel/run_page.py")
run_page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run_page)

PAGE = """
```rust
// one.rs
first
```

```rust
// one.rs
second
```

```rust
// two.rs (at the end)
third
```

```sh
cat one.rs two.rs; mkdir inner; cd inner
```

```text
first

second
before

third
```

```sh
basename "$PWD"
```

```text
inner
```
"""


def test_writes_files_runs_blocks_and_compares_output(tmp_path):
    (tmp_path / "one.rs").write_text("replaced\n")
    (tmp_path / "two.rs").write_text("before\n")
    (tmp_path / "page.md").write_text(PAGE)
    run_page.main(tmp_path / "page.md", tmp_path)


def test_pages_that_are_run_have_no_other_blocks():
    for page in ("bring-up.md", "add-an-op.md"):
        blocks = run_page.BLOCK.findall((ROOT / "codegen/docs" / page).read_text())
        assert blocks
        for language, text in blocks:
            assert language in ("sh", "python", "text") or run_page.FILE.match(text), text
