import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { builtInBots } from "#shared/games/built-in-bots.ts";
import { gameIds } from "#shared/games/registry.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { freePort, freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "../../../player/service.ts";
import { bodyOf, from, invitation, replyIn } from "../../../player/testing/messages.ts";
import {
  createGame,
  remainingEvents,
  type TestSeat,
  type ToolAnswer,
  tokenOf,
  tool,
  watchGame,
} from "../../../referee/play/testing/play.ts";
import { startTestHost, type TestHost, type TestHostOptions } from "../../../referee/rest/testing/host.ts";
import { observe } from "../../../referee/rest/testing/observer.ts";
import { type FaultKind, startFaultyPlayer } from "../../testing/faulty-player.ts";
import { agentsIn, cleanUp, eventually, kill, newFolder, processesIn, start } from "../../testing/processes.ts";

const hosts: TestHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
  await cleanUp();
});

/** Starts a session host with a data folder, by which the processes of its bots can be found. */
async function hostIn(folder: string, options: TestHostOptions = {}): Promise<TestHost> {
  const host = await startTestHost({ dataFolder: folder, ...options });
  hosts.push(host);
  return host;
}
const stop = async (host: TestHost): Promise<void> => {
  hosts.splice(hosts.indexOf(host), 1);
  await host.stop();
};
const against = (host: { url: string }, opponent: string, template = "tic_tac_toe", more = {}) =>
  createGame(host, { template, opponent, ...more });

/** Plays the first legal move in each turn until the game is over or `turns` moves are made. Resolves with the last answer. */
async function playOn(seat: TestSeat, turns = Number.POSITIVE_INFINITY): Promise<ToolAnswer> {
  for (let remaining = turns; ; remaining--) {
    const answer = await seat.wait({ timeout_s: 30 });
    expect(answer.isError, answer.text).toBe(false);
    if (answer.value.next === "game_over" || remaining === 0) return answer;
    if (answer.value.timed_out) continue;
    await seat.move(answer.value.legal_actions[0]);
  }
}

