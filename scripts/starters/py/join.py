"""Joins a league with bot.py. PROTOCOL.md of agent-league has the messages."""
import http.server, json, pathlib, random, re, secrets, socket, sys, time, traceback, urllib.parse, urllib.request, uuid
from bot import GAMES, choose
usage = "usage: python3 join.py http://ADDRESS:8000/mcp [NAME [PORT [JOIN_CODE]]]"
if len(sys.argv) not in range(2, 6): sys.exit(usage)
if not re.match("https?://[^/]", sys.argv[1]): sys.exit(f"join.py: {sys.argv[1]} does not begin with http://; {usage}")
manager = re.sub("(/mcp)?/*$", "/mcp", sys.argv[1], count=1)
me, port, join_code = sys.argv[2:] + ["Python", "8150", None][len(sys.argv) - 2 :]
token = pathlib.Path(f"{urllib.parse.quote(me, safe='')}.token")
token.touch(0o600)
token.write_text(token.read_text() or secrets.token_urlsafe(32))  # with the same token the player keeps its id
step = f"cannot reach {manager}; check the address, and that the manager is running"  # the message if the next lines fail
sys.excepthook = lambda kind, fault, _: kind is KeyboardInterrupt or print(f"join.py: {step}: {fault}", file=sys.stderr)

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
    elif message["type"] == "GAME_RESULT":
        result = {me: "won", None: "no winner"}.get(asked["winner"], "lost")
        print(f"{asked['league_id']} {asked['match_id']}: {result} ({asked['reason'].replace('_', ' ')})", flush=True)
    return envelope(kind, payload, correlation_id=message["message_id"])

class Player(http.server.BaseHTTPRequestHandler):
    protocol_version, log_message = "HTTP/1.1", lambda *_: None  # connections stay open
    def do_POST(self):
        try:
            call = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            content = [{"type": "text", "text": json.dumps(answer(call["params"]["arguments"]))}]
            status, reply = 200, {"id": call["id"], "result": {"content": content}}
        except Exception as fault:
            if "choose" in [frame.name for frame in traceback.extract_tb(fault.__traceback__)]: traceback.print_exc()
            status, reply = 400, {"id": None, "error": {"code": -32603, "message": repr(fault)}}
        body = json.dumps({"jsonrpc": "2.0", **reply})
        self.wfile.write(f"HTTP/1.1 {status} \r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())

url, ports = urllib.parse.urlsplit(manager), {"http": 80, "https": 443}
address = socket.create_connection((url.hostname, url.port or ports[url.scheme])).getsockname()[0]  # the manager reaches it
step = f"cannot listen at port {port} of {address}; give another port as the third argument"
server = http.server.ThreadingHTTPServer((address, int(port)), Player)
step = f"{manager} does not answer as a league manager"
profile = {"display_name": me, "game_types": GAMES, "contact_endpoint": f"http://{address}:{port}/mcp", "join_code": join_code}
message = envelope("PLAYER_REGISTER_REQUEST", profile, auth_token=token.read_text())
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "league_message", "arguments": message}}
reply = json.load(urllib.request.urlopen(urllib.request.Request(manager, json.dumps(call).encode(), {"content-type": "application/json"})))
reply = json.loads(reply["result"]["content"][0]["text"])["payload"] if "result" in reply else reply["error"]
step, reason = "the manager has rejected the registration", str(reply.get("reason") or reply.get("message"))
assert reply.get("status") == "ACCEPTED", reason.replace("pass --join-code WORD", "give it after the port")
print(f"{me} is registered as {reply['player_id']}; Ctrl-C ends it", flush=True)
me = reply["player_id"]  # the sender of later messages
server.serve_forever()
