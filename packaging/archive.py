#!/usr/bin/env python3
"""Packs a folder into OUT, a .zip or a .tar.gz: the same bytes whenever and by whomever it is packed.

usage: packaging/archive.py OUT FOLDER SECONDS, where all files get the time SECONDS since 1970 (UTC)
"""

import gzip
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path

# The first moment that a .zip can name: 1980-01-01.
ZIP_BEGIN = 315532800


def mode_of(path: Path) -> int:
    """Whether the owner may run it is all that an archive keeps of a file's permissions."""
    return 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644


def pack_zip(out: Path, folder: Path, paths: list[Path], seconds: int) -> None:
    moment = time.gmtime(max(seconds, ZIP_BEGIN))[:6]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in paths:
            if path.is_dir():
                continue
            member = zipfile.ZipInfo(str(path.relative_to(folder.parent).as_posix()), moment)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            member.external_attr = (0o100000 | mode_of(path)) << 16
            archive.writestr(member, path.read_bytes())


def pack_tar(out: Path, folder: Path, paths: list[Path], seconds: int) -> None:
    with (
        open(out, "wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=seconds) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in paths:
            member = archive.gettarinfo(path, str(path.relative_to(folder.parent)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = seconds
            member.mode = mode_of(path)
            if path.is_dir():
                archive.addfile(member)
            else:
                with open(path, "rb") as content:
                    archive.addfile(member, content)


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    out, folder, seconds = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), int(sys.argv[3])
    paths = [folder, *sorted(folder.rglob("*"))]
    pack = pack_zip if out.suffix == ".zip" else pack_tar
    part = out.with_name(out.name + ".part")
    pack(part, folder, paths, seconds)
    os.replace(part, out)


if __name__ == "__main__":
    main()
