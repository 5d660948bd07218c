"""Makes a C header of a text file: embed.py INPUT OUTPUT NAME. For what stands inside our outputs."""

import json
import sys


def main():
    source, target, name = sys.argv[1:]
    with open(source, encoding="ascii") as f:
        lines = f.read().splitlines()
    with open(target, "w", encoding="ascii") as f:
        f.write("static const char %s[] =\n" % name)
        for line in lines:
            # Indentation and whole-line comments are for who reads the source.
            line = line.strip()
            if line and not line.startswith("//"):
                f.write("\t%s\n" % json.dumps(line + "\n"))
        f.write("\t;\n")


main()
