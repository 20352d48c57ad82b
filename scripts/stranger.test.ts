import { afterEach, expect, test } from "vitest";
import { startHandWrittenPlayer } from "./hand-written-player.ts";
import { callRpc, startTestLeague, type TestLeague } from "./testing-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

test("a stranger who comes first takes no place that the config keeps: L002, and the league plays with its own", async () => {
  const stranger = { player_name: "Stranger", endpoint: "http://127.0.0.1:9/mcp" };
  let answer: unknown;
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    timeouts: { move_ms: 5_000, join_ms: 5_000 },
    players: [
      {
        name: "Ann",
        async start({ manager, name, port }) {
          answer = await callRpc(manager, "tools/call", { name: "register_player", arguments: stranger });
          return startHandWrittenPlayer(manager, name, port);
        },
      },
      { name: "Bob", bot: "random" },
    ],
  });
  const [rps] = (await league.completed).leagues;
  expect(answer).toMatchObject({ structuredContent: { status: "REJECTED", error_code: "L002", player_id: null } });
  expect(rps?.standings.map((row) => row.display_name).sort()).toEqual(["Ann", "Bob"]);
});

test("a stranger referees no match of a league whose players the config knows: L002", async () => {
  const stranger = { referee_name: "Stranger", endpoint: "http://127.0.0.1:9/mcp" };
  let answer: unknown;
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    players: [
      {
        name: "Ann",
        async start({ manager, name, port }) {
          answer = await callRpc(manager, "tools/call", { name: "register_referee", arguments: stranger });
          return startHandWrittenPlayer(manager, name, port);
        },
      },
      { name: "Bob", bot: "random" },
    ],
  });
  const [rps] = (await league.completed).leagues;
  expect(answer).toMatchObject({ structuredContent: { status: "REJECTED", error_code: "L002", referee_id: null } });
  expect(rps?.matches).toMatchObject([{ referee_id: "REF01" }]);
});

test("a stranger who comes first under the name of a player that the run starts is refused: L003, and that player comes", async () => {
  const squatter = { player_name: "Bob", endpoint: "http://127.0.0.1:9/mcp" };
  let answer: unknown;
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    timeouts: { move_ms: 5_000, join_ms: 5_000 },
    players: [
      {
        name: "Ann",
        async start({ manager, name, port }) {
          answer = await callRpc(manager, "tools/call", { name: "register_player", arguments: squatter });
          return startHandWrittenPlayer(manager, name, port);
        },
      },
      { name: "Bob", bot: "random" },
    ],
  });
  const [rps] = (await league.completed).leagues;
  expect(answer).toMatchObject({ structuredContent: { status: "REJECTED", error_code: "L003", player_id: null } });
  expect(rps?.matches).toMatchObject([{ termination: "normal" }]);
  expect(rps?.standings.map((row) => row.display_name).sort()).toEqual(["Ann", "Bob"]);
});
