import { expect, test } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import { toolsOf } from "#shared/rpc/mcp/operations.ts";
import { createManualBot, manualOperations } from "./manual-bot.ts";
import { Player } from "./matches/player.ts";
import { createNotificationLog } from "./notifications.ts";
import type { MatchInfo, Turn } from "./sdk.ts";

const TOKEN = "its match token";

const INVITE: GameInvite = {
  league_id: "l",
  round_id: 1,
  match_id: "M1",
  epoch: 1,
  game: "rps.v1",
  options: {},
  your_role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seed_commitment: "0".repeat(64),
  bot_seed: "seed",
};

/** A player run by hand that has accepted invitations to these matches, with functions that ask it and list its open requests. */
async function manualPlayer(...matches: readonly string[]) {
  const manual = createManualBot();
  const player = new Player(manual.bot, () => {}, systemClock);
  for (const match_id of matches) {
    await player.invite({ ...INVITE, match_id }, TOKEN);
  }
  const ask = (match_id: string, time_limit_seconds: number) =>
    player.move(
      {
        league_id: "l",
        match_id,
        epoch: 1,
        tick: 0,
        your_role: "player_1",
        game_state: { phase: "choosing" },
        legal_actions: ["rock", "paper", "scissors"],
        time_limit_seconds,
        deadline: "2026-01-01T00:00:00Z",
      },
      TOKEN,
    );
  const openMatches = () => manual.asked().map((request) => (request as { match_id: string }).match_id);
  return { manual, player, ask, openMatches };
}

test("a request whose time is over is no longer listed and accepts no move: G004", async () => {
  const { manual, ask, openMatches } = await manualPlayer("M1", "M2");
  const [late, other] = [ask("M1", 0.01), ask("M2", 60)];
  expect(openMatches()).toEqual(["M1", "M2"]);
  expect(await late).toEqual({ failed: "no move was made in time" });
  expect(openMatches()).toEqual(["M2"]);
  expect(manual.makeMove("rock", "M1")).toMatchObject({ ok: false, error: { error_code: "G004" } });
  expect(manual.makeMove("rock", null)).toMatchObject({ ok: true });
  expect(await other).toEqual({ move: "rock" });
});

test("a move without a match_id answers the oldest open request", async () => {
  const { manual, ask, openMatches } = await manualPlayer("M1", "M2");
  const moves = [ask("M1", 60), ask("M2", 60)];
  expect(manual.makeMove("rock", null)).toMatchObject({ ok: true });
  expect(openMatches()).toEqual(["M2"]);
  expect(manual.makeMove("paper", null)).toMatchObject({ ok: true });
  expect(await Promise.all(moves)).toEqual([{ move: "rock" }, { move: "paper" }]);
  expect(manual.makeMove("paper", null)).toMatchObject({ ok: false, error: { error_code: "G004" } });
});

test("an illegal move is rejected and the request stays open", async () => {
  const { manual, ask, openMatches } = await manualPlayer("M1");
  const move = ask("M1", 60);
  expect(manual.makeMove("lizard", null)).toMatchObject({ ok: false, error: { error_code: "G001" } });
  expect(openMatches()).toEqual(["M1"]);
  expect(manual.makeMove("rock", null)).toMatchObject({ ok: true });
  expect(await move).toEqual({ move: "rock" });
});

test("a remote caller needs the player's token to see open requests and to move", async () => {
  const { manual, player, ask } = await manualPlayer("M1");
  const move = ask("M1", 60);
  const token = "t".repeat(43);
  const identity = { token, name: "P" };
  const notifications = createNotificationLog(() => {});
  const tools = toolsOf(
    manualOperations(player, manual, identity, notifications),
    () => "player:P01",
    systemClock,
    systemIds,
  );
  const call = async (remoteAddress: string, name: string, args: object) => {
    const tool = tools.find((tool) => tool.name === name);
    return JSON.stringify(await tool?.call(args, { bearer: null, remoteAddress }));
  };
  for (const auth_token of [undefined, "wrong", sha256Hex(token)]) {
    expect(await call("192.0.2.1", "get_my_state", { auth_token })).not.toContain("legal_actions");
    expect(await call("192.0.2.1", "make_move", { move: "paper", auth_token })).toContain("L004");
  }
  expect(await call("192.0.2.1", "get_my_state", { auth_token: token })).toContain("legal_actions");
  expect(await call("127.0.0.1", "get_my_state", {})).toContain("legal_actions");
  expect(await call("192.0.2.1", "make_move", { move: "rock", auth_token: token })).toContain("SENT");
  expect(await move).toEqual({ move: "rock" });
});

/** The lines on the terminal for a request in match R1M1 of league l. */
function linesOf(turn: Pick<Turn, "game" | "role" | "view" | "legal">): string {
  const lines: string[] = [];
  const object = createManualBot().bot.create(() => {});
  object.start?.({ leagueId: "l", matchId: "R1M1" } as MatchInfo);
  const clock = { deadline: new Date(), remainingMs: () => 19_400 };
  const others = { tick: 0, history: [], clock, signal: new AbortController().signal };
  void object.choose({ ...turn, ...others, log: (line: string) => lines.push(line) } as unknown as Turn);
  return lines.join("\n");
}

test("the terminal shows match, time limit, legal moves, view and tool of a request", () => {
  const view = { phase: "commit" } as never;
  const lines = linesOf({ game: "rps.v1", role: "player_1", view, legal: ["rock", "paper", "scissors"] as never });
  const ask = "your move as player_1 in l/R1M1 (rps.v1), within 20 s: call make_move.";
  expect(lines).toBe(`${ask} Legal moves: rock, paper, scissors. {"phase":"commit"}`);
});

test("the terminal shows 30 legal moves and the number of the others", () => {
  const fen = "7k/8/8/3Q4/8/2N2N2/8/K5R1 w - - 0 1";
  const state = chess.initialState({ options: chess.options.parse({ fen }), seed: "" });
  const legal = chess.legalActions(state, "white");
  expect(legal.length).toBeGreaterThan(40);
  const lines = linesOf({
    game: "chess.v1",
    role: "white",
    view: chess.viewState(state, "white") as never,
    legal: legal as never,
  });
  expect(lines).toContain(`${legal.slice(0, 30).join(", ")}, and ${legal.length - 30} more. {"fen":`);
  expect(lines).not.toContain('"moves"');
});

test("a request of a match that began again says so, and why", async () => {
  const { manual, player, ask } = await manualPlayer("M1");
  const restarted = { ...INVITE, match_id: "M1", epoch: 2, restart_reason: "REF01 did not answer" };
  await player.invite(restarted, TOKEN);
  const moved = player.move(
    {
      league_id: "l",
      match_id: "M1",
      epoch: 2,
      tick: 0,
      your_role: "player_1",
      game_state: { phase: "choosing" },
      legal_actions: ["rock", "paper", "scissors"],
      time_limit_seconds: 60,
      deadline: "2026-01-01T00:00:00Z",
    },
    TOKEN,
  );
  expect(manual.asked()).toMatchObject([{ restart: { attempt: 2, reason: "REF01 did not answer" } }]);
  manual.makeMove("rock", "M1");
  expect(await moved).toEqual({ move: "rock" });
  expect(await ask("M1", 60)).toBe("old_epoch");
});
