"""A player in the manner of an MCP server: tools/call with a table of tools, and results as text. It has no tool for most notifications."""
import json
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

NAME, PORT, LEAGUE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
state = {}


def receive_game_invitation(args):
    state["match"] = {"id": args["match_id"], "opponent": args["opponent_id"]}
    return {"status": "ACK"}


def choose_parity(args):
    assert args["match_id"] == state["match"]["id"]
    history = state.setdefault("history", [])
    return {"match_id": args["match_id"], "parity_choice": "odd" if len(history) % 2 else "even"}


def receive_game_over(args):
    state.setdefault("history", []).append(args["game_result"]["choices"])
    state["match"] = None
    return {"status": "ACK", "received": True}


TOOLS = {f.__name__: f for f in (receive_game_invitation, choose_parity, receive_game_over)}


class MCP(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, code, value):
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        rpc = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not isinstance(rpc.get("id"), int):
            return self.reply(400, {"detail": "id must be an integer"})
        params = rpc.get("params", {})
        tool = TOOLS.get(params.get("name")) if rpc["method"] == "tools/call" else None
        if tool is None:
            return self.reply(400, {"jsonrpc": "2.0", "id": rpc["id"], "error": {"code": -32602, "message": "Unknown tool"}})
        content = [{"type": "text", "text": json.dumps(tool(params["arguments"]))}]
        self.reply(200, {"jsonrpc": "2.0", "id": rpc["id"], "result": {"content": content}, "error": None})

    def log_message(self, *args):
        pass


def register():
    arguments = {
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": f"player:{NAME}",
        "player_meta": {
            "display_name": NAME,
            "protocol_version": "2.1.0",
            "contact_endpoint": f"http://127.0.0.1:{PORT}/mcp",
        },
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "register_player", "arguments": arguments}}
    for _ in range(20):
        try:
            request = urllib.request.Request(LEAGUE, json.dumps(body).encode(), {"Content-Type": "application/json"})
            answer = json.load(urllib.request.urlopen(request, timeout=5))
            state.update(json.loads(answer["result"]["content"][0]["text"]))
            return
        except OSError:
            time.sleep(0.2)


server = HTTPServer(("127.0.0.1", PORT), MCP)
Thread(target=register).start()
server.serve_forever()
