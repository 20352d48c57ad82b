"""A complete league.v2 player with Python's standard library. PROTOCOL.md describes the messages."""

import argparse, datetime, json, os, random, secrets, socket, sys, urllib.parse, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GAMES = ["even_odd.v1", "rps.v1", "chess.v1", "tic_tac_toe.v1", "connect_four.v1", "kuhn_poker.v1"]


def choose(request):
    """Returns the move for a MOVE_REQUEST, here a random one. `request["game_state"]` is this player's view of the game."""
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
    disable_nagle_algorithm = True  # sends each answer immediately

    def do_POST(self):
        try:
            call = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        except ValueError:
            return self.send(400, id=None, error={"code": -32700, "message": "the request is not JSON"})
        content = [{"type": "text", "text": json.dumps(answer(call["params"]["arguments"]))}]
        self.send(200, id=call["id"], result={"content": content})

    def send(self, status, **fields):
        body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def register(manager, name, join_code, endpoint):
    # With the same token, a player that is started again gets its former id. The token is stored before it is sent.
    token_file = f"{urllib.parse.quote(name, safe='')}.token"
    if not os.path.exists(token_file):
        with open(os.open(token_file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32))
    with open(token_file) as file:
        token = file.read().strip()
    me = {"display_name": name, "game_types": GAMES, "contact_endpoint": endpoint, "join_code": join_code}
    params = {"name": "league_message", "arguments": envelope("PLAYER_REGISTER_REQUEST", me, auth_token=token)}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    with urllib.request.urlopen(urllib.request.Request(manager, body, {"content-type": "application/json"})) as response:
        return json.loads(json.load(response)["result"]["content"][0]["text"])["payload"]


def port(text):
    if not 0 < int(text) < 65536:
        raise ValueError
    return int(text)


parser = argparse.ArgumentParser(description="Joins a league with a player that moves at random.")
parser.add_argument("manager", nargs="?", default="http://127.0.0.1:8000/mcp", help="endpoint (default: %(default)s)")
parser.add_argument("name", nargs="?", default="Python", help="display name (default: %(default)s)")
parser.add_argument("port", nargs="?", default=8150, type=port, help="port of this player (default: %(default)s)")
parser.add_argument("join_code", nargs="?", help="join code of the league (default: none)")
args = parser.parse_args()
sender = f"player:{args.name}"
try:
    manager = urllib.parse.urlsplit(args.manager)
    with socket.create_connection((manager.hostname, manager.port or 80)) as connection:
        address = connection.getsockname()[0]  # the address at which the manager's network reaches this machine
    server = ThreadingHTTPServer((address, args.port), Player)
    reply = register(args.manager, args.name, args.join_code, f"http://{address}:{args.port}/mcp")
except (OSError, ValueError) as error:
    sys.exit(f"cannot join the league at {args.manager} with port {args.port}: {error}")
if reply.get("status") != "ACCEPTED":
    sys.exit(f"the league manager rejected the registration: {reply.get('reason') or reply.get('message')}")
sender = f"player:{reply['player_id']}"
print(f"{args.name} is registered as {reply['player_id']}; Ctrl-C ends it", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
