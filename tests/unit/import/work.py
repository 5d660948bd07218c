"""A small program of known parts, for scalene to look at."""
import json
import time


def squares(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


class Store:
    def dump(self, n):
        return json.dumps(list(range(n)))


def nap():
    time.sleep(0.05)


if __name__ == "__main__":
    for _ in range(6):
        squares(300000)
    for _ in range(2):
        Store().dump(300000)
    nap()
