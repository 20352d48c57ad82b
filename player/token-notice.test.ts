import { expect, it, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { type Rejected, tokenNotice } from "./identity.ts";

const SELF = { playerId: "P01", leagueIds: ["rps"], tokenFile: "data/tokens/player-Ann" };
const OTHER = { authToken: signFor(sha256Hex("another token"), "rps") };
const ROUND: Rejected = { league_id: "rps", round_id: 2 };
const INVITE: Rejected = {
  ...ROUND,
  match_id: "R2M1",
  your_role: "player_2",
  roles: { player_1: "P02", player_2: "P01" },
};

test.each([
  ["a message about a round of its league", ROUND],
  ["an invitation that names the player", INVITE],
])("reports %s that is signed with another token, once", (_, message) => {
  const notice = tokenNotice(() => SELF);
  expect(notice(message, OTHER)).toBe(
    "messages to P01 are no longer signed with its token and are rejected. If the operator has reset the token, write the new one into data/tokens/player-Ann and restart this player",
  );
  expect([notice(message, OTHER), notice(INVITE, OTHER)]).toEqual([null, null]);
});

test.each<[string, Rejected, { authToken: string | null }]>([
  ["a message without a signature", ROUND, { authToken: null }],
  ["a message with a text that is not a signature", ROUND, { authToken: "made up" }],
  ["a message of the manager to an earlier player of the endpoint", { ...ROUND, round_id: 0 }, OTHER],
  ["a message about another league", { ...ROUND, league_id: "go" }, OTHER],
  ["an invitation that names another player", { ...INVITE, your_role: "player_1" }, OTHER],
  ["an invitation without its role", { ...INVITE, your_role: "toString" }, OTHER],
  ["a message about a match", { league_id: "rps", match_id: "R2M1" }, OTHER],
])("does not report %s", (_, message, caller) => {
  expect(tokenNotice(() => SELF)(message, caller)).toBeNull();
});

it("reports nothing until the player is registered", () => {
  let self: typeof SELF | null = null;
  const notice = tokenNotice(() => self);
  expect(notice(ROUND, OTHER)).toBeNull();
  self = SELF;
  expect(notice(ROUND, OTHER)).toContain("P01");
});
