"""User-mode Linux kernels: where they are kept, the options that they need, and their build."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from burstlab.errors import InputError
from burstlab.live import virtual
from burstlab.live.system import die_with_parent
from burstlab.running.interrupts import deferred
from burstlab.storage.files import sync

#: Names the directory of kernels, in place of the usual one.
VARIABLE = "BURSTLAB_KERNELS"

#: The prefix of directories of unfinished builds.
_ROOM = ".build-"

#: How long a step of a build may take to end once it was asked to, in s.
_GRACE_S = 5.0

#: Where package managers put the sources of kernels.
SOURCES = Path("/usr/src")

#: Options that a kernel must have: virtual time, devices and namespaces for the hosts, the files of
#: the machine, an interface to ask for connections, and reproducible runs.
NEEDED = (
    "UML_TIME_TRAVEL_SUPPORT",
    "TUN",
    "NET_NS",
    "HOSTFS",
    "INET_DIAG",
    "INET_TCP_DIAG",
    "TMPFS",
    "DEVTMPFS",
    virtual.SEED,
)

#: Congestion controls that are built in, if the kernel has them.
CONTROLS = (
    "BBR",
    "BIC",
    "CDG",
    "CUBIC",
    "DCTCP",
    "HSTCP",
    "HTCP",
    "HYBLA",
    "ILLINOIS",
    "LP",
    "NV",
    "SCALABLE",
    "VEGAS",
    "VENO",
    "WESTWOOD",
    "YEAH",
)

_ON = (
    *NEEDED,
    "NAMESPACES",
    "HIGH_RES_TIMERS",
    "NO_HZ_IDLE",
    "NET_SCHED",
    "NET_SCH_FQ",
    "TCP_CONG_ADVANCED",
    "EXPERT",
    "DEBUG_INFO_NONE",
)

#: Options without effect for a program on a host: devices that a user-mode kernel does not have,
#: disks and their file systems, and data for debuggers, which is most of a compiler's output. The
#: first option of a choice has to be off for another one to be on. A driver that mixes in random
#: numbers of the machine would make them differ in each run.
_OFF = (
    *("SMP", "SOUND", "USB", "WIRELESS", "IPV6"),
    *("INPUT", "HID_SUPPORT", "SERIO", "VT", "WLAN", "ETHERNET", "PPP", "SLIP", "DUMMY", "PPS"),
    *("PTP_1588_CLOCK", "UML_NET", "SSL", "PORT_CHAN", "XTERM_CHAN", "SUSPEND", "FW_LOADER"),
    *("BLOCK", "SWAP", "QUOTA", "AUTOFS_FS", "NLS", "MODULES", "CRYPTO_HW", "CGROUPS"),
    *("DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT", "DEBUG_MISC", "SLUB_DEBUG", "KALLSYMS", "FTRACE"),
    *("IKCONFIG", "COREDUMP", "PROC_KCORE", "ETHTOOL_NETLINK"),
    *("UML_RANDOM", "HW_RANDOM"),
)

#: Ticks of a kernel in a second: those of servers of today, where user-mode kernels have 100.
HZ = 1000

#: Room for the vector registers of a processor, in bytes. Linux gives them back to a traced process
#: only whole, so that a kernel with less room than its machine has registers ends at its first
#: process: those with AVX-512 have 2696, as the sources have it, those with AMX 11,008.
REGISTERS_BYTES = 12_288

#: Where the source says how many ticks and how much room there are; the number follows the group.
TICKS = r"^(config HZ\n\s+int\n\s+default) \d+$"
REGISTERS = r"^(\s+DEFINE_LONGS\(HOST_FP_SIZE,) 2696(?=\);$)"

#: Stacks of the kernel have 2 to this power pages: room for those registers twice.
STACK_ORDER = 4

#: The place where a kernel asks the machine for random bytes. With a seed, SplitMix64 supplies
#: them. All random numbers of a kernel follow from these bytes.
DRAWS = r"^\treturn getrandom\(buf, len, flags\);$"
DRAWN = f"""\
\tstatic unsigned long long state;
\tstatic int is_seeded = -1;
\tsize_t done, part;

