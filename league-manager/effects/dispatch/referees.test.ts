import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { invariant } from "#shared/lib/result.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { startLeague } from "../../commands/league-commands.ts";
import { open, player, referee } from "../../commands/testing/commands.ts";
import { ledgerOn } from "../../store/testing/ledger.ts";
import { Referees } from "./referees.ts";

const locatedAt = (address: string) => ({
  contact_endpoint: `http://${address}:9000/mcp`,
  remoteAddress: address,
  game_types: ["rps.v1"],
});

test("a match with a player on loopback is assigned only to referees at the current addresses of this machine", async () => {
  const folder = mkdtempSync(join(tmpdir(), "referees-"));
  const { ledger, db } = await ledgerOn(join(folder, "league-manager.sqlite"), { leagueIds: ["rps"] });
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  const commands = [
    open("rps"),
    player("Ann", { port: 1 }),
    player("Bob", { port: 2 }),
    referee("R1", locatedAt("203.0.113.50")),
    referee("R2", locatedAt("203.0.113.60")),
    referee("R3", locatedAt("127.0.0.1")),
    startLeague("rps", "seed"),
  ];
  for (const command of commands) expect(await ledger.execute<unknown>(command)).toMatchObject({ ok: true });
  let addresses: readonly string[] = [];
  const context = { ledger, clock: manualClock(), notice: () => {}, machineAddresses: () => new Set(addresses) };
  const referees = new Referees(context, { isUp: () => true });
  const eligible = () => {
    const league = ledger.state.leagues.get("rps");
    const match = league?.rounds.at(0)?.matches[0];
    invariant(match, "the league has a match");
    return [...referees.eligible(league, referees.up())(match)].map(({ id }) => id);
  };
  expect(eligible()).toEqual(["REF03"]);
  addresses = ["203.0.113.50"];
  expect(eligible()).toEqual(["REF01", "REF03"]);
  addresses = ["203.0.113.60"];
  expect(eligible()).toEqual(["REF02", "REF03"]);
});
