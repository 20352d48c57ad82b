"""Joins a league with bot.py: python3 join.py MANAGER_URL NAME PORT JOIN_CODE. PROTOCOL.md has the messages."""

import http.server, json, pathlib, random, secrets, socket, sys, time, traceback, urllib.parse, urllib.request, uuid
from bot import GAMES, choose

manager, me, port, join_code = sys.argv[1:] + ["http://127.0.0.1:8000/mcp", "Python", "8150", None][len(sys.argv) - 1 :]
sys.excepthook = lambda kind, fault, trace: print(f"join.py ended: {fault!r}", file=sys.stderr)


def envelope(kind, payload, **more):
    head = {"protocol": "league.v2", "message_id": str(uuid.uuid4()), "type": kind, "sender": f"player:{me}"}
    return {**head, "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "payload": payload, **more}


def answer(message):
    kind, asked, payload = "ACK", message["payload"], {}
    if message["type"] == "GAME_INVITE":
        kind, payload = "GAME_INVITE_RESPONSE", {"match_id": asked["match_id"], "accept": True}
    elif message["type"] == "MOVE_REQUEST":
        random.seed(message["message_id"])  # a request that is sent again has the same answer
        move = choose(asked["game_state"], asked["legal_actions"], asked["your_role"])
        kind, payload = "MOVE_RESPONSE", {"match_id": asked["match_id"], "tick": asked["tick"], "move": move}
    return envelope(kind, payload, correlation_id=message["message_id"])


class Player(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize, log_message = "HTTP/1.1", -1, lambda *_: None  # connections stay open; one write an answer

    def do_POST(self):
        try:
            call = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            content = [{"type": "text", "text": json.dumps(answer(call["params"]["arguments"]))}]
            status, reply = 200, {"id": call["id"], "result": {"content": content}}
        except Exception as fault:
            if "choose" in [frame.name for frame in traceback.extract_tb(fault.__traceback__)]: traceback.print_exc()
            status, reply = 400, {"id": None, "error": {"code": -32603, "message": repr(fault)}}
        body = json.dumps({"jsonrpc": "2.0", **reply}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


url = urllib.parse.urlsplit(manager)
address = socket.create_connection((url.hostname, url.port or 80)).getsockname()[0]  # at which the manager reaches this player
token = pathlib.Path(f"{urllib.parse.quote(me, safe='')}.token")
token.touch(0o600)
token.write_text(token.read_text() or secrets.token_urlsafe(32))  # with the same token the player keeps its id
profile = {"display_name": me, "game_types": GAMES, "contact_endpoint": f"http://{address}:{port}/mcp"}
message = envelope("PLAYER_REGISTER_REQUEST", {**profile, "join_code": join_code}, auth_token=token.read_text())
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "league_message", "arguments": message}}
server = http.server.ThreadingHTTPServer((address, int(port)), Player)
request = urllib.request.Request(manager, json.dumps(call).encode(), {"content-type": "application/json"})
reply = json.loads(json.load(urllib.request.urlopen(request))["result"]["content"][0]["text"])["payload"]
assert reply.get("status") == "ACCEPTED", reply.get("reason") or reply.get("message")
print(f"{me} is registered as {reply['player_id']}; Ctrl-C ends it", flush=True)
me = reply["player_id"]  # the sender of later messages
server.serve_forever()
