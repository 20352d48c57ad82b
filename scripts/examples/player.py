"""A whole league.v2 player with Python's standard library: python3 player.py MANAGER NAME PORT [JOIN_CODE] (see PROTOCOL.md)."""

import datetime, json, os, random, secrets, socket, sys, urllib.parse, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MANAGER, NAME, PORT, JOIN_CODE = sys.argv[1:] + ["http://127.0.0.1:8000/mcp", "Python", "8150", None][len(sys.argv) - 1:]
GAMES = ["even_odd.v1", "rps.v1", "chess.v1", "tic_tac_toe.v1", "connect_four.v1", "kuhn_poker.v1"]
sender = f"player:{NAME}"


def choose(request):
    """The move for a MOVE_REQUEST: here a random one. `request["game_state"]` is what this player sees of the game."""
    return random.choice(request["legal_actions"])


def envelope(message_type, payload, **more):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    head = {"protocol": "league.v2", "message_id": str(uuid.uuid4()), "type": message_type, "sender": sender}
    return {**head, "timestamp": now, "payload": payload, **more}


def answer(message):
    payload, reply_to = message["payload"], {"correlation_id": message["message_id"]}
    if message["type"] == "GAME_INVITE":
        return envelope("GAME_INVITE_RESPONSE", {"match_id": payload["match_id"], "accept": True}, **reply_to)
    if message["type"] == "MOVE_REQUEST":
        move = {"match_id": payload["match_id"], "tick": payload["tick"], "move": choose(payload)}
        return envelope("MOVE_RESPONSE", move, **reply_to)
    return envelope("ACK", {}, **reply_to)


class Player(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        content = [{"type": "text", "text": json.dumps(answer(call["params"]["arguments"]))}]
        body = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"content": content}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


manager = urllib.parse.urlsplit(MANAGER)
try:
    with socket.create_connection((manager.hostname, manager.port or 80)) as connection:
        address = connection.getsockname()[0]  # where the manager's network reaches this machine
except OSError as error:
    sys.exit(f"no manager at {MANAGER}: {error}")
server = ThreadingHTTPServer((address, int(PORT)), Player)

# The token gives a player that is started again its old id. It is written down before it is sent.
token_file = f"{urllib.parse.quote(NAME, safe='')}.token"
if not os.path.exists(token_file):
    with open(os.open(token_file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(32))
with open(token_file) as file:
    token = file.read().strip()
me = {"display_name": NAME, "game_types": GAMES, "contact_endpoint": f"http://{address}:{PORT}/mcp", "join_code": JOIN_CODE}
request = {"name": "league_message", "arguments": envelope("PLAYER_REGISTER_REQUEST", me, auth_token=token)}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": request}).encode()
post = urllib.request.Request(MANAGER, body, {"content-type": "application/json"})
with urllib.request.urlopen(post) as response:
    reply = json.loads(json.load(response)["result"]["content"][0]["text"])["payload"]
if reply.get("status") != "ACCEPTED":
    sys.exit(f"the league manager rejected the registration: {reply.get('reason') or reply.get('message')}")
sender = f"player:{reply['player_id']}"
print(f"{NAME} is registered as {reply['player_id']}; Ctrl-C ends it", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
