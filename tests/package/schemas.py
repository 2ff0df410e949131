"""What winget, Scoop and GitHub accept, as far as our manifests use it.

The rules are those of winget's schemas 1.6.0 and of Scoop's schema: which keys there are, which must be there, and what they may
hold. A key that our manifests do not use is refused, so whoever adds one looks it up.
"""

TEXT = {"type": "string", "minLength": 3}
WEB = {"type": "string", "pattern": r"^https://[^\s$]+$", "maxLength": 2048}
SHA256 = {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}


def of(required, optional=None):
    """An object with these keys and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": required | (optional or {}),
        "required": list(required),
    }


def winget(kind, required, optional=None):
    every = {
        "PackageIdentifier": {"type": "string", "pattern": r'^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$', "maxLength": 128},
        "PackageVersion": {"type": "string", "pattern": r'^[^\\/:*?"<>|]+$', "maxLength": 128},
        "ManifestType": {"const": kind},
        "ManifestVersion": {"const": "1.6.0"},
    }
    return of(every | required, optional)


LOCALE = {"type": "string", "pattern": "^[a-zA-Z]{2,3}(-[a-zA-Z]{1,8})*$", "maxLength": 20}
NESTED_FILE = of(
    {"RelativeFilePath": {"type": "string", "minLength": 1, "maxLength": 512}},
    {"PortableCommandAlias": {"type": "string", "minLength": 1, "maxLength": 40}},
)
INSTALLER = of({"Architecture": {"enum": ["x86", "x64", "arm", "arm64", "neutral"]}, "InstallerUrl": WEB, "InstallerSha256": SHA256})

# By the ends of the files' names.
WINGET = {
    ".installer.yaml": winget(
        "installer",
        {
            # An archive says what is in it.
            "InstallerType": {"const": "zip"},
            "NestedInstallerType": {"const": "portable"},
            "NestedInstallerFiles": {"type": "array", "items": NESTED_FILE, "minItems": 1, "maxItems": 1024},
            "Installers": {"type": "array", "items": INSTALLER, "minItems": 1, "maxItems": 1024},
        },
    ),
    ".locale.en-US.yaml": winget(
        "defaultLocale",
        {
            "PackageLocale": LOCALE,
            "Publisher": TEXT | {"maxLength": 256},
            "PackageName": TEXT | {"maxLength": 256},
            "License": TEXT | {"maxLength": 512},
            "ShortDescription": TEXT | {"maxLength": 256},
        },
        {
            "PackageUrl": WEB,
            "LicenseUrl": WEB,
            "ReleaseNotesUrl": WEB,
            "Description": TEXT | {"maxLength": 10000},
            "Tags": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 40}, "maxItems": 16, "uniqueItems": True},
        },
    ),
    ".yaml": winget("version", {"DefaultLocale": LOCALE}),
}

SCOOP = of(
    {
        "version": {"type": "string", "pattern": r"^[\w.+-]+$"},
        "homepage": WEB,
        "license": TEXT,
    },
    {
        "description": TEXT,
        "architecture": of({"64bit": of({"url": WEB, "hash": SHA256})}),
        "extract_dir": {"type": "string"},
        "bin": {"type": "string"},
        "persist": {"type": "string"},
        "checkver": {"const": "github"},
        "autoupdate": of(
            {"architecture": of({"64bit": of({"url": {"type": "string", "pattern": r"^https://.*\$version"}})})},
            {"extract_dir": {"type": "string"}},
        ),
    },
)
