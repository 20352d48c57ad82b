import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { agentsIn, cleanUp, eventually, league, type Running, start } from "../../testing/processes.ts";
import { RPS, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const serve = (test: TestLeague, ...flags: string[]): Running =>
  start("scripts/league.ts", ["serve", test.file, ...flags]);
const startPlayer = (test: TestLeague, name: string, port: number): Running => {
  const place = ["--name", name, "--port", String(port), "--data", join(test.folder, String(port))];
  return start("scripts/league.ts", ["join", "random", ...place, "--manager", `http://127.0.0.1:${test.port}/mcp`]);
};

describe("league serve", () => {
  it("starts the league when enough players have registered, and reports the completed league after a restart", async () => {
    const test = await testLeague([], RPS);
    const early = startPlayer(test, "Early", test.portAt(10));
    await early.line(/random registers as Early at /);
    const served = serve(test, "--players", "2");
    await served.line(/takes registrations at /);
    await early.line(/registered as P01 in rps/);
    const late = startPlayer(test, "Late", test.portAt(11));
    await late.line(/registered as P02 in rps/);
    await served.line(/^rps R1M1 \(Early player_1, Late player_2\): .* \[1\/1\]$/);
    await served.line(/^Every league is over/);
    await early.line(/^Early: rps R1M1 as player_1: (won|lost|drawn) \(/);
    await early.line(/^Early: rps is over: rank [12] of 2, points [013]$/);
    served.signal("SIGINT");
    expect((await served.ended).code).toBe(130);

    const again = serve(test, "--players", "2");
    await again.line(/^rps: completed$/);
    await again.line(/^Every league is over/);
    await again.line(/^The page is http/);
    for (const running of [again, early, late]) running.signal("SIGINT");
    expect((await again.ended).stderr).not.toMatch(/joins with|takes registrations/);
    expect([(await again.ended).code, (await early.ended).code, (await late.ended).code]).toEqual([130, 130, 130]);
    await eventually("the end of all agents", () => agentsIn(test.folder).length === 0);
  });

  it("without a number of players prints the command that starts its leagues", async () => {
    const test = await testLeague([], RPS);
    const served = serve(test);
    await served.line(/^A player joins with: npm run league -- join random /);
    await served.line(/^No number of players is set/);
    const command = await served.line(/^ {2}npm run league -- start rps --data /);
    await startPlayer(test, "Ann", test.portAt(10)).line(/registered as P01/);
    await startPlayer(test, "Bob", test.portAt(11)).line(/registered as P02/);
    const { code, stdout } = await league(command.trim().split(" ").slice(4));
    expect([code, stdout]).toEqual([0, "rps has started\n"]);
    await served.line(/^rps: completed$/);
    served.signal("SIGINT");
    const ended = await served.ended;
    expect(ended.stdout + ended.stderr).not.toContain("curl");
  });

  it("rejects a second server on its data folder, which does not change the stored config", async () => {
    const test = await testLeague([], RPS);
    const served = serve(test, "--players", "2");
    await served.line(/takes registrations at /);
    const file = join(test.folder, "data", "serve.json");
    const before = readFileSync(file, "utf8");
    const configFiles = readdirSync(dirname(file)).filter((name) => name.startsWith("serve.json"));
    expect(configFiles).toEqual(expect.arrayContaining(["serve.json", "serve.json.lock"]));
    for (const name of configFiles) expect(statSync(join(dirname(file), name)).mode & 0o077, name).toBe(0);
    const other = join(test.folder, "other.json");
    writeFileSync(
      other,
      JSON.stringify({ ...JSON.parse(before), leagues: [{ league_id: "eo", game: "even_odd.v1" }] }),
    );
    const { code, stderr } = await serve({ ...test, file: other }).ended;
    expect(code, stderr).toBe(1);
    expect(stderr).toContain(`${join(test.folder, "data")} is served by another process`);
    expect(readFileSync(file, "utf8")).toBe(before);
    served.signal("SIGINT");
    await served.ended;
    const again = serve({ ...test, file: other });
    await again.line(/takes registrations at /);
    expect(JSON.parse(readFileSync(file, "utf8")).leagues).toMatchObject([{ league_id: "eo" }]);
    again.signal("SIGINT");
    await again.ended;
  });

  it("rejects a second player with the same name, whose command ends with an error that contains the name", async () => {
    const test = await testLeague([], RPS);
    const served = serve(test, "--players", "3");
    await served.line(/takes registrations at /);
    const first = startPlayer(test, "Twin", test.portAt(10));
    await first.line(/registered as P01/);
    const second = await startPlayer(test, "Twin", test.portAt(11)).ended;
    expect(second.code).not.toBe(0);
    expect(second.stderr).toContain("Twin");
  });

  it("rejects a second player with the same name and data folder, and accepts the first one again after a kill", async () => {
    const test = await testLeague([], RPS);
    const served = serve(test, "--players", "2");
    await served.line(/takes registrations at /);
    const first = startPlayer(test, "Twin", test.portAt(10));
    await first.line(/registered as P01/);
    const place = [
      "--name",
      "Twin",
      "--port",
      String(test.portAt(11)),
      "--data",
      join(test.folder, String(test.portAt(10))),
    ];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    const second = await start("scripts/league.ts", ["join", "random", ...place, ...manager]).ended;
    expect({ code: second.code, lastLine: second.stderr.split("\n").at(-2) }).toMatchObject({
      code: 1,
      lastLine: expect.stringContaining("Twin: player:Twin is already running with the token in "),
    });
    first.signal("SIGKILL");
    await first.ended;
    await startPlayer(test, "Twin", test.portAt(10)).line(/registered as P01/);
  });
});

describe("a player that stops before its league starts", () => {
  it("stays registered, and the terminal of the league shows which player replaces it at its port", async () => {
    const test = await testLeague([], RPS);
    const served = serve(test, "--players", "2");
    await served.line(/takes registrations at /);
    const first = startPlayer(test, "First", test.portAt(10));
    await served.line(/^rps waits: 1 of 2 players are registered$/);
    await first.line(/registered as P01/);
    first.signal("SIGINT");
    expect((await first.ended).stderr).toContain(
      "First: P01 stays registered in rps and loses its matches. To continue, enter the same command again. The operator can remove it with: npm run league -- remove P01 --data FOLDER, with the data folder of the league\nFirst: stopped\n",
    );
    const second = startPlayer(test, "Second", test.portAt(10));
    await second.line(/registered as P02/);
    const lines = () =>
      served
        .stderr()
        .split("\n")
        .filter((line) => /P0|waits: 1/.test(line));
    await expect
      .poll(lines)
      .toEqual([
        "P01 registered: First",
        "rps waits: 1 of 2 players are registered",
        "First (P01) has left; Second (P02) has its endpoint now and replaces it",
        "P02 registered: Second",
        "rps waits: 1 of 2 players are registered",
      ]);
  });
});

describe("league serve --data FOLDER", () => {
  it("plays the leagues of a config again, which its own folder rejects with the reason and this advice", async () => {
    const test = await testLeague([], RPS);
    const players = ["Ann", "Bob"].map((name, index) => startPlayer(test, name, test.portAt(10 + index)));
    const served = serve(test, "--players", "2");
    await served.line(/^Every league is over.* with --data FOLDER\.$/);
    const late = startPlayer(test, "Cid", test.portAt(12));
    await late.line(
      /no league of your games is open: rps is over\. The operator can open another one with league open, or serve new leagues with --data FOLDER\. Waiting for the next league/,
    );
    for (const running of [served, late, ...players]) running.signal("SIGINT");
    await Promise.all([served, late, ...players].map(({ ended }) => ended));

    const folder = join(test.folder, "second");
    const again = serve(test, "--players", "2", "--data", folder);
    await again.line(/takes registrations at /);
    for (const [index, name] of ["Ann", "Bob"].entries()) startPlayer(test, name, test.portAt(10 + index));
    await again.line(/^Every league is over/);
    expect(readdirSync(folder)).toContain("operator-token");
  });
});

describe("league serve with players in its config", () => {
  it("names at its terminal and on its page the players that have not registered", async () => {
    const names = ["Ann", "Bob", "Cid <b>"];
    const test = await testLeague([], RPS, { config: { players: names.map((name) => ({ name, self: true })) } });
    const served = serve(test);
    await served.line(/^rps waits: 0 of 3 players are registered; missing: Ann, Bob and Cid <b>/);
    await served.line(/takes registrations at /);
    await startPlayer(test, "Bob", test.portAt(10)).line(/registered as P02 in rps/);
    await served.line(/^rps waits: 1 of 3 players are registered; missing: Ann and Cid <b>$/);
    const page = await (await fetch(`http://127.0.0.1:${test.port}/leagues/rps`)).text();
    expect(page).toContain("<p>1 of 3 players are registered; missing: Ann and Cid &#60;b&#62;.</p>");
  });
});
