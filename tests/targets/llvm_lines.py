"""llvm_lines.py SECONDS DWARF: code that LLVM makes at run time with debug information of that version.

hot() calls outer (/known/lines.k:33), which calls inner; that spins in step (line 12), which is inlined at line 22, and
calls called_back() at line 25. Halfway the same code comes once more, a hundred lines further down, for moved(). Needs llvmlite.
"""

import ctypes
import sys
import time

import llvmlite.binding as llvm

IR = """
define i64 @inner(i64 %n, ptr %back) noinline !dbg !10 {
entry:
  br label %again, !dbg !20
again:
  %i = phi i64 [ 0, %entry ], [ %j, %again ]
  %j = add i64 %i, 1, !dbg !21
  %x = call i64 asm sideeffect "mov $1, $0", "=r,r"(i64 %j), !dbg !21
  %more = icmp ult i64 %x, %n, !dbg !21
  br i1 %more, label %again, label %done, !dbg !21
done:
  %r = call i64 %back(i64 %n), !dbg !23
  ret i64 %r, !dbg !23
}

define i64 @outer(i64 %n, ptr %back) noinline !dbg !11 {
  %r = call i64 @inner(i64 %n, ptr %back), !dbg !24
  %s = add i64 %r, 1, !dbg !24
  ret i64 %s, !dbg !24
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug, isOptimized: true)
!1 = !DIFile(filename: "lines.k", directory: "/known")
!2 = !{i32 2, !"Dwarf Version", i32 DWARF}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !{null})
!9 = distinct !DISubprogram(name: "step", file: !1, line: 11, type: !4, scopeLine: 11, unit: !0)
!10 = distinct !DISubprogram(name: "inner", file: !1, line: 21, type: !4, scopeLine: 21, unit: !0)
!11 = distinct !DISubprogram(name: "outer", file: !1, line: 32, type: !4, scopeLine: 32, unit: !0)
!20 = !DILocation(line: 21, scope: !10)
!21 = !DILocation(line: 12, scope: !9, inlinedAt: !22)
!22 = distinct !DILocation(line: 22, scope: !10)
!23 = !DILocation(line: 25, scope: !10)
!24 = !DILocation(line: 33, scope: !11)
"""
LINES = 11, 12, 21, 22, 25, 32, 33


def called_back(n):
    total = 0
    for i in range(n // 30):
        total += i * i
    return total % 100


def compiled(further):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    text = IR.replace("DWARF}", sys.argv[2] + "}")
    for line in LINES:
        text = text.replace("line: %d," % line, "line: %d," % (line + further))
        text = text.replace("Line: %d," % line, "Line: %d," % (line + further))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


back = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(called_back)
CHAIN = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long, ctypes.c_void_p)


def hot(outer):
    outer(300000, ctypes.cast(back, ctypes.c_void_p))


def moved(outer):
    outer(300000, ctypes.cast(back, ctypes.c_void_p))


engines = []
for further, run in (0, hot), (100, moved):
    engines.append(compiled(further))
    outer = CHAIN(engines[-1].get_function_address("outer"))
    end = time.perf_counter() + float(sys.argv[1]) / 2
    while time.perf_counter() < end:
        run(outer)
