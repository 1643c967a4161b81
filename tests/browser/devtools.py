# SPDX-License-Identifier: BSD-3-Clause
"""A page in a headless Chromium, driven over the DevTools protocol with nothing but the standard library.

    with devtools.Browser() as browser:
        page = browser.open("report.html", 400, 800)
        assert page.errors == []
        assert page.evaluate("document.title") == "..."
        page.screenshot("narrow.png")

The protocol runs over a pair of pipes (--remote-debugging-pipe): no port, no wait for a server, no handshake.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

TIMEOUT = 60.0  # seconds that any one answer may take
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40}
TEXTS = {"Enter": "\r", "Space": " "}
SHIFT = 8


class DevtoolsError(Exception):
    """What the browser refused, or did not answer in time."""


def chromium():
    """The program's path, or None where it is not installed (tools/setup.sh test installs it)."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return None


def as_url(url_or_file):
    text = str(url_or_file)
    return text if "://" in text or text.startswith(("about:", "data:")) else pathlib.Path(text).resolve().as_uri()


class Browser:
    """A Chromium of its own, with an empty profile, that ends with the `with` block."""

    def __init__(self):
        program = chromium()
        if program is None:
            raise DevtoolsError("there is no Chromium: 'tools/setup.sh test' installs it")
        self._profile = tempfile.mkdtemp(prefix="tare-browser-")
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()

        def wire_up():  # the child speaks on 3 (in) and 4 (out)
            spare_read, spare_write = os.dup(to_read), os.dup(to_write)
            os.dup2(spare_read, 3)
            os.dup2(spare_write, 4)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--force-color-profile=srgb", "--font-render-hinting=none", "--no-first-run", "--mute-audio",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--no-default-browser-check", "--force-device-scale-factor=1",
                   "--remote-debugging-pipe", f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen([program, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=wire_up,
                                         start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._last_id = 0
        self._pages = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, url_or_file, width=1400, height=900, scheme="light"):
        """A new page of that size, loaded; `scheme` is light or dark."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, target)
        self._pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            page.send(f"{domain}.enable")
        page.resize(width, height)
        page.emulate(scheme=scheme)
        page.goto(url_or_file)
        return page

    def close(self):
        """Ends the whole group of processes that this browser started, and removes its profile."""
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def send(self, method, params=None, session=None):
        """Sends a command, waits for its answer, and hands the events that come meanwhile to their pages."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._out, data):]
        except BrokenPipeError as error:
            raise DevtoolsError(f"Chromium has ended before {method}") from error
        limit = time.monotonic() + TIMEOUT
        while True:
            answer = self._receive(limit, method)
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise DevtoolsError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._dispatch(answer)

    def wait(self, ready, what):
        """Takes events until ready() is true."""
        limit = time.monotonic() + TIMEOUT
        while not ready():
            self._dispatch(self._receive(limit, what))

    def _receive(self, limit, what):
        while b"\0" not in self._buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise DevtoolsError(f"{what}: no answer in {TIMEOUT:.0f} seconds")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise DevtoolsError(f"{what}: Chromium has ended (exit code {self._process.poll()})")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(line)

    def _dispatch(self, event):
        page = self._pages.get(event.get("sessionId"))
        if page is not None:
            page.take(event["method"], event["params"])


class Page:
    """One page. `errors` are the texts of console errors, exceptions and failed loads; `requests` are the addresses it
    asked for, its own first."""

    def __init__(self, browser, session, target):
        self._browser, self._session, self._target = browser, session, target
        self.errors, self.requests = [], []
        self._loaded = False

    def send(self, method, params=None):
        return self._browser.send(method, params, self._session)

    def goto(self, url_or_file):
        """Loads another address, and waits until it is there."""
        self._loaded = False
        answer = self.send("Page.navigate", {"url": as_url(url_or_file)})
        if answer.get("errorText"):
            raise DevtoolsError(f"{url_or_file}: {answer['errorText']}")
        self._browser.wait(lambda: self._loaded, f"load {url_or_file}")

    def take(self, method, params):
        """An event of this page."""
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(arg.get("value", arg.get("description", ""))) for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}".strip())

    def evaluate(self, script):
        """The value of a JavaScript expression (of a promise, what it gives), as Python has it."""
        answer = self.send("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise DevtoolsError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_for(self, script, seconds=10.0):
        """Waits until the expression is true, and returns its value."""
        limit = time.monotonic() + seconds
        while not (value := self.evaluate(script)):
            if time.monotonic() > limit:
                raise DevtoolsError(f"never came true: {script}")
            time.sleep(0.02)
        return value

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def emulate(self, scheme="light", media="screen"):
        """The reader's colour scheme (light or dark) and the medium (screen or print)."""
        self.send("Emulation.setEmulatedMedia",
                  {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def screenshot(self, path, whole=True):
        """A PNG of the whole page, or of what is in view."""
        shot = self.send("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def print_pdf(self, path):
        """The page as it would be printed."""
        sheet = self.send("Page.printToPDF", {"printBackground": False, "preferCSSPageSize": True})
        pathlib.Path(path).write_bytes(base64.b64decode(sheet["data"]))

    def press(self, key, shift=False):
        """A key with a name in KEYS, or a single character, goes to what has the focus."""
        code = KEYS.get(key, ord(key[0].upper()))
        event = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": code,
                 "modifiers": SHIFT if shift else 0}
        text = TEXTS.get(key, key if len(key) == 1 else "")
        self.send("Input.dispatchKeyEvent", {**event, "type": "keyDown" if text else "rawKeyDown", "text": text})
        self.send("Input.dispatchKeyEvent", {**event, "type": "keyUp"})

    def hover(self, x, y):
        """Moves the mouse to a place in view."""
        self.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def click(self, selector):
        """Clicks in the middle of an element, brought into view."""
        x, y = self.evaluate(f"""(() => {{
          const box = document.querySelector({json.dumps(selector)});
          box.scrollIntoView({{block: 'center', behavior: 'instant'}});
          const at = box.getBoundingClientRect();
          return [at.x + at.width / 2, at.y + at.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def set_file(self, selector, path):
        """Chooses a file in an <input type=file>, as a user would in its dialog."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        if node == 0:
            raise DevtoolsError(f"no element is '{selector}'")
        self.send("DOM.setFileInputFiles", {"nodeId": node, "files": [os.path.abspath(path)]})

    def accessible(self):
        """What a screen reader meets: (role, name) of every node that is not ignored, in order."""
        found = []
        for node in self.send("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                found.append((node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "")))
        return found

    def close(self):
        self._browser.send("Target.closeTarget", {"targetId": self._target})
