import { describe, expect, test } from "vitest";
import { acceptedWith, type Invitation, judgeInvitation } from "./player.ts";

const invitation = (epoch: number, seed_commitment: string, run_id?: string): Invitation => ({
  epoch,
  seed_commitment,
  run_id,
});
/** The remembered invitations after a sequence of invitations that each began the match again. */
const acceptedAfter = (...invitations: readonly Invitation[]): readonly Invitation[] =>
  invitations.reduce<readonly Invitation[]>((accepted, invite) => acceptedWith(invite, accepted), []);

describe("an invitation", () => {
  test.each([
    ["to an unknown match begins it", invitation(1, "a"), [], "begin"],
    ["that was accepted before is a repeat", invitation(1, "a"), [invitation(1, "a")], "repeat"],
    ["of a newer epoch begins the match again", invitation(2, "a"), [invitation(1, "a")], "begin"],
    ["of a newer epoch with another seed begins the match again", invitation(2, "b"), [invitation(1, "a")], "begin"],
    ["of an older epoch is declined", invitation(1, "a"), [invitation(2, "a")], "old_epoch"],
    [
      "of an older epoch is recognized by its seed and declined",
      invitation(1, "a"),
      [invitation(1, "a"), invitation(2, "b")],
      "old_epoch",
    ],
    [
      "of an older epoch that arrives for the first time is recognized by its run and declined",
      invitation(1, "a", "run"),
      [invitation(2, "b", "run")],
      "old_epoch",
    ],
    [
      "of another run is recognized by its run and begins the match",
      invitation(1, "a", "run 2"),
      [invitation(2, "b", "run")],
      "begin",
    ],
    ["with another seed is of another run and begins the match", invitation(1, "b"), [invitation(1, "a")], "begin"],
    [
      "of another run begins the match, whatever its epoch",
      invitation(1, "c"),
      [invitation(1, "a"), invitation(3, "b")],
      "begin",
    ],
  ] as const)("%s", (_, invite, earlier, verdict) => {
    expect(judgeInvitation(invite, acceptedAfter(...earlier))).toBe(verdict);
  });

  test("of another run clears the epochs of the previous run", () => {
    const accepted = acceptedAfter(invitation(1, "a"), invitation(2, "b"), invitation(1, "c"));
    expect(judgeInvitation(invitation(1, "a"), accepted)).toBe("begin");
  });

  test("is remembered for ten epochs", () => {
    const epochs = Array.from({ length: 1_000 }, (_, epoch) => invitation(epoch, String(epoch)));
    expect(acceptedAfter(...epochs)).toEqual(epochs.slice(-11));
  });
});
