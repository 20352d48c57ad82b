/** The games of a session host: each test is a viewer at a surface of a game with hidden information. */
import { afterAll, beforeAll } from "vitest";
import { startTestHost, type TestHost } from "../../referee/rest/testing/host.ts";
import { type Observer, observe } from "../../referee/rest/testing/observer.ts";
import type { Hosted } from "./testing/host-games.ts";
import { hostScenes } from "./testing/host-scenes.ts";
import { hiddenInformation } from "./testing/table.ts";

const at: { host?: TestHost; observer?: Observer; agentToken?: string } = {};
beforeAll(async () => {
  at.host = await startTestHost();
  at.observer = observe(at.host);
  at.agentToken = (await at.host.agent()).token;
});
afterAll(async () => {
  at.observer?.close();
  await at.host?.remove();
});

/** The session host of this file, which starts before the first game. */
function hosted(): Hosted {
  const { host, observer, agentToken } = at;
  if (!host || !observer || agentToken === undefined) throw new Error("the session host has not started");
  return { host, observer, agentToken };
}

hiddenInformation(hostScenes(hosted), [
  "rps, player_2 has chosen",
  "even_odd, EVEN has chosen",
  "kuhn_poker, the card of player_1",
]);