\tif (is_seeded < 0) {{
\t\tconst char *seed = getenv("{virtual.SEED}");

\t\tis_seeded = seed != NULL;
\t\tstate = seed ? strtoull(seed, NULL, 10) : 0;
\t}}
\tif (!is_seeded)
\t\treturn getrandom(buf, len, flags);
\tfor (done = 0; done < len; done += part) {{
\t\tunsigned long long mixed = (state += 0x9e3779b97f4a7c15ull);

\t\tmixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
\t\tmixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
\t\tmixed ^= mixed >> 31;
\t\tpart = len - done < sizeof(mixed) ? len - done : sizeof(mixed);
\t\tmemcpy((char *) buf + done, &mixed, part);
\t}}
\treturn len;"""

#: The place where a kernel mixes events into its random pool: their times, and its command line.
#: The seed alone shall count, even if a file of the machine was not read for a day.
STIRS = r"^\tblake2s_update\(&input_pool\.hash, buf, len\);\n"

#: The place where a kernel in virtual time sets its next timer. Programs read its clock in steps of
#: `TIMER_MULTIPLIER`, 256 ns, and the remainder of a step stays. So each timer would go off late by
#: the remainders of all timers before, those of the boot too. Therefore timers go off at whole
#: steps.
EXPIRES = r"^(\s+)time_travel_time \+ delta\);$"
EXPIRED = "\t\t\t\t      roundup(time_travel_time + delta, TIMER_MULTIPLIER));"

#: The options with which a kernel mounts the files of the machine. With access times its writes,
#: and when it wakes for them, would depend on earlier readers.
MOUNTS = r"^int root_mountflags = MS_RDONLY \| MS_SILENT;$"
MOUNTED = "int root_mountflags = MS_RDONLY | MS_SILENT | MS_NOATIME;"

#: A fixed date, user and host for programs that ask for those of the build. They enter the random
#: numbers of a kernel, and have to be the same in each build.
STAMP = (
    "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER=burstlab",
    "KBUILD_BUILD_HOST=burstlab",
    "KBUILD_BUILD_VERSION=1",
)

#: Makes the compiler a tenth faster with the same output: no warnings, pipes for temporary files,
#: and no garbage collection of memory that it will not need.
SOONER = "-w -pipe --param ggc-min-heapsize=1000000"

#: Programs that a build needs, and Debian's packages that have them.
TOOLS = {
    "make": "make",
    "gcc": "gcc",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
}

#: Files that the compiler of a build lists come at this number, about.
_FILES = 1150

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Kernel:
    """A kernel.

    Attributes
    ----------
    name
        Its name in the directory of kernels, or its path elsewhere.
    image
        The program.
    version
        The version that it reports.
    """

    name: str
    image: Path
    version: str


def directory() -> Path:
    """Return the directory of kernels."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "burstlab" / "kernels"


def known() -> list[Kernel]:
    """Return the kernels that were built, the newest first."""
    images = [place for place in directory().glob("*/linux") if place.is_file()]
    images.sort(key=lambda place: (_rank(place.parent.name), place.parent.name), reverse=True)
    return [Kernel(place.parent.name, place, _version(place)) for place in images]


def choose(name: str | None) -> Kernel:
    """Return a kernel that can run live hosts, by its name, or its path.

    Raises
    ------
    InputError
        If there is none, or it lacks something.
    """
    if name is None:
        built = known()
        if not built:
            needs = "".join(f"\n  it needs {line}" for line in missing())
            raise InputError(
                f"no kernel was built, but the virtual clock needs one: {directory()} has none\n"
                "  fix: burstlab kernel build, which takes some minutes; or --clock wall as root, "
                f"on the running kernel and in real time{needs}"
            )
        found = built[0]
    else:
        image = Path(name) if "/" in name else directory() / name / "linux"
        if not image.is_file():
            have = ", ".join(one.name for one in known()) or "none"
            raise InputError(
                f"{name}: there is no such kernel (there are: {have})\n"
                "  fix: give one of burstlab kernel list, or the path of one"
            )
        found = Kernel(name, image.resolve(), _version(image))
    lacking = lacks(found.image)
    if lacking:
        raise InputError(
            f"{found.image}: the wrong kernel: {lacking}\n  fix: burstlab kernel build makes one"
        )
    return found


def lacks(image: Path) -> str:
    """Name the missing options of a kernel for live hosts; empty if none is missing."""
    config = _asked(image, "--showconfig")
    if "CONFIG_UML=y" not in config.splitlines():
        return "it is no user-mode Linux"
    lines = set(config.splitlines())
    missing = [name for name in NEEDED if f"CONFIG_{name}=y" not in lines]
    return f"it is built without {', '.join(missing)}" if missing else ""


def controls(image: Path) -> list[str]:
    """Return the congestion controls of a kernel."""
    lines = set(_asked(image, "--showconfig").splitlines())
    return ["reno", *(one.lower() for one in CONTROLS if f"CONFIG_TCP_CONG_{one}=y" in lines)]


