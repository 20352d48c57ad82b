import { describe, expect, it } from "vitest";
import type { AdmissionPolicy } from "../agents/places.ts";
import type { PlayerRegistration } from "./register.ts";
import { departed, given, open, POLICY, player, playerPlace, present, tokenOf } from "./testing/commands.ts";

const CLASSROOM = "classroom:tool:params";
const REMOTE = "10.0.0.1";
const annUrl = `http://${REMOTE}:8150/mcp`;

type More = Partial<PlayerRegistration> & { readonly contact_endpoint?: string; readonly game_types?: string[] };

/** A registration in a dialect, which has no token. By default it comes from the address of the endpoint of Ann. */
const foreign = (name: string, more: More = {}, policy = POLICY) =>
  player(name, { contact_endpoint: annUrl, remoteAddress: REMOTE, token: null, dialect: CLASSROOM, ...more }, policy);

const OTHER_ADDRESS = { remoteAddress: "10.0.0.9", isFromEndpoint: false };

/** The config lists the endpoint of Ann, so that every address may name it. */
const LISTED: AdmissionPolicy = {
  ...POLICY,
  places: [playerPlace("P01", "Ann", annUrl)],
  allowedContacts: { hosts: [], endpoints: [annUrl] },
};
const ALLOWED: AdmissionPolicy = { ...POLICY, allowedContacts: { hosts: [REMOTE], endpoints: [] } };
const fromOtherAddress = (owner: string): string =>
  `the endpoint ${annUrl} belongs to ${owner}, and this registration comes from another address (10.0.0.9): register from the address of the endpoint, or ask the operator to remove ${owner}`;
const answering = (reason: string) => ({ type: "presence_check", rejection: { error_code: "L003", message: reason } });

describe("a player of another dialect that the config lists", () => {
  const ann = [open("rps"), foreign("Ann", {}, LISTED)];

  it("is not taken over by a registration from another address", () => {
    given(...ann)
      .when(foreign("Eve", { ...OTHER_ADDRESS, dialect: "league.v1:tool:params" }, LISTED))
      .isRejected("L003", fromOtherAddress("Ann"));
  });

  it("is not taken over under its name from another address, also before it is registered", () => {
    const policy = { ...LISTED, joinCode: "oak" };
    given(open("rps"))
      .when(foreign("Ann", OTHER_ADDRESS, LISTED))
      .isRejected("L003", fromOtherAddress("Ann"));
    given(...ann)
      .when(foreign("Ann", OTHER_ADDRESS, policy))
      .isRejected("L001", expect.stringContaining("join code"));
  });

  it("returns with its id and keeps its dialect and games if the registration comes from its address", () => {
    const again = foreign("Program", { dialect: "league.v1:tool:params", game_types: ["chess"] }, LISTED);
    const { state } = given(...ann)
      .when(again)
      .leadsTo()
      .replies({ agentId: "P01" });
    expect(state.agents.get("P01")).toMatchObject({ name: "Ann", dialect: CLASSROOM, gameTypes: ["rps"] });
  });

  it.each(["Ann", "Eve"])(
    "is asked before a registration as %s from its address counts as its return, if another player shares the address",
    (name) => {
      const bob = foreign("Bob", { contact_endpoint: `http://${REMOTE}:8151/mcp` }, LISTED);
      const reason = `a program answers at the endpoint ${annUrl}, which the config lists for Ann: it takes part without a registration`;
      given(...ann, bob)
        .when(foreign(name, {}, LISTED))
        .leadsTo()
        .replies(answering(reason));
      given(...ann, bob)
        .when(foreign(name, departed("P01"), LISTED))
        .replies({ agentId: "P01", isNew: false });
    },
  );
});

