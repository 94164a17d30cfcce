"""Drives a headless Chromium through its DevTools protocol, over a pair of pipes: messages are JSON, each ends in a NUL.

  with Chromium.start() as browser:
      page = browser.open("file:///tmp/r.html")
      page.evaluate("document.title")
      page.click("#tab-timeline")
"""
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--mute-audio",
         "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe"]

WAIT = 120  # seconds that a page may take to do what is expected, on a machine that is busy with other things


def find():
    """The path of a Chromium, or None."""
    wanted = os.environ.get("HLOSIM_CHROMIUM")
    return wanted or next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    @classmethod
    def start(cls, width=1360, height=900):
        return cls(find(), width, height)

    def __init__(self, path, width, height):
        self.size = (width, height)
        self.profile = tempfile.mkdtemp(prefix="hlosim-chromium-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():  # the browser reads from 3 and writes to 4
            spare = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(spare[0], 60), os.dup2(spare[1], 61)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [path, *FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        os.close(self.write_end)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise RuntimeError("the browser closed its pipe")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address, until="document.documentElement?.dataset.ready === 'true'", seconds=WAIT):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        page.call("Page.navigate", url=address)
        page.wait(until, seconds)
        return page


class Page:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=WAIT):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.02)
        raise RuntimeError(f"waited {seconds} s for {expression}; {self.problems()}")

    def problems(self):
        """What the page complained of: exceptions, console errors, refused loads."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
        return found

    def forget_problems(self):
        """Those that a test asked for."""
        self.browser.events = [event for event in self.browser.events if event.get("sessionId") != self.session
                               or event.get("method") not in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]

    def requests(self):
        """Addresses that were asked for."""
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event.get("sessionId") == self.session and event.get("method") == "Network.requestWillBeSent"]

    def center(self, selector):
        box = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                            "const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click_at(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=count)
        self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def click(self, selector):
        self.click_at(*self.center(selector))

    def wheel(self, x, y, by, control=False):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by, modifiers=2 if control else 0)

    def key(self, key, text=None):
        codes = {"Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9, "Escape": 27, "Home": 36, "End": 35}
        extra = {"text": text or ("\r" if key == "Enter" else key if len(key) == 1 else "")}
        if key in codes:
            extra["windowsVirtualKeyCode"] = codes[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **{k: v for k, v in extra.items() if v})
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def type(self, selector, text):
        """Replaces what stands in a field."""
        self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.focus(); e.select(); }})()")
        self.call("Input.insertText", text=text)

    def screenshot(self, path, **clip):
        answer = self.call("Page.captureScreenshot", format="png", **clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
