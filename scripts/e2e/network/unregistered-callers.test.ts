import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startHandWrittenPlayer } from "../../examples/hand-written-player.ts";
import { callRpc, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

const endpoint = "http://127.0.0.1:9/mcp";
test.each([
  ["as a new player", "register_player", { player_name: "Unknown", endpoint }, "L002"],
  ["with the name of a listed player", "register_player", { player_name: "Bob", endpoint }, "L003"],
  ["as a referee", "register_referee", { referee_name: "Unknown", endpoint }, "L002"],
])(
  "a league of listed players rejects an unknown caller that registers %s, and plays its matches",
  async (_, name, args, code) => {
    let answer: unknown;
    league = await startTestLeague({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        {
          name: "Ann",
          async start(place) {
            answer = await callRpc(place.manager, "tools/call", { name, arguments: args });
            return startHandWrittenPlayer(place.manager, place.name, place.port, join(place.dataFolder, "ann.token"));
          },
        },
        { name: "Bob", bot: "random" },
      ],
    });
    const [rps] = (await league.completed).leagues;
    expect(answer).toMatchObject({ structuredContent: { status: "REJECTED", error_code: code } });
    expect(rps?.matches).toMatchObject([{ termination: "normal", referee_id: "REF01" }]);
    expect(rps?.standings.map((row) => row.display_name).sort()).toEqual(["Ann", "Bob"]);
  },
);
