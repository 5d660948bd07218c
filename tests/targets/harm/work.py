"""CPU for the programs of this folder, so that samples are taken while they do what they do."""

import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))
