import { afterAll, describe, it } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { nameCommitment } from "../../../league-manager/agents/registered-agent.ts";
import { agentLogFile, RUN_FILE } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import type { Forgery } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** An export of two leagues of P01, P02 and P03. */
const plain = await exports.exported(plainRun);

/** Renames P01 in the first league and in its registration. */
const rename =
  (name: string, salt = systemIds.token()) =>
  ({ league, events, agents }: Forgery): void => {
    Object.assign(league.players[0], { display_name: name, salt });
    const name_commitment = nameCommitment({ name, salt });
    const entered = events.find(({ type, player_id }) => type === "player_entered" && player_id === "P01");
    for (const event of [entered, agents.P01?.[0]]) Object.assign(event, { name_commitment });
  };

const ATTEMPTS: readonly Attempt[] = [
  [
    "it is changed in one of two leagues",
    rename("Zoe"),
    RUN_FILE,
    /^the name of P01 in second has a salt that differs from that in an earlier league$/,
  ],
  [
    "it is changed only in a league",
    (forgery) => {
      const registered = { ...forgery.agents.P01?.[0] };
      rename("Zoe")(forgery);
      Object.assign(forgery.agents.P01?.[0], registered);
    },
    agentLogFile("P01"),
    /^its name is not the name with which it entered rps$/,
  ],
  [
    "it is changed only in the registration",
    ({ agents }) => Object.assign(agents.P01?.[0], { name_commitment: nameCommitment({ name: "Zoe", salt: "" }) }),
    agentLogFile("P01"),
    /^its name is not the name with which it entered second$/,
  ],
  [
    "it has control characters",
    rename("Zoe\u001b[2J"),
    RUN_FILE,
    /^the name of P01 in rps is not a name that a player can register with$/,
  ],
  [
    "it is too long",
    rename("Z".repeat(101)),
    RUN_FILE,
    /^the name of P01 in rps is not a name that a player can register with$/,
  ],
  [
    "it has spaces around it",
    rename(" Zoe"),
    RUN_FILE,
    /^the name of P01 in rps is not a name that a player can register with$/,
  ],
  [
    "the salt contains the beginning of the name",
    rename("Zoe", `${systemIds.token()}\nAnn`),
    RUN_FILE,
    /^the name of P01 in rps has a salt that is not a token$/,
  ],
  [
    "it is swapped with the name of another player, together with the salt",
    ({ league }) => {
      const [a, b] = league.players;
      league.players = [{ ...b, player_id: a.player_id }, { ...a, player_id: b.player_id }, league.players[2]];
    },
    RUN_FILE,
    /^the name of P01 in rps is not the name with which the player entered: the hash differs$/,
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
    expectFault(verifyForged(exports, plain, change), file, message);
  });
});
