# SPDX-License-Identifier: Apache-2.0
"""A browser without a screen, driven as its own developer tools drive it: over two pipes, one message after another.

Time is real. Whoever waits, waits for what the page shows (Tab.wait). All that the page says on its console, and every
address that it asks for, is kept for the test to judge.
"""

import base64
import json
import os
import re
import select
import subprocess
import tempfile
import time

import e2e

COMMAND = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--hide-scrollbars", "--remote-debugging-pipe"]
KEYS = {"Tab": (9, None), "Enter": (13, "\r"), "Space": (32, " "), "ArrowRight": (39, None), "ArrowLeft": (37, None), "ArrowDown": (40, None),
        "ArrowUp": (38, None), "Home": (36, None), "End": (35, None), "Escape": (27, None)}
BUSY = re.compile(r"status of (429|503)\b|net::ERR_(SOCKET|CONNECTION|EMPTY|TIMED)")  # of a machine with much to do: the page asks again
LOOK_AGAIN = 0.05  # seconds
SECONDS_TO_END = 20


class Browser:
    """Ends with the `with` block."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.ours_out = os.pipe()
        self.ours_in, theirs_out = os.pipe()
        self.process = subprocess.Popen([*COMMAND, f"--user-data-dir={self.folder.name}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=lambda: self._arrange(theirs_in, theirs_out))
        os.close(theirs_in)
        os.close(theirs_out)
        self.received, self.number, self.tabs = b"", 0, {}

    @staticmethod
    def _arrange(theirs_in, theirs_out):
        """The browser reads from 3 and writes to 4. Only these are inherited."""
        e2e._die_with_parent()  # pylint: disable=protected-access
        copies = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(copies[0], 3)
        os.dup2(copies[1], 4)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.ours_out)  # it ends, with all of its processes, when nobody talks to it any more
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(e2e.TIMEOUT)
        os.close(self.ours_in)
        self.folder.cleanup()

    def _receive(self, timeout):
        """The next message; None where none comes in that time."""
        deadline = time.monotonic() + timeout
        while b"\0" not in self.received:
            if not select.select([self.ours_in], [], [], max(deadline - time.monotonic(), 0))[0]:
                return None
            some = os.read(self.ours_in, 1 << 20)
            assert some, "the browser has ended"
            self.received += some
        one, self.received = self.received.split(b"\0", 1)
        return json.loads(one)

    def _happened(self, message):
        tab = self.tabs.get(message.get("sessionId"))
        if tab:
            tab.happened(message["method"], message["params"])

    def listen(self, seconds=0):
        """Takes in what has happened."""
        while (message := self._receive(seconds)) is not None:
            self._happened(message)
            seconds = 0

    def ask(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.ours_out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(e2e.TIMEOUT)
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if "method" in answer:
                self._happened(answer)

    def open(self, url, **settings):
        return Tab(self, url, **settings)


class Tab:
    """A page of its own. `script` False: as if the browser had none. `first`: a script that runs before those of the page."""

    def __init__(self, browser, url, width=1280, height=900, dark=False, script=True, first=None):
        self.browser, self.said, self.asked = browser, [], []
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.tabs[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        if first:
            self.ask("Page.addScriptToEvaluateOnNewDocument", source=first)
        if not script:
            self.ask("Emulation.setScriptExecutionDisabled", value=True)
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'", "the page")

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def happened(self, method, parameters):
        if method == "Runtime.consoleAPICalled":
            self.said.append(str([argument.get("value") for argument in parameters["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.said.append(json.dumps(parameters["exceptionDetails"])[:1000])
        elif method == "Log.entryAdded" and not BUSY.search(parameters["entry"]["text"]):
            self.said.append(json.dumps(parameters["entry"])[:1000])
        elif method == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])

    def do(self, expression):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression, what):
        """The first true value of an expression in the page; of an element, that it is there."""
        expression = f"((value) => value instanceof Node || value)({expression})"
        deadline = time.monotonic() + e2e.TIMEOUT
        while not (value := self.do(expression)):
            assert time.monotonic() < deadline, f"waited in vain for {what}; the page said {self.said}"
            self.browser.listen(LOOK_AGAIN)
        return value

    def press(self, key, times=1):
        code, text = KEYS[key]
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self.ask("Input.dispatchKeyEvent", type=kind, key=" " if key == "Space" else key, code=key, windowsVirtualKeyCode=code,
                         **({"text": text} if text and kind == "keyDown" else {}))

    def picture(self, path, whole=True):
        """Saves what it looks like."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}} if whole else {}
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.listen()
        self.ask("Page.close")
        self.browser.tabs.pop(self.session)