def _version(image: Path) -> str:
    return _asked(image, "--version").strip() or "unknown"


def _asked(image: Path, flag: str) -> str:
    try:
        done = subprocess.run(
            [str(image.resolve()), flag],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _rank(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", name))


def source_there() -> Path | None:
    """Return the newest source that the package manager has installed, if there is one."""
    found = [
        one
        for pattern in ("linux-source-*.tar.*", "linux-source-*/Makefile")
        for one in SOURCES.glob(pattern)
    ]
    places = [one.parent if one.name == "Makefile" else one for one in found]
    return max(places, key=lambda one: _rank(one.name), default=None)


def missing() -> list[str]:
    """Return the packages that a build lacks on this machine, a line each with the fix."""
    lines = [
        f"the program {tool} (Debian: apt-get install {package})"
        for tool, package in TOOLS.items()
        if shutil.which(tool) is None
    ]
    if source_there() is None:
        lines.append(
            f"the source of a kernel below {SOURCES} "
            "(Debian: apt-get install linux-source, or give --source)"
        )
    return lines


def build(source: Path | None, *, jobs: int | None, progress: Progress | None) -> Kernel:
    """Build a kernel in the cache directory; return it.

    Parameters
    ----------
    source
        A tarball, or a directory with the sources, which stays as it is; by default the newest
        that the package manager has installed.
    jobs
        Compilers at a time; by default one per processor.
    progress
        Told the share that is done.

    Raises
    ------
    InputError
        If something is missing, or the build fails.
    """
    lines = [one for one in missing() if source is None or not one.startswith("the source")]
    if lines:
        listed = "".join(f"\n  - {line}" for line in lines)
        raise InputError(f"a build lacks:{listed}\n  fix: install these packages")
    source = source or source_there()
    if source is None or not source.exists():
        raise InputError(f"{source}: no such source\n  fix: give a tarball, or a directory")
    into = directory()
    try:
        into.mkdir(parents=True, exist_ok=True)
        for left in into.glob(f"{_ROOM}*"):
            with _held(left) as free:
                if free:
                    shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_ROOM, dir=into) as room, _held(Path(room)):
            tree = _unpacked(source, Path(room))
            image = _compiled(tree, Path(room), jobs or os.cpu_count() or 1, progress)
            return _kept(image, source, into)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{into}: the build cannot be written ({reason})\n"
            f"  fix: make room (it takes 2.5 GB meanwhile), or name another place in {VARIABLE}"
        ) from None