describe("a player of another dialect that has registered itself", () => {
  it("is not taken over from another address, even if its host is in allowed_hosts", () => {
    const ann = [open("rps"), foreign("Ann", {}, ALLOWED)];
    for (const name of ["Ann", "Eve"]) {
      given(...ann)
        .when(foreign(name, { ...OTHER_ADDRESS, ...departed("P01") }, ALLOWED))
        .isRejected("L003", fromOtherAddress("Ann"));
    }
    // A native player may only get the endpoint if it is at this address.
    const native = { dialect: "native", token: tokenOf("Eve"), ...departed("P01") };
    given(...ann)
      .when(foreign("Eve", { ...OTHER_ADDRESS, ...native }, ALLOWED))
      .isRejected("L003", expect.stringContaining(`the endpoint ${annUrl} is already registered`));
    given(...ann)
      .when(foreign("Eve", native, ALLOWED))
      .replies({ agentId: "P02" });
  });

  it.each(["http://10.0.0.1:8151/mcp", "http://ann.lan:8151/mcp", "http://[fd00::1]:8151/mcp"])(
    "is asked if the endpoint %s of another player may be on its machine",
    (contact_endpoint) => {
      const hosts = { hosts: [REMOTE, "ann.lan", "fd00::1"], endpoints: [] };
      const policy = { ...POLICY, allowedContacts: hosts };
      given(open("rps"), foreign("Ann", {}, policy), foreign("Bob", { contact_endpoint }, policy))
        .when(foreign("Eve", {}, policy))
        .replies({ type: "presence_check", player: { id: "P01" } });
    },
  );

  it("returns with another name or dialect if no other program can have its address", () => {
    // A player with an inbox has no address.
    const inbox = player("Polls", { contact_endpoint: undefined });
    given(open("rps"), foreign("Ann"), inbox)
      .when(foreign("Anna", { dialect: "league.v1:tool:params" }))
      .leadsTo("P01 returned")
      .replies({ agentId: "P01" });
  });

  describe("on the machine of the manager", () => {
    const local = { contact_endpoint: "http://127.0.0.1:8150/mcp", remoteAddress: "127.0.0.1" };
    const ann = [open("rps"), foreign("Ann", local)];

    it("returns under its name and in its dialect, with its port in its name or not", () => {
      given(...ann)
        .when(foreign("Ann", local))
        .leadsTo()
        .replies({ agentId: "P01" });
      given(
        open("rps"),
        player("Ann", { port: 1 }),
        foreign("Ann (8150)", local),
        foreign("Bob", { ...local, contact_endpoint: "http://127.0.0.1:8151/mcp" }),
      )
        .when(foreign("Ann (8150)", local))
        .replies({ agentId: "P02" });
    });

    it("keeps its games and its form if its program answers, and changes them if no program answers", () => {
      const changed = { ...local, game_types: ["rps", "chess"], dialect: "classroom:message_type:body" };
      given(...ann)
        .when(foreign("Ann", changed))
        .leadsTo()
        .replies({ type: "presence_check", rejection: null });
      given(...ann)
        .when(foreign("Ann", { ...changed, ...present("P01") }))
        .leadsTo()
        .replies({ agentId: "P01" });
      const { state } = given(...ann)
        .when(foreign("Ann", { ...changed, ...departed("P01") }))
        .leadsTo("P01 returned");
      expect(state.agents.get("P01")).toMatchObject({ gameTypes: ["rps", "chess"], dialect: changed.dialect });
    });

    it.each<[string, string, More]>([
      ["under another name", "Eve", {}],
      ["in another dialect", "Ann", { dialect: "league.v1:tool:params" }],
    ])("is asked before a registration %s counts as its return", (_, name, more) => {
      const reason =
        "a program answers at the endpoint http://127.0.0.1:8150/mcp, which is registered as Ann: use another port, or that name and the dialect of that registration";
      given(...ann)
        .when(foreign(name, { ...local, ...more }))
        .leadsTo()
        .replies(answering(reason));
      given(...ann)
        .when(foreign(name, { ...local, ...more, ...departed("P01") }))
        .replies({ agentId: "P01", isNew: false });
    });
  });

  it("is never a native player", () => {
    given(open("rps"), player("Ann", { contact_endpoint: annUrl, remoteAddress: REMOTE, token: tokenOf("Ann") }))
      .when(foreign("Ann"))
      .isRejected("L003", expect.stringContaining("the name Ann is already registered"));
  });
});
