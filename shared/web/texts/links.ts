/**
 * Returns the path of a link with its query and fragment. A link of the server contains the address for other machines;
 * a page stays at the address at which it was opened, e.g. that of a proxy.
 */
export function pathOf(link: string): string {
  const { pathname, search, hash } = new URL(link, "http://localhost");
  return pathname + search + hash;
}

/** A person's seat in a league: the player's id and its secret token. */
export interface LeagueSeat {
  readonly playerId: string;
  readonly token: string;
}

/** Returns the path of the page of a seat in a league. */
export const pathOfSeat = ({ playerId, token }: LeagueSeat): string =>
  `/play/${encodeURIComponent(playerId)}#token=${encodeURIComponent(token)}`;

/** The name, the token and the join code with which a person joins by opening a link. */
export interface Invitation {
  readonly name: string;
  readonly token: string;
  readonly joinCode?: string | undefined;
}

/** Returns the path of the page that joins a league for a person as soon as it is opened. */
export function pathOfInvitation({ name, token, joinCode }: Invitation): string {
  const secrets = new URLSearchParams({ name, token, ...(joinCode !== undefined && { code: joinCode }) });
  return `/play#${secrets}`;
}

interface Address {
  readonly pathname: string;
  readonly hash: string;
}

/** Returns the seat in the address of the page; null without one. The part after the "#" is not sent to the server. */
export function seatIn({ pathname, hash }: Address): LeagueSeat | null {
  const [, playerId] = /^\/play\/([^/]+)\/?$/.exec(pathname) ?? [];
  const token = new URLSearchParams(hash.slice(1)).get("token");
  return playerId !== undefined && token ? { playerId: decodeURIComponent(playerId), token } : null;
}

/** Returns the invitation in the address of the page; null without one. */
export function invitationIn({ hash }: Address): Invitation | null {
  const fields = new URLSearchParams(hash.slice(1));
  const [name, token] = [fields.get("name"), fields.get("token")];
  return name && token ? { name, token, joinCode: fields.get("code") ?? undefined } : null;
}
