"""What holds for the package as a whole: sizes, no circle of imports, nothing imported once it is warm."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "reckon_checker"
LONGEST = 500


def modules() -> dict[str, Path]:
    return {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in sorted(PACKAGE.rglob("*.py"))}


def imports(name: str, file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = name.split(".")[: -node.level]
            target = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{target}.{alias.name}" for alias in node.names} | {target}
    return found & set(modules())


def test_no_module_is_long() -> None:
    assert {name: len(file.read_text().splitlines()) for name, file in modules().items() if len(file.read_text().splitlines()) > LONGEST} == {}


def test_no_circle() -> None:
    graph = {name: imports(name, file) - {name} for name, file in modules().items() if file.name != "__init__.py"}
    list(TopologicalSorter(graph).static_order())


def test_no_import_in_a_function() -> None:
    for name, file in modules().items():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert not any(isinstance(inner, ast.Import | ast.ImportFrom) for inner in ast.walk(node)), f"{name}.{node.name}"


def test_no_import_once_warm() -> None:
    """Every procedure runs after warm(), which makes an import raise."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.path.insert(0, sys.argv[2])\n"
        "from reckon_checker import service\nimport examples\nservice.warm()\nbefore = set(sys.modules)\n"
        "for task in examples.TASKS:\n    assert service.check(task)['status'] != 'timeout'\n"
        "assert set(sys.modules) == before, set(sys.modules) - before\n"
        "try:\n    import colorsys\n    raise SystemExit('an import went through')\nexcept ImportError:\n    pass\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(ROOT), str(Path(__file__).parent)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_procedure_has_an_example() -> None:
    import examples

    from reckon_checker import service

    assert {task["kind"] for task in examples.TASKS} == set(service.RESIDUAL) | set(service.SAMPLED) | {service.PROGRAM, service.DISTRIBUTION}
