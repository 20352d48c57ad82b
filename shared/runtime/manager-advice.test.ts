import { expect, it } from "vitest";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import { strangerText, unreachableText } from "./registration.ts";

const TLS_ERROR =
  "40E32782B67F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/tlsany_meth.c:78:\n";

it.each([
  ["https://10.0.0.1:8000/mcp", TLS_ERROR, /does not use TLS/, /http:\/\/ instead of https:\/\//],
  ["http://liga.example:8000/mcp", "getaddrinfo ENOTFOUND liga.example", /name liga\.example is unknown/, /Correct/],
  ["http://liga.example/mcp", "getaddrinfo EAI_AGAIN liga.example", /DNS server/, /network of this machine/],
  ["https://liga.example/mcp", "self-signed certificate", /known authority/, /NODE_EXTRA_CA_CERTS/],
  ["https://10.0.0.1/mcp", "Hostname/IP does not match certificate's altnames: …", /not for 10/, /name in the/],
  ["http://10.0.0.1/mcp", "Parse Error: Expected HTTP/, RTSP/ or ICE/", /not HTTP/, /https:\/\//],
  ["http://10.0.0.1:8000/mcp", "connect ECONNREFUSED 10.0.0.1:8000", /^connect ECONNREFUSED/, /--lan/],
  ["http://127.0.0.1:8000/mcp", "connect ECONNREFUSED 127.0.0.1:8000", /^connect ECONNREFUSED/, /^$/],
])("a manager at %s with the error %j has a cause and a next step", (manager, error, why, step) => {
  const text = unreachableText(manager, error);
  expect(text.why).toMatch(why);
  expect(text.step).toMatch(step);
});

const MANAGER = "http://10.0.0.1/page";
const httpFault = (status: number, more = ""): CallFault => ({
  cause: "http_error",
  detail: `HTTP ${status}${more}`,
  status,
});

it.each<[string, CallFault, RegExp]>([
  ["status 404", httpFault(404), /^no league manager answers at http:\/\/10\.0\.0\.1\/page: HTTP 404\. .*\/mcp$/],
  ["a page", { cause: "bad_json", detail: "the answer is not JSON" }, /not JSON\. .*\/mcp$/],
  ["a redirection", httpFault(301), /to which it forwards/],
  ["status 400 of a TLS port", httpFault(400), /with https:\/\/$/],
])("%s is the answer of another program", (_, fault, text) => {
  expect(strangerText(MANAGER, fault)).toMatch(text);
});

it("a JSON-RPC error and a failure of the server are answers of a manager", () => {
  expect(strangerText(MANAGER, httpFault(400, ", JSON-RPC error -32602: Invalid params"))).toBeNull();
  expect(strangerText(MANAGER, httpFault(500))).toBeNull();
});
