"""A page in a real Chromium without a window, driven over a pipe by the browser's own protocol (DevTools)."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

import pytest

# No sandbox: tests run as root in containers. Nothing is asked of the network.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
OPTIONS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


def chromium(*options, profile):
    """The command; profile: a folder of its own, that need not be there."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("SKIP: no chromium here")
    return [found, *OPTIONS, "--user-data-dir=%s" % profile, *options]


class Page:
    """One page of a browser that ends with the block; what waits is given up after `timeout` seconds."""

    def __init__(self, url, folder, width=1500, height=1400, timeout=120):
        self.end, self.asked, self.timeout = b"", 0, timeout
        options = ["--remote-debugging-pipe", "--window-size=%d,%d" % (width, height)]
        command = chromium(*options, profile=folder / "browser")
        theirs, self.to = os.pipe()
        self.answers, answers = os.pipe()

        def take():  # its side of the pipe is 3 and 4, by definition; these may be among ours
            high = [os.dup2(theirs, 203), os.dup2(answers, 204)]
            for number, fd in zip((3, 4), high):
                os.dup2(fd, number)

        with open(os.devnull, "w") as nowhere:
            self.process = subprocess.Popen(command, preexec_fn=take, pass_fds=(3, 4), stdout=nowhere, stderr=nowhere)
        os.close(theirs)
        os.close(answers)
        try:
            target = self.ask("Target.createTarget", url=url)["targetId"]
            self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        os.close(self.to)  # ends it
        os.close(self.answers)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def message(self, until):
        while b"\0" not in self.end:
            ready = select.select([self.answers], [], [], max(0, until - time.monotonic()))[0]
            more = os.read(self.answers, 1 << 20) if ready else b""
            assert more, "the browser %s" % ("ended" if ready else "does not answer")
            self.end += more
        text, self.end = self.end.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        self.asked += 1
        asked = {"id": self.asked, "method": method, "params": parameters}
        if hasattr(self, "session"):
            asked["sessionId"] = self.session
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self.message(until)
            if answer.get("id") == self.asked:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def value(self, expression):
        """Of JavaScript; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression):
        """Polls until that is true, and returns it."""
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            found = self.value(expression)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError("not in the page within %g s: %s" % (self.timeout, expression))

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
