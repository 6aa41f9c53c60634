#!/usr/bin/env python3
"""A small world on loopback for real clients: an HTTP server over DIRECTORY, and tests/proxy/serve as the proxy above hurdle's, for which
*.example.com and *.example.net are this machine. usage: world.py DIRECTORY; prints "HTTP-PORT PROXY-PORT"; ends with standard input.
What the HTTP server was asked for stands in DIRECTORY/.log, a line each: method, path, Host."""
import http.server
import os
import sys
import threading

from lab import Proxy

NAMES = ["web", "registry", "pypi", "git"]


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        with open(os.path.join(self.directory, ".log"), "a") as f:
            f.write(f"{self.command} {self.path} {self.headers.get('Host')}\n")

    def send_head(self):
        # a registry answers for a package, not for a directory
        path = self.path.split("?")[0].strip("/")
        if os.path.isfile(os.path.join(self.directory, path + ".json")):
            self.path = "/" + path + ".json"
        return super().send_head()


def main():
    directory = sys.argv[1]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Handler(*a, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(os.path.join(directory, ".hosts"), "w") as f:
        for name in NAMES:
            f.write(f"127.0.0.1 {name}.example.com {name}.example.net\n")
    with Proxy("allow=*.example.com", "allow=*.example.net", "allow=127.0.0.1", "hosts=" + os.path.join(directory, ".hosts")) as above:
        print(server.server_address[1], above.port, flush=True)
        sys.stdin.read()
    os._exit(0)


main()