describe("a built-in bot", () => {
  it("plays every game to the end in one process for each bot, which ends with the host", async () => {
    const folder = newFolder();
    const host = await hostIn(folder);
    const options = { "chess.v1": { fen: "8/8/8/4k3/8/8/4K3/R7 w - - 90 60" } } as Record<string, object>;
    const seats = await Promise.all(gameIds.map((id) => against(host, "random", id, { options: options[id] ?? {} })));
    const others = await Promise.all(["counter", "cycle", "greedy"].map((bot) => against(host, bot, "rps")));
    for (const { value } of await Promise.all([...seats, ...others].map((seat) => playOn(seat)))) {
      expect(value.result).toMatchObject({ termination: "normal" });
      expect(Object.values(value.players)).toContainEqual({ kind: "bot", name: expect.any(String), joined: true });
    }
    expect(agentsIn(folder)).toHaveLength(4);
    await stop(host);
    expect(processesIn(folder)).toEqual([]);
  });

  it("that is killed during a game is restarted and continues the game", async () => {
    const folder = newFolder();
    const host = await hostIn(folder);
    const seat = await against(host, "random", "connect_four");
    await playOn(seat, 2);
    const [bot] = agentsIn(folder);
    kill(bot?.pid ?? 0, "SIGKILL");
    expect((await playOn(seat)).value.result.termination).toBe("normal");
    expect(agentsIn(folder).map(({ pid }) => pid)).not.toEqual([bot?.pid]);
  });

  it("plays against a person who has created a game on the pages", async () => {
    const host = await hostIn(newFolder());
    const created = (await host.call("POST", "/api/games", { body: { template: "tic_tac_toe" } })).json;
    const token = tokenOf(created.link);
    const stream = await watchGame(host, created.game_id, token);
    for (let event = await stream.next(); event; event = await stream.next()) {
      const body = { move: event.data.legal_actions[0] };
      if (event.data.to_act.includes("x"))
        await host.call("POST", `/api/games/${created.game_id}/moves`, { token, body });
      if (event.data.status === "completed")
        expect(event.data.players.o).toMatchObject({ kind: "bot", name: "random" });
    }
    const [last] = await remainingEvents(await watchGame(host, created.game_id));
    expect(last?.data.result.termination).toBe("normal");
  });

  it("rejects an invitation from its machine that its host has not signed", async () => {
    const folder = newFolder();
    await playOn(await against(await hostIn(folder), "random"), 1);
    const [{ args = [] } = {}] = agentsIn(folder);
    const response = await fetch(`http://127.0.0.1:${args[args.indexOf("--port") + 1]}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(bodyOf(from("made up", "GAME_INVITE", invitation()))),
    });
    expect(replyIn(await response.text()).payload).toMatchObject({ error_code: "L004" });
  });

  it("that is starting when the host stops does not delay the stop and ends", async () => {
    for (const isListening of [false, true]) {
      const folder = newFolder();
      const host = await hostIn(folder);
      await against(host, "random");
      if (isListening) await eventually("the start of its process", () => agentsIn(folder).length > 0);
      await stop(host);
      expect(processesIn(folder)).toEqual([]);
    }
  });

  it("that cannot be started aborts its game without a loser", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "logs"), "no folder");
    const host = await hostIn(folder);
    const seat = await against(host, "random");
    await playOn(seat, 1);
    const { value } = await playOn(seat);
    expect(value.result).toMatchObject({ winner: null, reason: "bot_failed", termination: "aborted" });
  });
});

it("an opponent that is not a built-in bot is rejected and starts no process", async () => {
  const folder = newFolder();
  const host = await hostIn(folder);
  const otherOpponents = ["uci", "uci:true", "manual", "./x.ts", "../x", "/bin/true", "random.ts"];
  for (const opponent of [...otherOpponents, "Random", "__proto__", "no-such", "random\n"]) {
    const answer = await tool(host, "createGame", { template: "chess", opponent });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain(`no bot "${opponent}"; give agent, human or one of `);
    // The list also has the engines of this machine.
    const names = answer.text.split("one of ")[1]?.split(", ");
    expect(names).toEqual(expect.arrayContaining([...builtInBots]));
    const page = await host.call("POST", "/api/games", { body: { template: "chess", opponent } });
    expect(page.json.error).toEqual({ code: "NOT_FOUND", message: answer.text });
  }
  expect((await host.call("GET", "/api/games")).json.games).toEqual([]);
  expect(agentsIn(folder)).toEqual([]);
});

describe("a bot with a configured endpoint", () => {
  const timeouts = { join_ms: 3_000, move_ms: 3_000, game_over_ms: 500 };

  it("continues its game after a restart of the host; a host without the bot keeps the game open", async () => {
    const folder = newFolder();
    const port = await freePort();
    const quiet = silentProcess("player");
    const player = await startPlayer(
      {
        name: "fish",
        host: "127.0.0.1",
        ports: [port],
        manager: null,
        dataFolder: folder,
      },
      quiet,
    );
    const bots = new Map([["fish", `http://127.0.0.1:${port}/mcp`]]);
    const first = await hostIn(folder, { bots });
    const seat = await against(first, "fish", "connect_four");
    await playOn(seat, 2);
    await stop(first);
    const without = await hostIn(folder, { port: first.port });
    expect((await seat.wait({ timeout_s: 0 })).value).toMatchObject({ status: "active" });
    await stop(without);
    await hostIn(folder, { port: first.port, bots });
    expect((await playOn(seat)).value.result.termination).toBe("normal");
    expect(agentsIn(folder)).toEqual([]);
    await player.stop();
  });

  it("loses by forfeit with the cause of its fault", async () => {
    const faults: readonly [FaultKind, "GAME_INVITE" | "MOVE_REQUEST", string][] = [
      ["refuse", "MOVE_REQUEST", "refused"],
      ["silent", "GAME_INVITE", "timeout"],
      ["silent", "MOVE_REQUEST", "timeout"],
      ["decline", "GAME_INVITE", "declined"],
      ["http_500", "MOVE_REQUEST", "http_error"],
      ["not_json", "MOVE_REQUEST", "bad_json"],
      ["text_no_envelope", "MOVE_REQUEST", "bad_reply"],
      ["illegal", "MOVE_REQUEST", "illegal_move"],
      ["too_large", "MOVE_REQUEST", "too_large"],
    ];
    const [first = 0] = await freePorts(faults.length);
    const name = (index: number) => `faulty${index}`;
    const bots = new Map(faults.map((_, index) => [name(index), `http://127.0.0.1:${first + index}/mcp`]));
    const players = faults.map(([fault, at], index) =>
      startFaultyPlayer({ manager: null, name: name(index), port: first + index, fault, at }),
    );
    const faulty = await Promise.all(players);
    const host = await hostIn(newFolder(), { bots, botTimeouts: timeouts });
    const ended = await Promise.all(faults.map(async (_, index) => playOn(await against(host, name(index)))));
    expect(ended.map(({ value }) => value.result)).toMatchObject(
      faults.map(([, , reason]) => ({ winner: "x", reason, termination: "forfeit" })),
    );
    await stop(host);
    await Promise.all(faulty.map((player) => player.stop()));
  });

  it("receives no hidden information, no seed and no token of other seats", async () => {
    const port = await freePort();
    const bot = await startFaultyPlayer({ manager: null, name: "curious", port, fault: "illegal" });
    const bots = new Map([["curious", `http://127.0.0.1:${port}/mcp`]]);
    const host = await hostIn(newFolder(), { bots, botTimeouts: timeouts });
    for (const template of ["rps", "kuhn_poker"]) {
      const seat = await against(host, "curious", template);
      await seat.move(seat.answer.value.legal_actions[0]);
      await playOn(seat);
      await vi.waitFor(() => expect(bot.received.at(-1)?.type).toBe("GAME_RESULT"), WAIT_OPTIONS);
      const observer = observe(host);
      const seed = String(observer.value("SELECT seed FROM sessions WHERE session_id = ?", seat.gameId));
      observer.close();
      const received = bot.received.filter(({ payload }) => String(payload.match_id).startsWith(seat.gameId));
      expect(received.length).toBeGreaterThan(2);
      for (const secret of [seat.token, seed]) expect(JSON.stringify(received)).not.toContain(secret);
      for (const { payload } of received.filter(({ type }) => type === "MOVE_REQUEST")) {
        const state = payload.game_state as { choices?: object; cards?: object };
        expect(state.choices ?? state.cards).toMatchObject({ player_1: null });
      }
    }
    await stop(host);
    await bot.stop();
  });
});

it("the bot of a killed host ends, and a restarted host continues the game with a new process of the bot", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "data"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const run = async () => {
    const host = start("referee/main.ts", ["--alone", "--port", String(port), "--data", join(folder, "data")]);
    await host.line(/session host at/);
    return host;
  };
  const killed = await run();
  const seat = await against({ url }, "greedy", "connect_four", { name: "Ann" });
  await playOn(seat, 2);
  killed.signal("SIGKILL");
  await killed.ended;
  await eventually("the end of its bot", () => processesIn(folder).length === 0);
  const restarted = await run();
  const { value } = await playOn(seat);
  expect(value.result.termination).toBe("normal");
  expect(value.players).toMatchObject({ red: { name: "Ann" }, yellow: { kind: "bot", name: "greedy" } });
  restarted.signal("SIGTERM");
  expect((await restarted.ended).code).toBe(0);
  expect(processesIn(folder)).toEqual([]);
});
