import { describe, expect, test } from "vitest";
import { type ErrorCode, errorNames, errorType, protocolError } from "./errors.ts";

// A copy of the specified table, so that a change of a code fails here.
const documented = `
| L001 | REGISTRATION_FAILED | Registration failed |
| L002 | LEAGUE_FULL | Maximum players reached |
| L003 | ALREADY_REGISTERED | Agent already registered |
| L004 | NOT_REGISTERED | Agent not registered |
| L005 | INVALID_LEAGUE | League not found |
| G001 | INVALID_MOVE | Invalid move submitted |
| G002 | TIMEOUT | Player timeout |
| G003 | GAME_NOT_FOUND | Game does not exist |
| G004 | NOT_YOUR_TURN | Move submitted out of turn |
| G005 | GAME_ALREADY_STARTED | Cannot join started game |
`;
const table = [...documented.matchAll(/^\| (\w+) \| (\w+) \|/gm)].map(
  ([, code, name]) => [code, name] as [ErrorCode, string],
);

describe("error codes", () => {
  test("are exactly those of the specification", () => {
    expect(table).toHaveLength(10);
    expect(errorNames).toEqual(Object.fromEntries(table));
  });

  test.each(table)("%s is sent with the name %s", (code, name) => {
    expect(protocolError(code, "why", { match_id: "R1M1" }, true)).toEqual({
      error_code: code,
      error_name: name,
      message: "why",
      retryable: true,
      context: { match_id: "R1M1" },
    });
  });

  test.each(table)("%s is sent as LEAGUE_ERROR or GAME_ERROR according to its prefix", (code) => {
    expect(errorType(protocolError(code, ""))).toBe(code.startsWith("L") ? "LEAGUE_ERROR" : "GAME_ERROR");
  });

  test("an error is not retryable and has no context by default", () => {
    expect(protocolError("L005", "no such league")).toMatchObject({ retryable: false, context: {} });
  });

  test("an error is unchanged by a round trip through JSON", () => {
    const error = protocolError("G001", "no");
    expect(JSON.parse(JSON.stringify(error))).toEqual(error);
  });
});
