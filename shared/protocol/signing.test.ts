import { createHash, createHmac } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { isSignedFor, signatureCheck, signFor } from "./signing.ts";

const TOKEN = "q0S1gX3uYbqVw5mN7rT9zA2cE4fH6jK8lM0nP1qR3sU";
const SUBJECT = "even-odd/R1M1";

/** PROTOCOL.md, section 3, written down once more without the code under test. */
function recomputed(token: string, subject: string): string {
  const key = createHash("sha256").update(Buffer.from(token, "utf8")).digest("hex").toLowerCase();
  const mac = createHmac("sha256", Buffer.from(key, "ascii")).update(Buffer.from(subject, "utf8")).digest("base64");
  return mac.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

describe("PROTOCOL.md, section 3: base64url(HMAC-SHA256(key = lowercase hex SHA-256 of the token, subject))", () => {
  test.each([SUBJECT, "even-odd", "", "ligá/R10M2", "a/b/c"])("signs %j as recomputed by hand", (subject) => {
    expect(signFor(hashOf(TOKEN), subject)).toBe(recomputed(TOKEN, subject));
    expect(isSignedFor(TOKEN, subject, recomputed(TOKEN, subject))).toBe(true);
  });

  test("a fixed example, for those who write an agent in another language", () => {
    // printf %s even-odd/R1M1 | openssl dgst -sha256 -hmac "$(printf %s secret | sha256sum | cut -c1-64)" -binary | basenc --base64url | tr -d =
    expect(signFor(hashOf("secret"), "even-odd/R1M1")).toBe("6NRGAEdiyqcJ5sDZvHRzJEBeeedRLAKAr3UtegW7iqQ");
  });

  test("is 43 characters of base64url without padding, over many tokens", () => {
    for (let n = 0; n < 50; n++) expect(signFor(hashOf(`token ${n}`), SUBJECT)).toMatch(/^[\w-]{43}$/);
  });

  test("the key is the 64 ASCII characters, not the 32 bytes they spell", () => {
    const raw = createHmac("sha256", createHash("sha256").update(TOKEN).digest()).update(SUBJECT).digest("base64url");
    expect(isSignedFor(TOKEN, SUBJECT, raw)).toBe(false);
  });
});

describe("a signature is refused", () => {
  const good = recomputed(TOKEN, SUBJECT);

  test.each([
    ["made for another agent's token", recomputed("another token", SUBJECT)],
    ["about another match", recomputed(TOKEN, "even-odd/R1M2")],
    ["about the same match of another league", recomputed(TOKEN, "rps/R1M1")],
    ["about the league alone", recomputed(TOKEN, "even-odd")],
    ["empty", ""],
    ["cut by one character", good.slice(0, -1)],
    ["with padding", `${good}=`],
    ["with another first character", `${good.startsWith("A") ? "B" : "A"}${good.slice(1)}`],
    ["in other letters of the same length", "é".repeat(43)],
    ["the token itself", TOKEN],
    ["the token's hash", hashOf(TOKEN)],
  ])("%s", (_, signature) => {
    expect(isSignedFor(TOKEN, SUBJECT, signature)).toBe(false);
  });
});

describe("signatureCheck", () => {
  const collect = (): void => {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
  };

  test("gives the same answer each time, whatever is asked in between", () => {
    const isSigned = signatureCheck(TOKEN);
    const good = recomputed(TOKEN, SUBJECT);
    expect([good, "forged", good, ""].map((signature) => isSigned(SUBJECT, signature))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test("remembers no subject without a valid signature, so callers without a token cannot fill the memory", () => {
    const isSigned = signatureCheck(TOKEN);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 200; n++) isSigned(JSON.parse(`"${String(n).padEnd(250_000, "x")}"`), "forged");
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(isSigned("x", recomputed(TOKEN, "x"))).toBe(true);
  });
});
