import type { HistoryDocument, InvitationsDocument, RematchDocument } from "../play-documents.ts";
import { pathOf } from "../texts/links.ts";
import { failureOf, unreachable } from "./page-failures.ts";
import type { GameRoom } from "./transport.ts";

/** The routes of a game at the session host. `headers` contain the token of the person's seat, if the page has one. */
export function gameRoom(path: string, headers: Readonly<Record<string, string>>): GameRoom {
  const read = async <T>(part: string, init: RequestInit = { headers }): Promise<T> => {
    const response = await fetch(`${path}/${part}`, init).catch(() => {
      throw unreachable();
    });
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as T;
  };
  const posting = (body: object) => ({
    ...{ method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  return {
    hasToken: "authorization" in headers,
    history: (_, from) => read<HistoryDocument>(`history?from=${from}`),
    invitations: () => read<InvitationsDocument>("invitations"),
    setName: async (_, name) => {
      await read("name", posting({ name }));
    },
    rematch: async () => pathIn(await read<RematchDocument>("rematch")),
    startRematch: async () => pathIn(await read<RematchDocument>("rematch", posting({}))),
  };
}

const pathIn = ({ link }: RematchDocument): string | null => (link === null ? null : pathOf(link));
