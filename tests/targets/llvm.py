"""llvm.py SECONDS: code that LLVM makes at run time, in a known chain, without frame pointers.

hot() calls jit_outer, which calls jit_inner, which spins and calls called_back(). Meanwhile more is compiled, for
which LLVM calls dlclose() without taking anything away. Needs llvmlite.
"""

import ctypes
import sys
import time

import llvmlite.binding as llvm

IR = """
define i64 @jit_inner(i64 %n, ptr %back) noinline {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %again ]
  %j = add i64 %i, 1
  %x = call i64 asm sideeffect "mov $1, $0", "=r,r"(i64 %j)
  %more = icmp ult i64 %x, %n
  br i1 %more, label %again, label %done
done:
  %r = call i64 %back(i64 %n)
  ret i64 %r
}

define i64 @jit_outer(i64 %n, ptr %back) noinline {
  %r = call i64 @jit_inner(i64 %n, ptr %back)
  %s = add i64 %r, 1
  ret i64 %s
}
"""


def called_back(n):
    total = 0
    for i in range(n // 30):
        total += i * i
    return total % 100


def compiled():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(IR), machine)
    engine.finalize_object()
    return engine


BACK = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)
back = BACK(called_back)
engines = [compiled()]
outer = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long, ctypes.c_void_p)(engines[0].get_function_address("jit_outer"))


def hot():
    outer(300000, ctypes.cast(back, ctypes.c_void_p))


end = time.perf_counter() + float(sys.argv[1])
while time.perf_counter() < end:
    for _ in range(10):
        hot()
    engines.append(compiled())
