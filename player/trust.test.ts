import { expect, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { acceptNothing, acceptSigned, accepts, acceptThisMachine, type Trust } from "./trust.ts";

const TOKEN = "the player's own token";
const signature = signFor(sha256Hex(TOKEN), "rps/R1M1");
const [HERE, ELSEWHERE] = ["127.0.0.1", "192.0.2.1"];

test.each<[string, Trust, readonly string[]]>([
  ["without a token, when it is about to register, accepts nothing", acceptNothing, []],
  [
    "with a token accepts what is signed with it, wherever it comes from",
    acceptSigned(TOKEN),
    ["signed here", "signed elsewhere"],
  ],
  ["without any secret accepts this machine alone", acceptThisMachine, ["unsigned here", "signed here"]],
])("a player %s", (_, trust, expected) => {
  const callers = {
    "unsigned here": { authToken: "x", remoteAddress: HERE },
    "unsigned elsewhere": { authToken: "x", remoteAddress: ELSEWHERE },
    "signed here": { authToken: signature, remoteAddress: HERE },
    "signed elsewhere": { authToken: signature, remoteAddress: ELSEWHERE },
    "without a token elsewhere": { authToken: null, remoteAddress: ELSEWHERE },
  };
  const accepted = Object.entries(callers).flatMap(([name, caller]) =>
    accepts(trust, "rps/R1M1", caller) ? [name] : [],
  );
  expect(accepted).toEqual(expected);
});
