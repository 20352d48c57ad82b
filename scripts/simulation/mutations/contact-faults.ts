import type { Mutation } from "./mutation.ts";

/** Faults in the code for players with inboxes and for players of other dialects. */
export const CONTACT_FAULTS: readonly Mutation[] = [
  {
    name: "the expectation of a separate answer ends only with an error",
    rules: ["memory"],
    file: "shared/rpc/dialects/dialect-peers.ts",
    from: `  } finally {
    expected.close();
  }`,
    to: `  } catch (thrown) {
    expected.close();
    throw thrown;
  }`,
  },
  {
    name: "a separate answer without a token is accepted from every address",
    rules: ["forgeries"],
    file: "shared/rpc/dialects/late-answers.ts",
    from: "const near = open.filter((_, index) => isNear[index]);",
    to: "const near = open.filter((_, index) => isNear[index] || token === null);",
  },
  {
    name: "a player of a dialect is told after each round that all earlier rounds are completed",
    rules: ["dialects"],
    file: "shared/protocol/dialects/dialect.ts",
    from: "  memory.delete(leagueId);\n",
    to: "",
  },
  {
    name: "a player of a dialect may receive its result after the manager if its opponent is a native player",
    rules: ["dialects"],
    file: "referee/match/report.ts",
    from: "Object.values(roles).some(({ dialect }) => dialect !== NATIVE)",
    to: "Object.values(roles).every(({ dialect }) => dialect !== NATIVE)",
  },
  {
    name: "after a restart of the manager, the requests of an inbox have lower numbers than its player waits for",
    rules: ["forfeits", "end"],
    file: "league-manager/inbox/inbox.ts",
    from: "const known = after >= firstNumber && after < nextNumber ? after : 0;",
    to: "const known = after >= firstNumber ? after : 0;",
  },
  {
    name: "a player with an inbox sends each answer in one poll only, even if that poll is interrupted",
    rules: ["forfeits"],
    file: "player/inbox-client.ts",
    from: "  const sent = answersToSend(state);\n",
    to: `  const sent = answersToSend(state);
  for (const id of sent.keys()) state.answers.delete(id);
`,
  },
];
