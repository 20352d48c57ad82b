import { afterAll, describe, it } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { nameCommitment } from "../../../league-manager/agents/decide.ts";
import { agentLogFile, RUN_FILE } from "../files.ts";
import { type Attempt, expectFault, forged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import type { Forgery } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** Two leagues of P01, P02 and P03. */
const plain = await exports.exported(plainRun);

/** Gives P01 another name in the first league and in its registration. */
const renamed =
  (name: string, salt = systemIds.token()) =>
  ({ league, events, agents }: Forgery): void => {
    Object.assign(league.players[0], { display_name: name, salt });
    const name_commitment = nameCommitment({ name, salt });
    const entered = events.find(({ type, player_id }) => type === "player_entered" && player_id === "P01");
    for (const event of [entered, agents.P01?.[0]]) Object.assign(event, { name_commitment });
  };

const ATTEMPTS: readonly Attempt[] = [
  [
    "it is changed in one league of several",
    renamed("Zoe"),
    RUN_FILE,
    /^the name of P01 in second has another salt than in an earlier league$/,
  ],
  [
    "it is changed in a league, but not in the registration",
    (forgery) => {
      const registered = { ...forgery.agents.P01?.[0] };
      renamed("Zoe")(forgery);
      Object.assign(forgery.agents.P01?.[0], registered);
    },
    agentLogFile("P01"),
    /^its name is not the one with which it entered rps$/,
  ],
  [
    "it is changed in the registration alone",
    ({ agents }) => Object.assign(agents.P01?.[0], { name_commitment: nameCommitment({ name: "Zoe", salt: "" }) }),
    agentLogFile("P01"),
    /^its name is not the one with which it entered second$/,
  ],
  [
    "it has control characters",
    renamed("Zoe\u001b[2J"),
    RUN_FILE,
    /^the name of P01 in rps is not a name that a player can register with$/,
  ],
  [
    "it is too long",
    renamed("Z".repeat(101)),
    RUN_FILE,
    /^the name of P01 in rps is not a name that a player can register with$/,
  ],
  [
    "it has spaces around it",
    renamed(" Zoe"),
    RUN_FILE,
    /^the name of P01 in rps is not a name that a player can register with$/,
  ],
  [
    "its beginning is in the salt",
    renamed("Zoe", `${systemIds.token()}\nAnn`),
    RUN_FILE,
    /^the name of P01 in rps has a salt that the manager does not make$/,
  ],
  [
    "it is swapped with that of another player, with the salts",
    ({ league }) => {
      const [a, b] = league.players;
      league.players = [{ ...b, player_id: a.player_id }, { ...a, player_id: b.player_id }, league.players[2]];
    },
    RUN_FILE,
    /^the name of P01 in rps is not the one with which it entered the league: the hash differs$/,
  ],
  [
    "it is changed and has no salt",
    ({ league }) => Object.assign(league.players[0], { display_name: "Zoe", salt: null }),
    RUN_FILE,
    /^the name of P01 in rps has no salt and cannot be checked$/,
  ],
];

describe("verify rejects an export with the name of a player if", () => {
  it.each(ATTEMPTS)("%s", (_, change, file, message) => {
    expectFault(forged(exports, plain, change), file, message);
  });
});
