import time


def RepetitionCode():
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        sum(range(300))
