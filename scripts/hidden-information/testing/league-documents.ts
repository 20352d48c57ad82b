/** The pages of a league at the manager and their documents: all that DOCUMENTS lists, as a page, as JSON and live. */
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { DOCUMENTS } from "../../../league-manager/pages/documents/documents.ts";
import { watchStream } from "../../../referee/play/testing/play.ts";
import type { Place, RequestSurface } from "../../../referee/play/testing/surfaces.ts";
import { LEAGUE, MATCH, type Moment } from "./league-world.ts";
import type { Reading, SurfaceFacts } from "./table.ts";
import { plain, withoutHashes } from "./texts.ts";

/** The values of the variable parts of paths. */
const PARAMS: Readonly<Record<string, string>> = { match: MATCH, player: "P01" };

/** What a document shows after it is no longer hidden. All other documents show no state of a match. */
const SHOWN: Readonly<Record<string, Pick<SurfaceFacts, "readers" | "shows">>> = {
  "matches/:match": { readers: "public", shows: ["choice", "card"] },
};
const NOTHING = { readers: "public", shows: [] } as const;

interface DocumentPath {
  /** The path of the page. `/api` and this path is the path of the document. */
  readonly path: string;
  readonly facts: Pick<SurfaceFacts, "readers" | "shows">;
}

const DOCUMENT_PATHS: readonly DocumentPath[] = [
  { path: "/leagues", facts: NOTHING },
  ...DOCUMENTS.map(({ path }) => ({
    path: `/leagues/${LEAGUE}${path === "" ? "" : `/${withParams(path)}`}`,
    facts: SHOWN[path] ?? NOTHING,
  })),
];

/** Replaces ":match" and other variable parts of a path. */
function withParams(path: string): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = PARAMS[name];
    if (value === undefined) throw new Error(`the tests for hidden information have no value for :${name} of ${path}`);
    return value;
  });
}

const nameOf = (kind: string, { path }: DocumentPath): string => `manager: ${kind} ${path}`;

const get =
  (path: string): RequestSurface["read"] =>
  async (place, _id, token) => {
    const headers = { accept: path.startsWith("/api/") ? "application/json" : "text/html" };
    const { status, text } = await place.call("GET", path, { headers, ...(token !== null && { token }) });
    return `${status} ${text}`;
  };

/** The pages and their documents as JSON. */
export const DOCUMENT_SURFACES: Readonly<Record<string, RequestSurface>> = Object.fromEntries(
  DOCUMENT_PATHS.flatMap((one) => [
    [nameOf("page", one), { ...one.facts, read: get(one.path) }],
    [nameOf("document", one), { ...one.facts, read: get(`/api${one.path}`) }],
  ]),
);

/** `before`: opened before information is hidden. `sealed`: opened while it is hidden. */
type Opened = "before" | "sealed";
const OPENED = { before: "live document", sealed: "live document, new," } as const;

/** The live documents. */
export const LIVE_DOCUMENT_FACTS: Readonly<Record<string, SurfaceFacts>> = Object.fromEntries(
  DOCUMENT_PATHS.flatMap((one) => Object.values(OPENED).map((kind) => [nameOf(kind, one), one.facts])),
);

/**
 * Opens the live documents for each viewer. The worlds are compared by the last state while information is hidden, because the time decides how
 * many states before it are sent. Secrets are searched in all bytes.
 */
export async function openDocuments(
  manager: Place,
  viewers: ReadonlyMap<string, { readonly manager: string | null }>,
  when: Opened,
) {
  const present = await presentIn(manager);
  const open = async (viewer: string, token: string | null, one: DocumentPath) => ({
    viewer,
    one,
    surface: nameOf(OPENED[when], one),
    hidden: "",
    bytes: "",
    stream: await watchStream(manager, `/api${one.path}`, token ?? undefined),
    sent: "",
  });
  const all = await Promise.all(
    [...viewers].flatMap(([viewer, tokens]) => present.map((one) => open(viewer, tokens.manager, one))),
  );
  /** Waits until each stream has sent the current document. */
  const upToDate = async (): Promise<void> => {
    for (const opened of all) {
      const current = async (): Promise<string> =>
        comparable((await manager.call("GET", `/api${opened.one.path}`)).json);
      while (opened.sent !== (await current())) {
        const event = await nextOf(opened);
        if (event.event === "document") opened.sent = comparable(event.data);
      }
    }
  };
  await upToDate();
  return {
    /** Marks the end of the time in which information is hidden. */
    async hide(): Promise<void> {
      await upToDate();
      for (const opened of all) [opened.hidden, opened.bytes] = [opened.sent, opened.stream.raw()];
    },
    /** Closes the streams. Returns what they have sent. */
    async end(): Promise<readonly { viewer: string; surface: string; reading: Reading }[]> {
      await upToDate();
      const sent = all.map(({ viewer, surface, stream, hidden, bytes }) => {
        stream.close();
        return { viewer, surface, reading: { before: null, hidden, after: stream.raw().slice(bytes.length), bytes } };
      });
      const absent = DOCUMENT_PATHS.filter((one) => !present.includes(one)).map((one) => nameOf(OPENED[when], one));
      const nothing = { before: null, hidden: "", after: "" };
      const unsent = [...viewers.keys()].flatMap((viewer) =>
        absent.map((surface) => ({ viewer, surface, reading: nothing })),
      );
      return [...sent, ...unsent];
    },
  };
}

/** The paths of documents that only some formats have. */
const OF_SOME_FORMATS: readonly string[] = ["bracket"];

/** The documents that the league has. Throws if it lacks one that every league has. */
async function presentIn(manager: Place): Promise<readonly DocumentPath[]> {
  const statuses = await Promise.all(
    DOCUMENT_PATHS.map(async ({ path }) => (await manager.call("GET", `/api${path}`)).status),
  );
  const absent = DOCUMENT_PATHS.filter((_one, index) => statuses[index] !== 200);
  const missing = absent.filter(({ path }) => !OF_SOME_FORMATS.some((one) => path.endsWith(`/${one}`)));
  if (missing.length > 0) throw new Error(`the manager has no document ${missing.map(({ path }) => path)}`);
  return DOCUMENT_PATHS.filter((one) => !absent.includes(one));
}

const comparable = (document: object): string => withoutHashes(plain(JSON.stringify(document)));

async function nextOf({ stream, one }: { stream: Awaited<ReturnType<typeof watchStream>>; one: DocumentPath }) {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`the live document of ${one.path} is not current`)), WAIT_MS);
  try {
    const event = await Promise.race([stream.next(), late.promise]);
    if (!event) throw new Error(`the manager has ended the live document of ${one.path}`);
    return event;
  } finally {
    clearTimeout(timer);
  }
}

export const ASSETS = "manager: assets";

/** The scripts, styles and images of a page of each kind, which are the same for all viewers. */
export async function assetsOf(manager: Place): Promise<Moment> {
  const pages = await Promise.all(["/leagues", `/leagues/${LEAGUE}`, "/play"].map((path) => manager.call("GET", path)));
  const paths = new Set(pages.flatMap(({ text }) => [...text.matchAll(/\/assets\/[\w.-]+/g)].map(([path]) => path)));
  const texts = await Promise.all([...paths].map(async (path) => (await manager.call("GET", path)).text));
  return new Map([["no token", new Map([[ASSETS, texts.join("\n")]])]]);
}
