import { expect, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { acceptNothing, acceptSigned, accepts, acceptThisMachine, type Trust } from "./identity.ts";

const TOKEN = "the player's own token";
const signature = signFor(sha256Hex(TOKEN), "rps/R1M1");
const [LOCAL, REMOTE] = ["127.0.0.1", "192.0.2.1"];

test.each<[string, Trust, readonly string[]]>([
  ["that is about to register accepts nothing", acceptNothing, []],
  [
    "with a token accepts messages that are signed with it, from any machine",
    acceptSigned(TOKEN),
    ["signed, local", "signed, remote"],
  ],
  ["without a secret accepts messages from this machine only", acceptThisMachine, ["unsigned, local", "signed, local"]],
])("a player %s", (_, trust, expected) => {
  const callers = {
    "unsigned, local": { authToken: "x", remoteAddress: LOCAL },
    "unsigned, remote": { authToken: "x", remoteAddress: REMOTE },
    "signed, local": { authToken: signature, remoteAddress: LOCAL },
    "signed, remote": { authToken: signature, remoteAddress: REMOTE },
    "without a token, remote": { authToken: null, remoteAddress: REMOTE },
  };
  const accepted = Object.entries(callers).flatMap(([name, caller]) =>
    accepts(trust, "rps/R1M1", caller) ? [name] : [],
  );
  expect(accepted).toEqual(expected);
});
