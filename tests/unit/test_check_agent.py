"""tools/check-agent must accept a clean library and refuse each kind of bad one, by name.

Each case compiles a small library that breaks one rule; a checker that misses it fails here.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("FAH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
CHECK = SOURCE / "tools" / "check-agent"
GOOD = """
extern long read(int, void *, unsigned long);
__attribute__((visibility("default"))) long fah_entry(char *p) { return read(0, p, 1); }
"""
CLEAN = ("-fvisibility=hidden", "-Wl,-z,nodelete", "-fno-stack-protector")


class CheckAgent(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.dir.name)
        self.addCleanup(self.dir.cleanup)
        (self.path / "imports.allow").write_text("read\t# a comment\n# another\n")
        (self.path / "exports.map").write_text("{\n\tglobal:\n\t\tfah_entry;\n\tlocal:\n\t\t*;\n};\n")

    def check(self, source, *flags):
        library = self.path / "lib.so"
        (self.path / "stamp").unlink(missing_ok=True)
        (self.path / "lib.c").write_text(source)
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-w", "-fno-builtin", "-o", library,
             self.path / "lib.c", *flags],
            check=True,
        )
        done = subprocess.run(
            [sys.executable, CHECK, library, self.path / "imports.allow", self.path / "exports.map",
             self.path / "stamp"],
            capture_output=True, text=True,
        )
        self.assertEqual((self.path / "stamp").exists(), done.returncode == 0)
        return done.returncode, done.stderr

    def refused(self, words, source, *flags):
        status, said = self.check(source, *flags)
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_good(self):
        status, said = self.check(GOOD, *CLEAN, "-nostartfiles")
        self.assertEqual((status, said), (0, ""))

    def test_allow_list(self):
        (self.path / "imports.allow").write_text("write\n")
        self.refused("imports read, which is not in the allow-list", GOOD, *CLEAN, "-nostartfiles")

    def test_weak_where_asked(self):
        (self.path / "imports.allow").write_text("read weak\n")
        self.refused("imports read, which has to be weak", GOOD, *CLEAN, "-nostartfiles")
        weak = GOOD.replace("extern long read", "extern __attribute__((weak)) long read")
        self.assertEqual(self.check(weak, *CLEAN, "-nostartfiles"), (0, ""))

    def test_heap_is_banned_even_if_allowed(self):
        (self.path / "imports.allow").write_text("read\nmalloc\n")
        source = GOOD + "extern void *malloc(unsigned long);\n" \
            "__attribute__((visibility(\"hidden\"))) void *(*fah_p)(unsigned long) = malloc;\n"
        self.refused("imports malloc, which uses the target's heap", source, *CLEAN, "-nostartfiles")

    def test_stdio_and_exit(self):
        source = GOOD + "extern int puts(const char *); extern void abort(void);\n" \
            "void fah_bad(void) { puts(\"x\"); abort(); }\n" \
            "__attribute__((used)) static void (*keep)(void) = fah_bad;\n"
        self.refused("imports puts, which is stdio", source, *CLEAN, "-nostartfiles")
        self.refused("imports abort, which ends the target", source, *CLEAN, "-nostartfiles")

    def test_version_floor(self):
        (self.path / "imports.allow").write_text("read\ngetrandom\n")
        source = GOOD + "extern long getrandom(void *, unsigned long, unsigned);\n" \
            "__attribute__((used)) static long (*keep)(void *, unsigned long, unsigned) = getrandom;\n"
        self.refused("imports getrandom@GLIBC_2.25", source, *CLEAN, "-nostartfiles")

    def test_exports(self):
        source = GOOD + "__attribute__((visibility(\"default\"))) int fah_extra;\n"
        self.refused("exports fah_extra", source, *CLEAN, "-nostartfiles")
        self.refused("does not export fah_entry", GOOD.replace("fah_entry", "fah_other"),
                     *CLEAN, "-nostartfiles")

    def test_needed(self):
        self.refused("needs libm.so.6", GOOD, *CLEAN, "-nostartfiles", "-Wl,--no-as-needed", "-lm")

    def test_nodelete(self):
        self.refused("can be unloaded", GOOD, "-fvisibility=hidden", "-nostartfiles")

    def test_text_relocations(self):
        source = GOOD + "__asm__(\".text\\n.globl fah_t\\n.hidden fah_t\\nfah_t: .quad read\\n\");\n"
        self.refused("has text relocations", source, *CLEAN, "-nostartfiles", "-Wl,-z,notext")

    def test_tls_model(self):
        source = GOOD + "__attribute__((visibility(\"default\"))) __thread int fah_t;\n" \
            "__attribute__((visibility(\"default\"))) int *fah_at(void) { return &fah_t; }\n"
        self.refused("__tls_get_addr, which needs the dynamic TLS model", source, *CLEAN,
                     "-nostartfiles", "-ftls-model=global-dynamic")

    def test_run_path_and_stack(self):
        self.refused("has a run path", GOOD, *CLEAN, "-nostartfiles", "-Wl,-rpath,/tmp")
        self.refused("executable stack", GOOD, *CLEAN, "-nostartfiles", "-Wl,-z,execstack")

    def test_not_a_library(self):
        done = subprocess.run(
            [sys.executable, CHECK, CHECK, self.path / "imports.allow", self.path / "exports.map"],
            capture_output=True, text=True,
        )
        self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
