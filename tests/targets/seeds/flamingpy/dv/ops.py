"""Methods of two classes, each of so much CPU."""

import time


class CSSCode:
    def symplectic_product(self):
        end = time.thread_time() + 0.15
        while time.thread_time() < end:
            sum(range(300))


class PauliOperator:
    def to_binary(self):
        end = time.thread_time() + 0.07
        while time.thread_time() < end:
            bin(10**30)
