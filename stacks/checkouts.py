"""Write this workspace again for checkouts of the stacks, and print the directory of the copy.

    python stacks/checkouts.py QUINN=../quinn NOQ=../noq QUICHE=../quiche SMOLTCP=../smoltcp

The copy lies in ``stacks/target/checkouts``. Its manifests and its lock are its own; all else
links to the files here. Its manifests ask for the version that each checkout has, and cargo takes
the crate from there. Nothing is written to a checkout, and the lock here stays as it is. ``make
stacks QUINN=...`` and ``make test-stacks QUINN=...`` build the copy.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

#: The crate of each stack, and its repository.
CRATES = {
    "QUINN": ("quinn-proto", "https://github.com/quinn-rs/quinn"),
    "NOQ": ("noq-proto", "https://github.com/n0-computer/noq"),
    "QUICHE": ("quiche", "https://github.com/cloudflare/quiche"),
    "SMOLTCP": ("smoltcp", "https://github.com/smoltcp-rs/smoltcp"),
}

HERE = Path(__file__).resolve().parent

#: Files of a member that are not links to those here.
_OWN = frozenset(("Cargo.toml", "target"))


class Refused(Exception):
    """What was asked for cannot be done; says the field, its value and the fix."""


def main(words: list[str]) -> int:
    """Write the copy for ``NAME=path`` of each word; return the exit status."""
    try:
        if not words:
            raise Refused("no checkout is named\n  fix: write one, such as QUINN=../quinn")
        checkouts = dict(_checkout(word) for word in words)
        print(write(checkouts, HERE / "target" / "checkouts"))
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return 2
    return 0


def _checkout(word: str) -> tuple[str, tuple[Path, str]]:
    """Return the crate that a word names, with its directory and version."""
    name, _, given = word.partition("=")
    if name not in CRATES:
        raise Refused(f"{word}: no such stack\n  fix: write one of {', '.join(CRATES)}")
    crate, repository = CRATES[name]
    fix = f"give a checkout of {repository}"
    top = Path(given).expanduser().absolute()
    if not given or not top.is_dir():
        raise Refused(f"{word}: there is no such directory\n  fix: {fix}")
    for pattern in ("Cargo.toml", f"{crate}/Cargo.toml", "*/Cargo.toml", "*/*/Cargo.toml"):
        for manifest in sorted(top.glob(pattern)):
            package = _read(manifest, word).get("package", {})
            if package.get("name") == crate:
                return crate, (manifest.parent, _version(package, manifest, word))
    raise Refused(f"{word}: no crate {crate} is in it\n  fix: {fix}")


def _read(manifest: Path, word: str) -> dict[str, Any]:
    try:
        return tomllib.loads(manifest.read_text("utf-8"))
    except (OSError, ValueError) as error:
        fix = "correct it, or check out another commit"
        raise Refused(f"{word}: {manifest} cannot be read: {error}\n  fix: {fix}") from None


def _version(package: dict[str, Any], manifest: Path, word: str) -> str:
    """Return the version of a package, which its workspace may say."""
    version = package.get("version", "0.0.0")
    for parent in () if isinstance(version, str) else manifest.parent.parents:
        top = parent / "Cargo.toml"
        if top.is_file():
            workspace = _read(top, word).get("workspace", {})
            if "version" in workspace.get("package", {}):
                return str(workspace["package"]["version"])
    if not isinstance(version, str):
        raise Refused(f"{word}: {manifest} has no version\n  fix: give the whole checkout")
    return version


def write(checkouts: dict[str, tuple[Path, str]], copy: Path) -> Path:
    """Write the workspace for crates with their directory and version; return its directory."""
    text = (HERE / "Cargo.toml").read_text("utf-8")
    lines = [f"{crate} = {str(path)!r}" for crate, (path, _) in sorted(checkouts.items())]
    patches = [f"{crate} = {{ path = {str(path)!r} }}" for crate, (path, _) in checkouts.items()]
    text = _elsewhere(text, HERE) + "\n[workspace.metadata.checkouts]\n" + "\n".join(lines)
    text += "\n\n[patch.crates-io]\n" + "\n".join(sorted(patches)) + "\n"
    copy.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "Cargo.lock").read_text("utf-8")
    # Cargo adds to the lock of the copy what the checkouts need; it begins as ours.
    renewed = _put(copy / "Cargo.toml", text)
    if _put(copy / "begins-as.lock", lock) or renewed or not (copy / "Cargo.lock").is_file():
        _put(copy / "Cargo.lock", lock)
    for member in tomllib.loads(text)["workspace"]["members"]:
        _member(HERE / member, copy / member, checkouts)
    return copy


def _member(here: Path, there: Path, checkouts: dict[str, tuple[Path, str]]) -> None:
    there.mkdir(exist_ok=True)
    names = {path.name for path in here.iterdir()} - _OWN
    for path in there.iterdir():
        if path.is_symlink() and path.name not in names:
            path.unlink()
    for name in names:
        if not (there / name).is_symlink():
            (there / name).symlink_to(here / name)
    text = _elsewhere((here / "Cargo.toml").read_text("utf-8"), here)
    for crate, (_, version) in checkouts.items():
        asked = rf'^({re.escape(crate)} = \{{ version = )"=[^"]*"'
        text = re.sub(asked, rf'\g<1>"={version}"', text, flags=re.MULTILINE)
    _put(there / "Cargo.toml", text)


def _elsewhere(text: str, here: Path) -> str:
    """Make the paths of a manifest whole that lead out of this workspace."""

    def whole(found: re.Match[str]) -> str:
        path = Path(os.path.normpath(here / found[1]))
        return found[0] if path.is_relative_to(HERE) else f"path = {str(path)!r}"

    return re.sub(r'path = "([^"]*)"', whole, text)


def _put(path: Path, text: str) -> bool:
    """Write a file unless it says this already, for cargo builds anew what is newer."""
    if path.is_file() and path.read_text("utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
