"""An MCP server by hand over stdin and stdout, which says its process id. Run by its path, as a command would be."""

import json
import os
import sys
import threading
import time
from typing import Any

TOOLS = ("who", "doze", "hang", "die", "refuse")


def answer(asked: Any) -> None:
    method = asked["method"]
    if method == "initialize":
        info = {"name": "own", "version": "0"}
        version = asked["params"]["protocolVersion"]
        say(asked, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        say(asked, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]})
    elif method == "ping":
        say(asked, {})
    elif method == "tools/call":
        threading.Thread(target=call, args=(asked,), daemon=True).start()
    elif "id" in asked:
        refuse(asked, -32601)


def call(asked: Any) -> None:
    match asked["params"]["name"]:
        case "die":
            os._exit(1)
        case "hang":
            time.sleep(60)
        case "refuse":
            return refuse(asked, -32602)
        case "doze":
            time.sleep(0.2)
    said = {"pid": os.getpid()}
    say(asked, {"content": [{"type": "text", "text": json.dumps(said)}], "structuredContent": said})


def refuse(asked: Any, code: int) -> None:
    write({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": code, "message": "no"}})


def say(asked: Any, result: Any) -> None:
    write({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def write(line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    answer(json.loads(line))
