import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { readBody } from "#shared/rpc/http/request.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { showStatus } from "./operator.ts";

const LEAGUE = {
  league_id: "rps",
  game: "rps.v1",
  format: "round-robin",
  format_options: {},
  late_entry: "closed",
  clock: null,
  version: 1,
  status: "open",
  starts_at: null,
  waits_for: null,
  current_round: null,
  rounds: 0,
  round_ends_at: null,
  matches: 0,
  completed: 0,
  being_played: 0,
  expected_matches: null,
  result: null,
};
const player = (player_id: string, display_name = "Ann") => ({
  player_id,
  display_name,
  state: null,
  rank: 1,
  points: 0,
});

/** Starts a manager whose status has this player. Returns the options of a command that calls it. */
async function managerWith(shown: object) {
  const status = { leagues: [{ ...LEAGUE, players: [shown] }], referees: [] };
  const server = createServer((request, response) =>
    readBody(request, 100_000, (body) => {
      const answer = newEnvelope("LEAGUE_STATUS_RESPONSE", "league_manager:LM01", status);
      response.end(JSON.stringify(rpcResponse(JSON.parse(body ?? "").id, textResult(answer))));
    }),
  );
  const data = mkdtempSync(join(tmpdir(), "operator-"));
  writeFileSync(join(data, "operator-token"), "token\n");
  onTestFinished(() => {
    server.close().closeAllConnections();
    rmSync(data, { recursive: true });
  });
  return { data, manager: `http://127.0.0.1:${await listenOnLoopback(server)}/mcp` };
}

test("league status rejects an id with control characters, with an error that names the field", async () => {
  const options = await managerWith(player("P01\u001b[2J"));
  await expect(showStatus(undefined, options)).rejects.toThrow(
    `${options.manager} is not a league manager: it answered with LEAGUE_STATUS_RESPONSE: payload.leagues.0.players.0.player_id: must not contain`,
  );
});

test("league status --json prints the control characters of a name as escapes", async () => {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  await showStatus(undefined, { ...(await managerWith(player("P01", "A\u009b2J\u202e"))), json: true });
  expect(String(written.mock.calls[0]?.[0])).toContain('"A\\u009b2J\\u202e"');
});
