import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { canCreateNetworks, createNetwork, type TestHost, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { cleanUp, newFolder, type Running, start } from "../../testing/processes.ts";

/**
 * A program of the classroom without a registration. It answers each call at once with RECEIVED. With the argument `later` it then sends its answer to
 * the referee without a token, when a line arrives on its stdin; otherwise it sends none.
 */
const PROGRAM = `
  const [port, referee, later] = process.argv.slice(1);
  const answers = { GAME_INVITATION: { message_type: "GAME_JOIN_ACK", accept: true },
    CHOOSE_PARITY_CALL: { message_type: "CHOOSE_PARITY_RESPONSE", parity_choice: "even" } };
  require("node:http").createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = text ? JSON.parse(text) : {};
    const { message_type, match_id } = body.params ?? {};
    if (message_type) console.log(JSON.stringify({ message_type, match_id }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id ?? null, result: { status: "RECEIVED" } }));
    const answer = answers[message_type];
    if (!answer || !later) return;
    const params = { protocol: "league.v2", sender: "player:P01", match_id, ...answer };
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "handle_message", params }) };
    process.stdin.once("data", () => fetch(referee, post).then((r) => r.json()).then((r) => console.log(JSON.stringify(r))));
  }).listen(Number(port), "0.0.0.0", () => console.log("up"));`;

describe.skipIf(!canCreateNetworks)("the seat of a player of another dialect (needs root and iproute2)", () => {
  let network: TestNetwork<"server" | "ann" | "attacker">;
  let server: TestHost;
  let ann: TestHost;
  let attacker: TestHost;
  beforeAll(async () => {
    network = await createNetwork("server", "ann", "attacker");
    ({ server, ann, attacker } = network.hosts);
  });
  afterEach(cleanUp);
  afterAll(() => network.close());

  async function startProgram(host: TestHost, port: number, ...args: string[]) {
    const command = [process.execPath, "--eval", PROGRAM, String(port), `http://${server.address}:8001/mcp`, ...args];
    const child = host.spawn(command, { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = child.stdout as Readable;
    let printed = "";
    output.setEncoding("utf8").on("data", (text) => (printed += text));
    await once(output, "data");
    return { child, printed: () => printed };
  }

  async function serve(config: object, ...flags: string[]): Promise<Running> {
    const folder = newFolder();
    const leagues = [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }];
    writeFileSync(join(folder, "league.json"), JSON.stringify({ data: "data", leagues, ...config }));
    const served = start(
      "scripts/league.ts",
      ["serve", join(folder, "league.json"), "--lan", ...flags],
      {},
      "ignore",
      server,
    );
    await served.line(/takes registrations at/);
    return served;
  }

  /** Sends a message in a dialect to a service of the server; resolves with its result. */
  async function send(from: TestHost, port: number, message: object, protocol = "league.v2") {
    const params = { protocol, timestamp: "2025-01-15T10:05:00Z", ...message };
    const body = { jsonrpc: "2.0", id: 1, method: "handle_message", params };
    return JSON.parse((await from.request(`http://${server.address}:${port}/mcp`, { body })).text).result;
  }
  const register = (from: TestHost, display_name: string, contact_endpoint: string, protocol?: string) => {
    const player_meta = { display_name, version: "1.0.0", game_types: ["even_odd"], contact_endpoint };
    return send(from, 8000, { message_type: "LEAGUE_REGISTER_REQUEST", sender: "player:x", player_meta }, protocol);
  };
  const REJECTED = { status: "REJECTED", player_id: null, auth_token: null };

  it("is not given to another machine, nor to another program of its machine while it answers", async () => {
    const endpoint = `http://${ann.address}:8150/mcp`;
    const other = `http://${ann.address}:8151/mcp`;
    const players = [{ name: "Ann", endpoint, dialect: "classroom" }];
    await serve({ players, allowed_hosts: [ann.address] }, "--players", "9");
    const program = await startProgram(ann, 8150);
    for (const protocol of ["league.v1", "league.v2"]) {
      expect(await register(attacker, "Ann", endpoint, protocol)).toMatchObject(REJECTED);
      expect(await register(attacker, "Eve", endpoint, protocol)).toMatchObject(REJECTED);
    }
    // Ann is alone on her machine, so every registration from there is hers. Her dialect stays the one of the config.
    expect(await register(ann, "Ann", endpoint)).toMatchObject({ status: "ACCEPTED", player_id: "P01" });

    const bob = await startProgram(ann, 8151);
    const registered = await register(ann, "Bob", other);
    expect(registered).toMatchObject({ player_id: "P02", auth_token: expect.stringContaining("tok-p02-") });
    for (const name of ["Ann", "Bob", "Eve"]) {
      expect(await register(ann, name, endpoint), name).toMatchObject(REJECTED);
      expect(await register(attacker, name, other), name).toMatchObject(REJECTED);
    }
    expect(await register(ann, "Bob", other)).toMatchObject({ status: "ACCEPTED", player_id: "P02" });
    expect(await register(ann, "Eve", other)).toMatchObject(REJECTED);

    program.child.kill("SIGKILL");
    bob.child.kill("SIGKILL");
    await Promise.all([program, bob].map(({ child }) => once(child, "exit")));
    for (const name of ["Ann", "Bob", "Eve"]) {
      expect(await register(attacker, name, endpoint), name).toMatchObject(REJECTED);
      expect(await register(attacker, name, other), name).toMatchObject(REJECTED);
    }
    const native = rpcToolCall("register_player", { player_name: "Eve", endpoint: other });
    const { text: answer } = await attacker.request(`http://${server.address}:8000/mcp`, { body: native });
    expect(JSON.parse(answer).result.structuredContent).toMatchObject({ status: "REJECTED", player_id: null });
    expect(await register(ann, "Bob", other)).toMatchObject({ player_id: "P02", success: true });
    expect(await register(ann, "Program 7", endpoint)).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
    const { text } = await ann.request(`http://${server.address}:8000/api/leagues/parity/players/P01`);
    expect(text).toContain("Ann");
    expect(text).not.toContain("Program 7");
  });

  it("gives the token of a new player only to the address of its endpoint", async () => {
    await serve({ allowed_hosts: [ann.address] }, "--players", "9");
    const endpoint = `http://${ann.address}:8150/mcp`;
    expect(await register(attacker, "Ann", endpoint)).toMatchObject({ player_id: "P01", auth_token: null });
    expect(await register(ann, "Ann", endpoint)).toMatchObject({
      player_id: "P01",
      auth_token: expect.stringContaining("tok-p01-"),
    });
  });

  it("is not answered for by another machine at a referee that listens on the network", async () => {
    const players = [{ name: "Ann", endpoint: `http://${ann.address}:8150/mcp`, dialect: "classroom" }];
    const timeouts = { join_ms: 60_000, move_ms: 60_000 };
    await serve({ players, timeouts, referees: { count: 0 } }, "--players", "2");
    const manager = ["--manager", `http://${server.address}:8000/mcp`];
    const referee = start("referee/main.ts", [...manager, "--data", newFolder()], {}, "ignore", server);
    await referee.line(/registered as REF01$/);
    const program = await startProgram(ann, 8150, "later");
    const join = ["join", "random", "--name", "Bob", ...manager, "--data", newFolder()];
    const bob = start("scripts/league.ts", join, {}, "ignore", attacker);
    const asked = (type: string) => expect.poll(program.printed).toContain(`"${type}"`);

    await asked("GAME_INVITATION");
    const answer = { message_type: "GAME_JOIN_ACK", sender: "player:P01", match_id: "R1M1", accept: false };
    for (const token of [{}, { auth_token: "" }, { auth_token: "tok-p01-guess" }]) {
      const reply = await send(attacker, 8001, { ...answer, ...token });
      expect(reply, JSON.stringify(token)).toMatchObject({ message_type: "LEAGUE_ERROR", error_code: "E012" });
    }
    program.child.stdin?.write("answer\n");
    await asked("CHOOSE_PARITY_CALL");
    const choice = { message_type: "CHOOSE_PARITY_RESPONSE", sender: "player:P01", match_id: "R1M1" };
    expect(await send(attacker, 8001, { ...choice, parity_choice: "odd" })).toMatchObject({ error_code: "E012" });
    program.child.stdin?.write("answer\n");
    await bob.line(/parity is over: rank [12] of 2/);
    const { text } = await ann.request(`http://${server.address}:8000/api/leagues/parity/matches/R1M1`);
    expect(text).toContain('"normal"');
  });
});
