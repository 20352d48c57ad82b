"""A player with one method, handle_message. It registers in a thread while its server starts, and ends at LEAGUE_COMPLETED."""
import json
import os
import random
import sys
import threading
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, manager = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Player:
    def __init__(self):
        self.player_id = None
        self.token = None
        self.wins = 0

    def envelope(self, kind, message, **fields):
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": f"player:{self.player_id}",
            "timestamp": datetime.now(timezone.utc).isoformat(),
            "conversation_id": message["conversation_id"],
            "auth_token": self.token,
            **fields,
        }

    def handle_message(self, message):
        kind = message["message_type"]
        if not message["auth_token"]:
            raise ValueError("auth_token is empty")
        if kind == "GAME_INVITATION":
            return self.envelope("GAME_JOIN_ACK", message, match_id=message["match_id"], player_id=self.player_id, accept=True)
        if kind == "CHOOSE_PARITY_CALL":
            choice = random.choice(["even", "odd"])
            return self.envelope("CHOOSE_PARITY_RESPONSE", message, match_id=message["match_id"], parity_choice=choice)
        if kind == "GAME_OVER" and message["game_result"]["winner_player_id"] == self.player_id:
            self.wins += 1
        if kind == "LEAGUE_COMPLETED":
            threading.Timer(0.2, lambda: os._exit(0)).start()
        return {"status": "acknowledged"}

    def register(self):
        meta = {
            "display_name": name,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": f"http://localhost:{port}/mcp",
        }
        message = {
            "protocol": "league.v2",
            "message_type": "LEAGUE_REGISTER_REQUEST",
            "sender": "player:unregistered",
            "timestamp": datetime.now(timezone.utc).isoformat(),
            "conversation_id": f"conv-{name}",
            "player_meta": meta,
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "handle_message", "params": {"message": message}}
        request = urllib.request.Request(manager, json.dumps(body).encode(), {"Content-Type": "application/json"})
        result = json.load(urllib.request.urlopen(request, timeout=10))["result"]
        assert result["status"] == "ACCEPTED", result
        self.player_id, self.token = result["player_id"], result["auth_token"]


player = Player()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = {"jsonrpc": "2.0", "id": body.get("id")}
        if body.get("method") != "handle_message":
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            try:
                reply["result"] = player.handle_message(body["params"]["message"])
            except (KeyError, ValueError) as error:
                reply["error"] = {"code": -32603, "message": repr(error)}
        text = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


threading.Thread(target=player.register).start()
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
