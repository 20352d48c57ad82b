import { CONTACT_FAULTS, MANAGER_FAULTS, OPERATOR_FAULTS, SHARED_RUN_FAULTS } from "./manager-faults.ts";
import type { Mutation, TestedMutation } from "./mutation.ts";
import { PLAYER_FAULTS, REFEREE_FAULTS } from "./referee-faults.ts";
import { SHARED_FAULTS } from "./shared-faults.ts";

/** The faults that the simulation must find. */
export const MUTATIONS: readonly Mutation[] = [
  ...MANAGER_FAULTS,
  ...OPERATOR_FAULTS,
  ...REFEREE_FAULTS,
  ...PLAYER_FAULTS,
  ...CONTACT_FAULTS,
  ...SHARED_FAULTS,
  ...SHARED_RUN_FAULTS,
];

/** Faults that a test finds, and that no simulated league shows. */
export const TESTED_FAULTS: readonly TestedMutation[] = [
  {
    name: "a snapshot loses the epoch of a match that waits for another referee",
    foundBy: "league-manager/league/snapshot.test.ts",
    file: "league-manager/league/snapshot.ts",
    from: "if (epoch === 1 && refereeId === null && outcome === null) return players.map(seat);",
    to: "if (refereeId === null && outcome === null) return players.map(seat);",
  },
  {
    name: "the id of a removed player is given again after a player with a lower id was removed",
    foundBy: "league-manager/commands/invariants.test.ts",
    file: "league-manager/store/manager-state.ts",
    from: "[kind]: Math.max(last[kind], numberOf(id))",
    to: "[kind]: numberOf(id)",
  },
  {
    name: "the store keeps the first endpoint of an agent that has registered another one",
    foundBy: "league-manager/store/manager-store.test.ts",
    file: "league-manager/store/manager-store.ts",
    from: "display_name = excluded.display_name, salt = excluded.salt, endpoint = excluded.endpoint",
    to: "display_name = excluded.display_name, salt = excluded.salt",
  },
  {
    name: "a manager that starts again takes only the matches of the first open round",
    foundBy: "league-manager/job-changes.test.ts",
    file: "league-manager/match-queue.ts",
    from: "    league.openRounds.flatMap((roundId) => jobsOfRound(league, roundId).filter((job) => isOpenJob(league, job))),",
    to: `    league.currentRound === null
      ? []
      : jobsOfRound(league, league.currentRound).filter((job) => isOpenJob(league, job)),`,
  },
  {
    name: "an outage of the database closes the inboxes of all managers",
    foundBy: "league-manager/cluster/members.test.ts",
    file: "league-manager/cluster/members.ts",
    from: "setView(ready.length > 0 ? ready : known, false);",
    to: "setView(ready, false);",
  },
  {
    name: "the connection with the former token of a player goes on after its token was reset",
    foundBy: "league-manager/inbox/routes.test.ts",
    file: "league-manager/inbox/manager-inboxes.ts",
    from: 'if (event.type === "token_reset" || !hasInbox) inboxes.drop(agentId);',
    to: "if (!hasInbox) inboxes.drop(agentId);",
  },
  {
    name: "a bye also counts as a round that the player has missed",
    foundBy: "shared/standings/history.test.ts",
    file: "shared/standings/history.ts",
    from: "const paired = new Set([...byes, ...matches.flatMap((match) => match.players)]);",
    to: "const paired = new Set(matches.flatMap((match) => match.players));",
  },
  {
    name: "the requests that an inbox has held count as its size after they are answered",
    foundBy: "league-manager/inbox/inbox.test.ts",
    file: "league-manager/inbox/inbox.ts",
    from: "return { ...inbox, open, openBytes: inbox.openBytes - Buffer.byteLength(text) };",
    to: "return { ...inbox, open };",
  },
  {
    name: "an agent asks only once whether the manager still knows it",
    foundBy: "shared/runtime/kept-registration.test.ts",
    file: "shared/runtime/registration.ts",
    from: "underway ??= renewOnce().finally(() => {\n      underway = null;\n    });",
    to: "underway ??= renewOnce();",
  },
  {
    name: "the pause that a player of a dialect demands by Retry-After is part of its time limit",
    foundBy: "shared/rpc/dialects/conversation.test.ts",
    file: "shared/rpc/dialects/dialect-peers.ts",
    from: "    limits.deadlineMs += pauseMs;\n",
    to: "",
  },
  {
    name: "an inbox counts a poll that has ended as one that waits",
    foundBy: "league-manager/inbox/homes.test.ts",
    file: "league-manager/inbox/inboxes.ts",
    from: "      entry.inbox = withPoll(entry.inbox, -1, this.#clock.monotonic());\n",
    to: "",
  },
  {
    name: "a message of the manager to an inbox that its caller can cancel has no time limit",
    foundBy: "league-manager/inbox/homes.test.ts",
    file: "league-manager/inbox/manager-inboxes.ts",
    from: "const cancelTimer = clock.after(options.timeoutMs, () => timeout.abort());",
    to: "const cancelTimer = options.signal ? () => {} : clock.after(options.timeoutMs, () => timeout.abort());",
  },
  {
    name: "a manager does not apply the commits of others that it has read in a transaction that failed",
    foundBy: "league-manager/shared-run/shared-ledger-faults.test.ts",
    file: "league-manager/shared-run/shared-ledger.ts",
    from: "      // Commits that were read before the failure are committed.\n      if (caughtUp) this.#core.publish(caughtUp);\n",
    to: "",
  },
];
