import { createServer } from "node:http";
import { expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { readBody } from "#shared/rpc/http/request.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { NoOpenLeague } from "#shared/runtime/registration.ts";
import { enterLater, enterWhenOpen } from "./later-leagues.ts";

/** A player of a manager whose leagues a test changes. `isOpen` says whether a registration is accepted. */
async function startPlayer() {
  const clock = manualClock();
  const shown = { leagues: [{ league_id: "a", status: "running", players: 2 }], isOpen: false };
  const [lines, entered]: [string[], string[]] = [[], []];
  let attempts = 0;
  const server = createServer((request, response) =>
    readBody(request, 100_000, (body) => {
      const answer = newEnvelope("LIST_LEAGUES_RESPONSE", "league_manager:LM01", { leagues: shown.leagues });
      response.end(JSON.stringify(rpcResponse(JSON.parse(body ?? "").id, textResult(answer))));
    }),
  );
  const manager = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  const peers = createPeers({ clock: systemClock });
  const stopping = new AbortController();
  onTestFinished(async () => {
    stopping.abort();
    await peers.close();
    server.close().closeAllConnections();
  });
  const say = (line: string): void => void lines.push(line);
  const joining = {
    manager,
    peers,
    signal: stopping.signal,
    timeoutMs: 10_000,
    self: { clock, ids: systemIds, say, warn: say },
    sender: () => "player:P01",
    token: () => "token",
    async enter() {
      attempts++;
      if (!shown.isOpen) throw new NoOpenLeague("registration was rejected: no league is open");
      entered.splice(0, entered.length, ...shown.leagues.map(({ league_id }) => league_id));
    },
    entered: () => [...entered],
  };
  const waits = () => vi.waitFor(() => expect(clock.timers()).toBe(1), WAIT_OPTIONS);
  /** Lets the player check the leagues once more. */
  const wake = async () => {
    await waits();
    await clock.advance(5_000);
  };
  return {
    joining,
    shown,
    lines,
    entered,
    stopping,
    attempts: () => attempts,
    wake,
    /** Lets the player check the leagues once more, and resolves when it waits for the next check. */
    async check() {
      await wake();
      await waits();
    },
  };
}

const waitsFor = (manager: string): string =>
  `Waiting for the next league that is opened at ${manager}; Ctrl-C ends this player`;

it("a player that finds no open league says so once, and registers when the leagues have changed", async () => {
  const { joining, shown, lines, entered, attempts, check, wake } = await startPlayer();
  const registered = enterWhenOpen(joining);
  for (const _ of [1, 2]) await check();
  expect([attempts(), lines]).toEqual([
    1,
    [`registration was rejected: no league is open. ${waitsFor(joining.manager)}`],
  ]);
  shown.leagues = [{ league_id: "a", status: "completed", players: 2 }];
  await check();
  expect([attempts(), lines.length]).toEqual([2, 1]);
  Object.assign(shown, { leagues: [...shown.leagues, { league_id: "b", status: "open", players: 0 }], isOpen: true });
  await wake();
  await registered;
  expect([attempts(), entered]).toEqual([3, ["a", "b"]]);
});

it("a player whose registration is rejected for another reason does not wait, and a player that is stopped ends", async () => {
  const { joining, stopping, check } = await startPlayer();
  const enter = () => Promise.reject(new StartError("the join code is wrong"));
  await expect(enterWhenOpen({ ...joining, enter })).rejects.toThrow("the join code is wrong");
  const registered = enterWhenOpen(joining);
  const rejected = expect(registered).rejects.toThrow("stopped before it was registered");
  await check();
  stopping.abort();
  await rejected;
});

it("a player whose leagues are over says what it waits for, and enters each league that is opened, once", async () => {
  const { joining, shown, lines, entered, attempts, stopping, check } = await startPlayer();
  entered.push("a");
  const ended = enterLater(joining);
  await check();
  expect([attempts(), lines]).toEqual([0, []]);
  const over = { league_id: "a", status: "completed", players: 2 };
  shown.leagues = [over];
  for (const _ of [1, 2]) await check();
  expect([attempts(), lines]).toEqual([0, [`a is over. ${waitsFor(joining.manager)}`]]);
  // A league that takes no player now is tried again when it has changed.
  shown.leagues = [over, { league_id: "b", status: "open", players: 2 }];
  for (const _ of [1, 2]) await check();
  expect([attempts(), lines.length]).toEqual([1, 1]);
  Object.assign(shown, { leagues: [over, { league_id: "b", status: "open", players: 1 }], isOpen: true });
  for (const _ of [1, 2]) await check();
  expect([attempts(), lines.slice(1)]).toEqual([2, ["registered in b"]]);
  shown.leagues = [over, { league_id: "b", status: "completed", players: 2 }];
  await check();
  expect([attempts(), lines.slice(2)]).toEqual([2, [`b is over. ${waitsFor(joining.manager)}`]]);
  // The manager was restarted with a config that does not list the earlier leagues.
  shown.leagues = [{ league_id: "c", status: "open", players: 0 }];
  await check();
  expect([attempts(), lines.slice(3)]).toEqual([3, ["registered in c"]]);
  stopping.abort();
  await ended;
});