@contextmanager
def _held(room: Path) -> Iterator[bool]:
    """Hold the directory of a build; yields whether no other process does.

    A build that is killed leaves its directory, 2.5 GB, and its hold goes with it.
    """
    import fcntl  # not on Windows, where no kernel is built either

    descriptor = os.open(room, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _unpacked(source: Path, room: Path) -> Path:
    tree = room / "source"
    if source.is_dir():
        if not (source / "arch" / "um" / "Kconfig").is_file():
            raise InputError(f"{source}: no source of Linux\n  fix: give the directory of one")
        _done(["cp", "-a", "--reflink=auto", str(source), str(tree)], room, "copying the source")
        return tree
    if not tarfile.is_tarfile(source) and not source.name.endswith((".tar.xz", ".tar.zst")):
        raise InputError(f"{source}: no tarball\n  fix: give the tarball of a kernel's source")
    tree.mkdir()
    _done(
        ["tar", "--extract", "--strip-components=1", f"--file={source}", f"--directory={tree}"],
        room,
        "unpacking the source",
    )
    if not (tree / "arch" / "um" / "Kconfig").is_file():
        raise InputError(f"{source}: no source of Linux in it\n  fix: give the tarball of one")
    return tree


def _compiled(tree: Path, room: Path, jobs: int, progress: Progress | None) -> Path:
    put_number(tree / "arch" / "um" / "Kconfig", TICKS, HZ, "the ticks of the kernel")
    offsets = tree / "arch" / "x86" / "um" / "user-offsets.c"
    put_number(offsets, REGISTERS, REGISTERS_BYTES, "the room for registers")
    repeat(tree)
    make = ["make", "-C", str(tree), "ARCH=um", *STAMP]
    _done([*make, "x86_64_defconfig"], room, "configuring")
    switches = [word for name in _ON for word in ("--enable", name)]
    switches += [word for name in _OFF for word in ("--disable", name)]
    switches += [word for name in CONTROLS for word in ("--enable", f"TCP_CONG_{name}")]
    switches += ["--set-val", "KERNEL_STACK_ORDER", str(STACK_ORDER)]
    config = ["--file", str(tree / ".config")]
    _done([str(tree / "scripts" / "config"), *config, *switches], room, "configuring")
    _done([*make, "olddefconfig"], room, "configuring")
    _done([*make, f"-j{jobs}", f"KCFLAGS={SOONER}", "linux"], room, "compiling", progress)
    return tree / "linux"


def repeat(tree: Path) -> None:
    """Have a kernel whose source is in a directory do the same in each run."""
    put(tree / "arch" / "um" / "os-Linux" / "util.c", DRAWS, DRAWN, "the seed")
    put(tree / "drivers" / "char" / "random.c", STIRS, "", "the seed alone")
    put(tree / "arch" / "um" / "kernel" / "time.c", EXPIRES, EXPIRED, "the steps of the clock")
    put(tree / "init" / "do_mounts.c", MOUNTS, MOUNTED, "files that nobody has read")
    mark = f"\nconfig {virtual.SEED}\n\tdef_bool y\n"
    put(tree / "arch" / "um" / "Kconfig", r"\Z", mark, "the mark of the seed")


def put_number(file: Path, pattern: str, value: int, what: str) -> None:
    """Append a number to the match of a pattern's group in a file of the source."""
    _put(file, pattern, lambda found: f"{found[1]} {value}", what)


def put(file: Path, pattern: str, text: str, what: str) -> None:
    """Replace the match of a pattern in a file of the source by a text."""
    _put(file, pattern, lambda _found: text, what)


def _put(file: Path, pattern: str, put: Callable[[re.Match[str]], str], what: str) -> None:
    changed, places = re.subn(rf"(?m){pattern}", put, file.read_text(encoding="utf-8"))
    if places != 1:
        raise InputError(f"{file}: no place for {what}\n  fix: give a source of Linux 6.1 to 6.12")
    # The source may share its files with that which it was copied from.
    file.unlink()
    file.write_text(changed, encoding="utf-8")


def _done(command: Sequence[str], room: Path, what: str, progress: Progress | None = None) -> None:
    """Run a step of a build; the error of a failure has the last lines of its output."""
    log = room / "log"
    environment = {**os.environ, "LC_ALL": "C"}
    with log.open("w+", encoding="utf-8", errors="replace") as file:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            # Where this process is killed with no time for anything, `make` ends its compilers.
            preexec_fn=lambda: die_with_parent(signal.SIGTERM),
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            try:
                for number, line in enumerate(process.stdout):
                    file.write(line)
                    if progress is not None:
                        progress(min(number / _FILES, 0.99))
            except BaseException:
                _end(process)
                raise
        if process.returncode == 0:
            return
        file.seek(0)
        last = _errors(file)
    listed = "".join(f"\n  | {line}" for line in last)
    raise InputError(
        f"{what} failed with status {process.returncode}:{listed}\n"
        "  fix: install the packages that the last lines miss, then build again"
    )


def _end(process: subprocess.Popen[str]) -> None:
    """End a step of a build and all that it has started, with time to tidy up at first."""
    with deferred():
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _errors(lines: Iterable[str]) -> list[str]:
    every = [line.rstrip() for line in lines]
    telling = [line for line in every if "error" in line.lower() or "not found" in line]
    return (telling or every)[-8:]


def _kept(image: Path, source: Path, into: Path) -> Kernel:
    version = _version(image)
    lacking = lacks(image)
    if lacking:
        raise InputError(
            f"the kernel that was built cannot be used: {lacking}\n"
            "  fix: give another source (--source); Linux 6.12 has all required parts"
        )
    with tempfile.TemporaryDirectory(dir=image.parent.parent) as empty:
        failure = virtual.fails(image, Path(empty))
    if failure:
        listed = "".join(f"\n  | {line}" for line in failure)
        raise InputError(
            f"the kernel that was built runs no program on this machine:{listed}\n"
            "  fix: see its last lines, and give another source (--source)"
        )
    place = into / f"{version}-hz{HZ}"
    place.mkdir(exist_ok=True)
    pending = place / ".linux"
    _done(["strip", "-o", str(pending), str(image)], image.parent, "stripping the kernel")
    sync(pending)
    pending.replace(place / "linux")
    made = {"version": version, "hz": HZ, "source": source.name}
    (place / "kernel.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return Kernel(place.name, place / "linux", version)
