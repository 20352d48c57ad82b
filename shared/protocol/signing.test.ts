import { createHash, createHmac } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { isSignedFor, signatureCheck, signFor } from "./signing.ts";

const TOKEN = "q0S1gX3uYbqVw5mN7rT9zA2cE4fH6jK8lM0nP1qR3sU";
const SUBJECT = "even-odd/R1M1";

/** An independent implementation of the signatures of PROTOCOL.md, section 3. */
function recomputed(token: string, subject: string): string {
  const key = createHash("sha256").update(Buffer.from(token, "utf8")).digest("hex").toLowerCase();
  const mac = createHmac("sha256", Buffer.from(key, "ascii")).update(Buffer.from(subject, "utf8")).digest("base64");
  return mac.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

describe("signFor: base64url(HMAC-SHA256(key = lowercase hex SHA-256 of the token, subject)) (PROTOCOL.md, section 3)", () => {
  test.each([SUBJECT, "even-odd", "", "ligá/R10M2", "a/b/c"])(
    "signs %j like an independent implementation",
    (subject) => {
      expect(signFor(hashOf(TOKEN), subject)).toBe(recomputed(TOKEN, subject));
      expect(isSignedFor(TOKEN, subject, recomputed(TOKEN, subject))).toBe(true);
    },
  );

  test("signs a fixed example, for authors of agents in other languages", () => {
    // printf %s even-odd/R1M1 | openssl dgst -sha256 -hmac "$(printf %s secret | sha256sum | cut -c1-64)" -binary | basenc --base64url | tr -d =
    expect(signFor(hashOf("secret"), "even-odd/R1M1")).toBe("6NRGAEdiyqcJ5sDZvHRzJEBeeedRLAKAr3UtegW7iqQ");
  });

  test("returns 43 characters of base64url without padding", () => {
    for (let n = 0; n < 50; n++) expect(signFor(hashOf(`token ${n}`), SUBJECT)).toMatch(/^[\w-]{43}$/);
  });

  test("uses the 64 ASCII characters of the hash as the key, not its 32 bytes", () => {
    const raw = createHmac("sha256", createHash("sha256").update(TOKEN).digest()).update(SUBJECT).digest("base64url");
    expect(isSignedFor(TOKEN, SUBJECT, raw)).toBe(false);
  });
});

describe("isSignedFor", () => {
  const good = recomputed(TOKEN, SUBJECT);

  test.each([
    ["made for another agent's token", recomputed("another token", SUBJECT)],
    ["about another match", recomputed(TOKEN, "even-odd/R1M2")],
    ["about the same match of another league", recomputed(TOKEN, "rps/R1M1")],
    ["about the league", recomputed(TOKEN, "even-odd")],
    ["that is empty", ""],
    ["cut by one character", good.slice(0, -1)],
    ["with padding", `${good}=`],
    ["with another first character", `${good.startsWith("A") ? "B" : "A"}${good.slice(1)}`],
    ["of 43 non-ASCII letters", "é".repeat(43)],
    ["that is the token", TOKEN],
    ["that is the hash of the token", hashOf(TOKEN)],
  ])("rejects a signature %s", (_, signature) => {
    expect(isSignedFor(TOKEN, SUBJECT, signature)).toBe(false);
  });
});

describe("signatureCheck", () => {
  const collect = (): void => {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
  };

  test("returns the same answer for a repeated signature, whatever is checked in between", () => {
    const isSigned = signatureCheck(TOKEN);
    const good = recomputed(TOKEN, SUBJECT);
    expect([good, "forged", good, ""].map((signature) => isSigned(SUBJECT, signature))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test("rejects a forged signature of a subject that it has not seen", () => {
    expect(signatureCheck(TOKEN)(SUBJECT, recomputed("another token", SUBJECT))).toBe(false);
    expect(signatureCheck(TOKEN)(SUBJECT, "forged")).toBe(false);
  });

  test("caches no subject without a valid signature, so that callers without a token cannot fill the memory", () => {
    const isSigned = signatureCheck(TOKEN);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 200; n++) isSigned(JSON.parse(`"${String(n).padEnd(250_000, "x")}"`), "forged");
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(isSigned("x", recomputed(TOKEN, "x"))).toBe(true);
  });
});
