"""A class of the same name as one in dv/ops.py."""

import time


class CSSCode:
    def symp_gram_schmidt(self):
        end = time.thread_time() + 0.07
        while time.thread_time() < end:
            sum(range(300))
