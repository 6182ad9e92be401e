#!/usr/bin/env python3
"""Opens checkpoints with Python's safetensors package and prints what they hold.

usage: scripts/check_safetensors.py FILE...

Shows that a checkpoint is a plain safetensors file: the package (pip install safetensors numpy)
knows nothing of Verso. Checks the checksum in the metadata too. Exit status 1 when a file cannot
be read or its checksum is wrong.
"""

import sys
import zlib

from safetensors import safe_open

CHECKSUM_START = b'{"__metadata__":{"verso.checksum":"'
CHECKSUM_DIGITS = 24


def checksum_is_good(path):
    with open(path, "rb") as file:
        content = bytearray(file.read())
    begin = 8 + len(CHECKSUM_START)
    end = begin + CHECKSUM_DIGITS
    if content[8:begin] != CHECKSUM_START:
        return False
    found = bytes(content[begin:end])
    content[begin:end] = b"0" * CHECKSUM_DIGITS
    return found == b"%08x%016x" % (zlib.crc32(content), len(content))


def show(path):
    print(path)
    with safe_open(path, framework="numpy") as file:
        for key, value in sorted(file.metadata().items()):
            print(f"  {key}: {value if len(value) <= 60 else f'{len(value)} characters'}")
        for name in file.keys():
            tensor = file.get_tensor(name)
            print(f"  {name} {tensor.dtype} {list(tensor.shape)}")
    good = checksum_is_good(path)
    print(f"  checksum {'good' if good else 'WRONG'}")
    return good


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0 if all([show(path) for path in sys.argv[1:]]) else 1


if __name__ == "__main__":
    sys.exit(main())
