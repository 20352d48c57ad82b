"""A player that answers RECEIVED and sends each answer to the referee in a request of its own. It registers before it listens."""
import json
import queue
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

name, port, manager = sys.argv[1], int(sys.argv[2]), sys.argv[3]
outbox = queue.Queue()
referees = {}


def post(url, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 99, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=10))


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


registered = post(
    manager,
    "protocol/message",
    {
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": name,
        "timestamp": now(),
        "conversation_id": "c1",
        "player_meta": {"player_name": name, "version": "0.1", "game_types": ["even_odd"], "endpoint": f"http://127.0.0.1:{port}/mcp"},
    },
)["result"]["response"]
me, token = registered["player_id"], registered["auth_token"]


def work():
    while True:
        message = outbox.get()
        answer = {"protocol": "league.v2", "sender": f"players:{me}", "timestamp": now(), "match_id": message["match_id"], "player_id": me, "auth_token": ""}
        kind = message["message_type"]
        if kind == "GAME_INVITATION":
            method, fields = "receive_game_join_ack", {"message_type": "GAME_JOIN_ACK", "accept": True}
        else:
            method, fields = "receive_parity_response", {"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": "odd"}
        post(referees[message["match_id"]], method, {**answer, **fields})


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = body["params"]
        status = "RECEIVED" if body["method"] == "protocol/message" else "unknown_message_type"
        if status == "RECEIVED":
            if message["message_type"] == "ROUND_ANNOUNCEMENT":
                referees.update({match["match_id"]: match["referee_endpoint"] for match in message["matches"]})
            if message["message_type"] in ("GAME_INVITATION", "CHOOSE_PARITY_CALL"):
                outbox.put(message)
        data = json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": {"status": status}}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
