import { expect } from "vitest";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import type { ErrorCode, ProtocolError } from "#shared/protocol/errors.ts";
import type { AdmissionPolicy, Place } from "../../agents/places.ts";
import type { AgentEvent } from "../../agents/registered-agent.ts";
import type { League, LeagueSettings } from "../../league/league.ts";
import { LEAGUE_SEED, SETTINGS, stored } from "../../league/testing/leagues.ts";
import type { CommittedEvent, Decide, Decision, ManagerState } from "../../ledger.ts";
import { evolveState } from "../../store/manager-state.ts";
import { openLeagues, startLeague } from "../league-commands.ts";
import { type PlayerRegistration, type RefereeRegistration, registerPlayer, registerReferee } from "../register.ts";

export const AT = "2026-01-01T00:00:00.000Z";

export const POLICY: AdmissionPolicy = {
  places: [],
  startWhen: "count",
  joinCode: null,
  allowedContacts: { hosts: [], endpoints: [] },
  operatorTokenHash: sha256Hex("operator"),
  maxPlayers: new Map(),
};

export const EMPTY_STATE: ManagerState = {
  leagues: new Map(),
  agents: new Map(),
  lastForgotten: { player: 0, referee: 0 },
  formerLeagues: [],
};

/** The settings of a round robin of rock-paper-scissors with the default options. */
export const settingsOf = (leagueId: string, game = SETTINGS.game): LeagueSettings => ({
  ...SETTINGS,
  leagueId,
  game,
  options: {},
});

/** The token that an agent of this name proposes when it registers. */
export const tokenOf = (name: string): string => hmacBase64Url("tests", name);
export const endpointAt = (port: number): string => `http://127.0.0.1:${port}/mcp`;

type More<R extends { request: object }> = Partial<Omit<R, "request">> & Partial<R["request"]> & { port?: number };

function registrationParts(name: string, { port = 9000, ...more }: { port?: number }) {
  const request = { display_name: name, version: "1.0.0", game_types: ["rps"], contact_endpoint: endpointAt(port) };
  const given = {
    token: tokenOf(name),
    remoteAddress: "127.0.0.1",
    isFromEndpoint: true,
    machineAddresses: new Set<string>(),
    newToken: tokenOf(`new ${name}`),
    salt: `salt ${name}`,
  };
  return { request: { ...request, ...more }, given: { ...given, ...more } };
}

/** The command that registers a player with `tokenOf(name)` at a port of this machine. */
export function player(name: string, more: More<PlayerRegistration> = {}, policy = POLICY) {
  const { request, given } = registrationParts(name, more);
  return registerPlayer(policy, {
    dialect: "native",
    presence: { departed: new Set(), present: new Set() },
    ...given,
    request,
  });
}
/** The league `former` with these players, which the config no longer lists. */
export const formerLeague = (
  status: League["status"],
  ...playerIds: string[]
): ManagerState["formerLeagues"][number] => ({
  leagueId: "former",
  status,
  entrants: new Map(playerIds.map((id) => [id, "commitment"])),
});

/** The part of a registration that names the players that have left their endpoints. */
export const departed = (...ids: string[]) => ({ presence: { departed: new Set(ids), present: new Set<string>() } });

/** The part of a registration that names the players whose programs answer at their endpoints. */
export const present = (...ids: string[]) => ({ presence: { departed: new Set<string>(), present: new Set(ids) } });

/** The command that registers a referee with `tokenOf(name)` at a port of this machine. */
export function referee(name: string, more: More<RefereeRegistration> = {}, policy = POLICY) {
  const { request, given } = registrationParts(name, more);
  return registerReferee(policy, { silent: [], ...given, request: { max_concurrent_matches: 2, ...request } });
}

