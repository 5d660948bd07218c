"""What others make of a stats file. Run by the Python that has them: consumers.py WHICH FILE; JSON on stdout."""

import json
import sys


def main(which, path):
    if which == "snakeviz":
        import pstats

        from snakeviz.stats import json_stats, table_rows

        stats = pstats.Stats(path)
        return [table_rows(stats), json_stats(stats)]
    from tuna.main import read

    return read(path)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
