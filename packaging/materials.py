#!/usr/bin/env python3
"""Prints cargo-cyclonedx's bill of materials without what differs from run to run and from folder to folder, and with the
library in C that a crate brings along.

usage: packaging/materials.py BILL ROOT SECONDS, where it gets the time SECONDS since 1970 (UTC)
"""

import json
import sys
import time

# The crate that contains it, and what the version of the crate says after its "+".
C_CRATE, C_NAME = "zstd-sys", "zstd"


def library_in_c(bill):
    """The component for Zstandard's library, whose version is in that of its crate: 2.1.3+zstd.1.5.7."""
    (crate,) = [component for component in bill["components"] if component["name"] == C_CRATE]
    version = crate["version"].partition(f"+{C_NAME}.")[2]
    if not version:
        sys.exit(f"{C_CRATE} {crate['version']} does not say which {C_NAME} it contains")
    reference = f"pkg:github/facebook/{C_NAME}@v{version}"
    component = {
        "type": "library",
        "bom-ref": reference,
        "name": C_NAME,
        "version": version,
        "description": f"Zstandard's library in C, as {C_CRATE} contains it",
        "licenses": [{"license": {"id": "BSD-3-Clause"}}],
        "purl": reference,
    }
    return crate["bom-ref"], component


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, root, seconds = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        bill = json.loads(file.read().replace(f"file://{root}", "file:///tabiya"))
    bill.pop("serialNumber", None)
    bill["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))
    crate, component = library_in_c(bill)
    bill["components"].append(component)
    for needs in bill["dependencies"]:
        if needs["ref"] == crate:
            needs["dependsOn"] = [*needs.get("dependsOn", []), component["bom-ref"]]
    bill["dependencies"].append({"ref": component["bom-ref"]})
    json.dump(bill, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
