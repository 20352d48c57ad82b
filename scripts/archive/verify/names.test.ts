/** Forgers of the names of players, who make everything else fit again. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newToken } from "#shared/lib/ids.ts";
import { nameCommitment } from "../../../league-manager/agents/decide.ts";
import { agentLogFile, RUN_FILE } from "../files.ts";
import { type TestExports, testExports } from "../testing/exports.ts";
import { type Forgery, forgeRun } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

let exports: TestExports;
/** Two leagues of P01, P02 and P03. */
let plain: string;
beforeAll(async () => {
  exports = testExports();
  plain = await exports.exported(plainRun);
});
afterAll(() => exports.remove());

/** Gives P01 another name in the first league and in its registration. */
const renamed =
  (name: string, salt = newToken()) =>
  ({ league, events, agents }: Forgery): void => {
    Object.assign(league.players[0], { display_name: name, salt });
    const name_commitment = nameCommitment({ name, salt });
    const entered = events.find(({ type, player_id }) => type === "player_entered" && player_id === "P01");
    for (const event of [entered, agents.P01?.[0]]) Object.assign(event, { name_commitment });
  };

describe("the name of a player: a forger is found out who", () => {
  it.each<[string, (forgery: Forgery) => void, string, string]>([
    [
      "renames it in one league of several",
      renamed("Zoe"),
      RUN_FILE,
      "the name of P01 in second has another salt than in an earlier league",
    ],
    [
      "renames it in a league alone",
      (forgery) => {
        const registered = { ...forgery.agents.P01?.[0] };
        renamed("Zoe")(forgery);
        Object.assign(forgery.agents.P01?.[0], registered);
      },
      agentLogFile("P01"),
      "its name is not the one with which it entered rps",
    ],
    [
      "renames it in its registration alone",
      ({ agents }) => Object.assign(agents.P01?.[0], { name_commitment: nameCommitment({ name: "Zoe", salt: "" }) }),
      agentLogFile("P01"),
      "its name is not the one with which it entered second",
    ],
    [
      "gives it a name with control characters",
      renamed("Zoe\u001b[2J"),
      RUN_FILE,
      "the name of P01 in rps is not a name that a player can register with",
    ],
    [
      "gives it a name that is too long",
      renamed("Z".repeat(101)),
      RUN_FILE,
      "the name of P01 in rps is not a name that a player can register with",
    ],
    [
      "gives it a name with spaces around it",
      renamed(" Zoe"),
      RUN_FILE,
      "the name of P01 in rps is not a name that a player can register with",
    ],
    [
      "moves the beginning of the name into the salt",
      renamed("Zoe", `${newToken()}\nAnn`),
      RUN_FILE,
      "the name of P01 in rps has a salt that the manager does not make",
    ],
  ])("%s", (_, change, file, message) => {
    const copy = exports.copyOf(plain);
    forgeRun(copy, change);
    expect(verifyExport(copy).faults).toContainEqual({ file, message });
  });
});
