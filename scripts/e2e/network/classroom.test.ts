import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import { canCreateNetworks, createNetwork, type TestHost, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { cleanUp, newFolder, type Running, root, start } from "../../testing/processes.ts";
import { RPS } from "../../testing/test-league.ts";

/** Every host has a separate range of ports, so the tests use the default ports. */
const MANAGER_PORT = 8000;

interface ScheduledMatch {
  readonly roles: Readonly<Record<string, string>>;
  readonly referee_id: string;
  readonly termination: string;
}

describe.skipIf(!canCreateNetworks)("a classroom network (needs root and iproute2)", () => {
  let network: TestNetwork<"server" | "ann" | "bob">;
  beforeAll(async () => {
    network = await createNetwork("server", "ann", "bob");
  });
  afterEach(cleanUp);
  afterAll(() => network.close());

  /** Starts `league serve` on the host `server`, with one league and one referee. */
  const serve = (config: object, ...flags: string[]): Running => {
    const folder = newFolder();
    const file = join(folder, "league.json");
    writeFileSync(file, JSON.stringify({ leagues: RPS, data: join(folder, "data"), ...config }));
    return start("scripts/league.ts", ["serve", file, ...flags], {}, "ignore", network.hosts.server);
  };
  const urlOf = (host: TestHost): string => `http://${host.address}:${MANAGER_PORT}`;
  const startPlayer = (host: TestHost, manager: string, ...flags: string[]): Running => {
    const args = ["join", "random", "--manager", manager, ...flags, "--data", newFolder()];
    return start("scripts/league.ts", args, {}, "ignore", host);
  };

  it("plays a league with players on other machines that set only --manager, and serves its page to these machines", async () => {
    const { server, ann, bob } = network.hosts;
    const served = serve({}, "--lan", "--players", "2");
    const url = urlOf(server);
    await served.line(new RegExp(`takes registrations at ${url}/mcp; its page is ${url}/$`));
    await served.line(new RegExp(`A player joins with: npm run league -- join random .* --manager ${url}/mcp$`));
    const players = [startPlayer(ann, `${url}/mcp`), startPlayer(bob, url)];
    await Promise.all(players.map((player) => player.line(/rps is over: rank [12] of 2, points [013]$/)));
    await served.line(/^rps R1M1 \(random 10.* player_1, random 10.* player_2\): .* \[1\/1\]$/);
    const page = await ann.request(`${url}/leagues/rps`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(`random ${bob.address}:8101`)]);
    expect(served.stderr()).not.toContain("█"); // a QR code is for terminals
  });

  it("accepts a referee on another machine, and assigns it no match with players that it cannot reach", async () => {
    const { server, ann, bob } = network.hosts;
    const served = serve({}, "--lan", "--players", "4");
    await served.line(/REF01 registered/);
    const args = ["--manager", `${urlOf(server)}/mcp`, "--data", newFolder()];
    const referee = start("referee/main.ts", args, {}, "ignore", bob);
    await referee.line(/registered as REF02$/);
    await served.line(new RegExp(`REF02 registered: Referee ${bob.address}:8001$`));
    const remoteManager = `${urlOf(server)}/mcp`;
    const playerPlaces: [TestHost, string][] = [
      [ann, remoteManager],
      [server, `http://127.0.0.1:${MANAGER_PORT}/mcp`],
      [ann, remoteManager],
      [bob, remoteManager],
    ];
    const players: Running[] = [];
    for (const [index, [host, manager]] of playerPlaces.entries()) {
      const player = startPlayer(host, manager, "--name", `Player ${index + 1}`);
      await player.line(new RegExp(`registered as P0${index + 1}`));
      players.push(player);
    }
    await Promise.all(players.map((player) => player.line(/rps is over: /)));
    const body = rpcResourceRead("league://rps/schedule");
    const reply = JSON.parse((await ann.request(remoteManager, { body })).text);
    const matches: ScheduledMatch[] = JSON.parse(reply.result.contents[0].text).schedule;
    expect(matches.map(({ termination }) => termination)).toEqual(Array(6).fill("normal"));
    const isLocal = ({ roles }: ScheduledMatch): boolean => Object.values(roles).includes("P02");
    expect(matches.filter(isLocal).map((match) => match.referee_id)).toEqual(["REF01", "REF01", "REF01"]);
    expect(matches.map((match) => match.referee_id)).toContain("REF02");
  });

  it("registers players that send the join code, and rejects other players with an error that names it", async () => {
    const { server, ann, bob } = network.hosts;
    const served = serve({}, "--lan", "--join-code", "maple-7");
    await served.line(/A player joins with: .* --join-code maple-7$/);
    await served.line(/REF01 registered/);
    const without = await startPlayer(ann, `${urlOf(server)}/mcp`).ended;
    const wrong = await startPlayer(bob, `${urlOf(server)}/mcp`, "--join-code", "maple-8").ended;
    for (const rejected of [without, wrong]) {
      expect(rejected.code).toBe(1);
      expect(rejected.stderr).toContain("registration was rejected: the join code is missing or wrong");
    }
    await startPlayer(ann, `${urlOf(server)}/mcp`, "--join-code", "maple-7").line(/registered as P01/);
  });

  it("plays a league whose manager listens on one address of its machine", async () => {
    const { server, ann } = network.hosts;
    const served = serve({ manager: { host: server.address } }, "--players", "2");
    await served.line(/REF01 registered/);
    const players = [startPlayer(ann, `${urlOf(server)}/mcp`), startPlayer(server, `${urlOf(server)}/mcp`)];
    await Promise.all(players.map((player) => player.line(/rps is over: /)));
  });

  it("accepts a new player at the endpoint of a stopped one, and returns an id only to the player that had it", async () => {
    const { server, ann, bob } = network.hosts;
    serve({}, "--lan");
    const manager = `${urlOf(server)}/mcp`;
    const first = startPlayer(ann, manager, "--name", "First");
    await first.line(/First at http:.*:8101\/mcp/);
    await first.line(/registered as P01/);
    const second = startPlayer(ann, manager);
    await second.line(/registers as random 10.*:8102 at /);
    await second.line(/registered as P02/);
    first.signal("SIGINT");
    await first.ended;
    const next = startPlayer(ann, manager, "--name", "Next");
    await next.line(/Next at http:.*:8101\/mcp/);
    await next.line(/registered as P03/);

    const folder = newFolder();
    const startHandWritten = async (): Promise<ChildProcess> => {
      const command = [process.execPath, join(root, "scripts/examples/hand-written-player.ts"), manager, "Hand"];
      const player = bob.spawn(command, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
      const [output] = await once(player.stdout as Readable, "data");
      expect(String(output)).toContain("Hand is registered");
      return player;
    };
    const hand = await startHandWritten();
    hand.kill();
    await once(hand, "exit");
    await startHandWritten();
    await startPlayer(bob, manager).line(/registered as P05/); // Hand is P04 before and after its restart
  });

  it("lets another machine play on the pages of a session host that listens on all addresses", async () => {
    const { server, ann } = network.hosts;
    const args = ["--alone", "--port", "8001", "--host", "0.0.0.0", "--data", newFolder()];
    const host = start("referee/main.ts", args, {}, "ignore", server);
    const url = `http://${server.address}:8001`;
    await host.line(new RegExp(`session host at .*${url}`));
    expect((await ann.request(`${url}/`)).text).toContain("<!doctype html>");

    const headers = { origin: url, "content-type": "application/json" };
    const post = async (path: string, body: object, token?: string) => {
      const sent = { ...headers, ...(token && { authorization: `Bearer ${token}` }) };
      const reply = await ann.request(`${url}${path}`, { method: "POST", headers: sent, body: JSON.stringify(body) });
      return { status: reply.status, json: JSON.parse(reply.text) };
    };
    const created = await post("/api/games", { template: "chess", opponent: "random", play_as: "white" });
    expect(created).toMatchObject({ status: 201, json: { link: expect.stringContaining(`${url}/game/`) } });
    const { link, game_id } = created.json;
    expect((await ann.request(link.split("#")[0])).text).toContain("<!doctype html>");
    const moved = await post(`/api/games/${game_id}/moves`, { move: "e4" }, link.split("#seat=")[1]);
    expect(moved).toMatchObject({ status: 200, json: { your_role: "white" } });
  });

  it("warns a player that no manager answers at the address, and registers it when a manager is started", async () => {
    const { server, ann } = network.hosts;
    const player = startPlayer(ann, `${urlOf(server)}/mcp`);
    await player.line(/no manager at http:.* yet \(.*ECONNREFUSED.*\); .* Is the address right/);
    serve({}, "--lan");
    await player.line(/registered as P01/);
  });
});
