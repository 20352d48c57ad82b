"""A player of league.v1. It rejects messages without a field of the specification with HTTP 400, and answers notifications with 204."""
import json
import sys
import threading
import time
import urllib.request
import uuid
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, manager = sys.argv[1], int(sys.argv[2]), sys.argv[3]
COMMON = {"protocol", "message_type", "league_id", "round_id", "match_id", "conversation_id", "sender", "timestamp"}
FIELDS = {
    "GAME_START": {"game_config", "players"},
    "MOVE_REQUEST": {"game_round", "game_state", "time_limit_seconds"},
    "ROUND_RESULT": {"game_round", "moves", "sum", "sum_type", "round_winner", "scores"},
    "GAME_END": {"final_scores", "winner", "match_points"},
}
CONFIG = {"game_type", "rounds_to_win", "max_rounds", "time_limit_seconds"}
player = {"id": None}


def check(message):
    missing = (COMMON | FIELDS[message["message_type"]]) - message.keys()
    missing |= CONFIG - message.get("game_config", dict.fromkeys(CONFIG)).keys()
    if missing:
        raise ValueError(f"missing fields: {sorted(missing)}")
    uuid.UUID(message["conversation_id"])
    datetime.strptime(message["timestamp"], "%Y-%m-%dT%H:%M:%SZ")


def move(message):
    number = 3 if message["game_state"]["your_role"] == "ODD" else 2
    fields = {key: message[key] for key in ("protocol", "league_id", "round_id", "match_id", "conversation_id", "game_round")}
    sender = f"player:{player['id']}"
    return {**fields, "message_type": "MOVE_RESPONSE", "sender": sender, "timestamp": message["timestamp"], "move": {"number": number}}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        rpc = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            message = rpc["params"]["arguments"]
            assert rpc["method"] == "tools/call" and message["message_type"] in FIELDS
        except (KeyError, TypeError, AssertionError):
            error = {"code": -32601, "message": "Method not found"}
            return self.reply(404, {"jsonrpc": "2.0", "id": rpc.get("id"), "error": error})
        try:
            check(message)
        except ValueError as problem:
            return self.reply(400, {"detail": str(problem)})
        if message["message_type"] in ("ROUND_RESULT", "GAME_END"):
            return self.reply(204, None)
        result = move(message) if message["message_type"] == "MOVE_REQUEST" else {"status": "OK"}
        self.reply(200, {"jsonrpc": "2.0", "id": rpc["id"], "result": result})

    def reply(self, status, value):
        self.send_response(status)
        self.end_headers()
        if value is not None:
            self.wfile.write(json.dumps(value).encode())

    def log_message(self, *args):
        pass


def register():
    meta = {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": f"http://localhost:{port}/mcp"}
    message = {
        "protocol": "league.v1",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "league_id": "league_2024_01",
        "conversation_id": str(uuid.uuid4()),
        "sender": "player:new_player",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "player_meta": meta,
    }
    params = {"name": "register_player", "arguments": message}
    body = json.dumps({"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": "tools/call", "params": params}).encode()
    answer = json.load(urllib.request.urlopen(urllib.request.Request(manager, body, {"Content-Type": "application/json"})))
    assert answer["result"]["status"] == "ACCEPTED"
    player["id"] = answer["result"]["player_id"]


server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
threading.Thread(target=register).start()
server.serve_forever()
