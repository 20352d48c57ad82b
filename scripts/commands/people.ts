import { resolve } from "node:path";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { faultsText, fieldFaults, newEnvelope } from "#shared/protocol/envelope.ts";
import { id } from "#shared/protocol/message-fields.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readOrCreateSecret, tokenFileOf } from "#shared/runtime/secret-file.ts";
import { pathOfInvitation, pathOfSeat } from "#shared/web/texts/links.ts";
import { browserObstacle, openInBrowser } from "../../referee/play/browser.ts";
import { failedRequest, rejectedRequest } from "./operator.ts";

interface JoinFlags {
  readonly manager: string;
  readonly name?: string;
  readonly league?: readonly string[];
  readonly joinCode?: string;
  readonly data: string;
}

const TIMEOUT_MS = 10_000;

/** `league join human`: enters a person into a league and opens the page of its seat. Resolves with the exit code. */
export async function joinAsPerson({ manager, name, league = [], joinCode, data }: JoinFlags): Promise<number> {
  if (name === undefined) throw new StartError("a person needs a name: add --name NAME", EXIT.usage);
  const token = tokenOf(resolve(data), name);
  const entry = { player_name: name, player_token: token, ...(joinCode !== undefined && { join_code: joinCode }) };
  const entries = league.length === 0 ? [entry] : league.map((league_id) => ({ ...entry, league_id }));
  let playerId = "";
  for (const one of entries) playerId = await enter(manager, one);
  const link = new URL(pathOfSeat({ playerId, token }), manager).href;
  process.stdout.write(`${inOneLine(name)} is ${playerId} and plays at ${link}\n`);
  await openPage(link);
  return EXIT.ok;
}

/** The part of the answer to JOIN_LEAGUE that this command uses. */
const Joined = z.object({ player_id: id });

/** Registers a person. Resolves with the id of the player. Rejects with StartError if the registration fails. */
async function enter(manager: string, entry: { readonly player_name: string }): Promise<string> {
  const about = { messageId: systemIds.uuid(), at: systemClock.iso() };
  const envelope = newEnvelope("JOIN_LEAGUE", `player:${entry.player_name}`, entry, about);
  const peers = createPeers({ clock: systemClock });
  try {
    const reply = await peers.message(manager, envelope, { timeoutMs: TIMEOUT_MS, retry: true });
    if (!reply.ok) throw failedRequest(manager, reply.error);
    const { type, payload } = reply.value;
    if (type.endsWith("_ERROR")) throw rejectedRequest(payload, "registration was rejected: ");
    const joined = Joined.safeParse(payload);
    if (joined.success) return joined.data.player_id;
    const faults = faultsText(fieldFaults(joined.error, "payload"));
    throw new StartError(`the manager at ${manager} answered ${type}, not a registration: ${faults}`);
  } finally {
    await peers.close();
  }
}

/** A person of a config, with the link that joins the league and opens the page of the seat. */
interface InvitedPerson {
  readonly name: string;
  readonly link: string;
}

/** Returns the people of a config with their links. The tokens are stored in the data folder, so that a resumed run has the same links. */
export function invitedPeople({ players, manager }: Config, url: string, dataFolder: string): readonly InvitedPerson[] {
  return players.flatMap((player) => {
    if (!("human" in player)) return [];
    const invitation = { name: player.name, token: tokenOf(dataFolder, player.name), joinCode: manager.join_code };
    return [{ name: player.name, link: new URL(pathOfInvitation(invitation), url).href }];
  });
}

const tokenOf = (dataFolder: string, name: string): string =>
  readOrCreateSecret({ disk: systemDisk(systemClock), ids: systemIds }, tokenFileOf(dataFolder, "player", name));

/** Opens a page in the browser of the person at this terminal. Does nothing without a terminal or a display; the link has been printed. */
export async function openPage(url: string): Promise<void> {
  const isAttended = Boolean(process.stdin.isTTY && process.stderr.isTTY);
  if (browserObstacle({ env: process.env, platform: process.platform, isAttended }) !== null) return;
  await openInBrowser(url).catch(() => {});
}