/** The state after a decision is committed. */
export function applied(state: ManagerState, decision: Decision<unknown>): ManagerState {
  const versions = new Map<string, number>();
  const nextVersion = (agentId: string): number => {
    const version = (versions.get(agentId) ?? state.agents.get(agentId)?.version ?? 0) + 1;
    versions.set(agentId, version);
    return version;
  };
  const { leagueEvents = [], agentEvents = [], writes = [] } = decision;
  const events: readonly CommittedEvent[] = [
    ...leagueEvents.map(
      ({ leagueId, event }) => ({ kind: "league", leagueId, version: 1, event: stored(event) }) as const,
    ),
    ...agentEvents.map(({ agentId, event }): CommittedEvent => {
      return { kind: "agent", agentId, version: nextVersion(agentId), event: { v: 1, at: AT, ...event } as AgentEvent };
    }),
  ];
  const leagueIds = new Set([...state.leagues.keys(), ...leagueEvents.map(({ leagueId }) => leagueId)]);
  return evolveState(state, { events, writes }, [...leagueIds]);
}

/** The state after commands that are decided one after the other. Throws if one is rejected. */
export function stateAfter(commands: readonly Decide<unknown>[], state = EMPTY_STATE): ManagerState {
  return commands.reduce((before, command, index) => {
    const decided = command(before, AT);
    if (!decided.ok) throw new Error(`command ${index}: ${decided.error.message}`);
    return applied(before, decided.value);
  }, state);
}

/** The message of L003 for a name or an endpoint. */
export const alreadyRegistered = (subject: string): string =>
  `${subject} is already registered: choose another, or send its token to register again (the operator can reset a lost token)`;

/** A place that the config reserves for a player. */
export const playerPlace = (id: string, name: string, endpoint: string | null = null): Place => ({
  id,
  kind: "player",
  name,
  endpoint,
  startedByRun: null,
});

/** A policy that limits the league `rps` to this number of players. */
export const withMaxPlayers = (count: number): AdmissionPolicy => ({
  ...POLICY,
  maxPlayers: new Map([["rps", count]]),
});

/** The command that opens leagues. */
export const open = (...leagueIds: string[]) => openLeagues(leagueIds.map((id) => settingsOf(id)));

/** Commands that open a league, register its players P01, P02, … and the referee REF01, and start it. */
export const startedLeague = (leagueId: string, players: number): readonly Decide<unknown>[] => [
  open(leagueId),
  ...Array.from({ length: players }, (_, n) => player(`player ${n + 1}`, { port: n + 1 })),
  referee("referee", { port: 9000 }),
  startLeague(leagueId, LEAGUE_SEED),
];

/** The events of a decision as "stream type", those of leagues first. */
const typesOf = ({ leagueEvents = [], agentEvents = [] }: Decision<unknown>): readonly string[] => [
  ...leagueEvents.map(({ leagueId, event }) => `${leagueId} ${event.type}`),
  ...agentEvents.map(({ agentId, event }) => `${agentId} ${event.type}`),
];

/** Tests a command in the state after other commands: `given(…).when(command).leadsTo(events)` or `.isRejected(code, message)`. */
export const given = (...commands: readonly Decide<unknown>[]) => givenState(stateAfter(commands));

/** Tests a command in a state; see `given`. */
export const givenState = (before: ManagerState) => ({
  when<Reply>(command: Decide<Reply>) {
    const decided: Result<Decision<Reply>, ProtocolError> = command(before, AT);
    const state = decided.ok ? applied(before, decided.value) : before;
    return {
      state,
      /** Events as "stream type", those of leagues first. */
      leadsTo(...events: readonly string[]) {
        expect(decided.ok ? ok(typesOf(decided.value)) : err(decided.error)).toEqual(ok(events));
        return this;
      },
      replies(reply: object | null) {
        if (reply === null) expect(decided).toMatchObject({ ok: true, value: { reply } });
        else expect(decided.ok ? decided.value.reply : decided.error).toMatchObject(reply);
        return this;
      },
      writes(...writes: readonly object[]) {
        expect(decided.ok ? decided.value.writes : decided.error).toMatchObject(writes);
        return this;
      },
      isRejected(code: ErrorCode, message: string, more: Partial<ProtocolError> = {}): void {
        expect(decided).toMatchObject({ ok: false, error: { error_code: code, message, ...more } });
      },
    };
  },
});
