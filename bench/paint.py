"""The home page of a demo of 400 matches on a throttled phone: its largest paint, and what shifts.

Chromium tells, at 1.6 Mbit/s, 150 ms a request and a quarter of this machine's speed, best of five; pages
come packed, as hosts send them. Targets: 1.0 s, no layout shift, 100 KB.
"""

from __future__ import annotations

import functools
import gzip
import shutil
import subprocess
import sys
import tempfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

MATCHES = 400
RUNS = 5
WATCH = """window.painted = 0; window.shifted = 0;
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.painted = one.startTime; })
  .observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifted += one.value; })
  .observe({ type: "layout-shift", buffered: true });"""
NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}


class Packed(SimpleHTTPRequestHandler):
    """Sends files as hosts do: in gzip, over one connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        if not file.is_file():
            self.send_error(404)
            return
        body = gzip.compress(file.read_bytes(), 6)
        self.send_response(200)
        self.send_header("content-type", self.guess_type(file))
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        arena, pages = Path(folder, "arena"), Path(folder, "pages")
        peerage("demo", "--dir", str(arena), "--matches", str(MATCHES))
        peerage("site", "build", str(pages), "--dir", str(arena))
        packed = len(gzip.compress((pages / "index.html").read_bytes(), 6))
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Packed, directory=str(pages)))
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            seen = measured(f"http://127.0.0.1:{server.server_port}/index.html")
        finally:
            server.shutdown()
    print(f"home page of {MATCHES} matches, best of {RUNS} on a throttled phone")
    print(f"  largest paint {min(paint for paint, _ in seen) / 1000:.2f} s (at most 1.0)")
    print(f"  layout shift  {max(shift for _, shift in seen):.3f} (0)")
    print(f"  packed        {packed / 1000:.1f} KB (at most 100)")


def measured(address: str) -> list[tuple[float, float]]:
    """Milliseconds until the largest paint, and the layout shift, of each run."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        for _ in range(RUNS):
            context = browser.new_context(
                viewport={"width": 360, "height": 740}, device_scale_factor=2, is_mobile=True
            )
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", NETWORK)
            session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
            page.add_init_script(WATCH)
            page.goto(address, wait_until="load")
            page.wait_for_timeout(1_000)
            found.append(tuple(page.evaluate("[window.painted, window.shifted]")))
            context.close()
        browser.close()
    return found


def peerage(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "peerage", *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
