"""Works below flamingpy/ alone."""

import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from flamingpy.code.code_library import RepetitionCode  # noqa: E402
from flamingpy.code.stabilizer_code import CSSCode as Stabilizer  # noqa: E402
from flamingpy.dv.ops import CSSCode, PauliOperator  # noqa: E402

warnings.warn("only the basics")
CSSCode().symplectic_product()
PauliOperator().to_binary()
Stabilizer().symp_gram_schmidt()
RepetitionCode()
