import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type GameView, GUEST } from "#shared/web/game-view.ts";
import { CopyButton, QrCode } from "#shared/web/layout/link-sharing.tsx";
import type { InvitationsDocument } from "#shared/web/play-documents.ts";
import { capitalized, roleInSentence, roleInWords } from "#shared/web/texts/game-texts.ts";
import { pathOf } from "#shared/web/texts/links.ts";
import { savedName, saveName } from "#shared/web/transports/saved-games.ts";
import { type GameRoom, messageOf } from "#shared/web/transports/transport.ts";

const ASK_MS = 3_000;

export interface InvitationProps {
  readonly game: GameView;
  readonly room: GameRoom;
}

/** The field for the name of a person without one, and how the other players are invited. */
export const Invitation = (props: InvitationProps): JSX.Element => (
  <>
    <NameForm {...props} />
    <Invitations {...props} />
  </>
);

/** Links and texts that invite the other players, until they have joined: links for people, a text for models. */
function Invitations({ game, room }: InvitationProps): JSX.Element | null {
  const [document, setDocument] = useState<InvitationsDocument | null>(null);
  const isBegun = game.tick >= game.roles.length;
  // Asks about one game
  useEffect(() => {
    if (!room.hasToken || isBegun || game.status === "completed") return;
    let timer: ReturnType<typeof setInterval> | undefined;
    const ask = (): void => {
      if (globalThis.document.hidden) return;
      room.invitations(game).then(
        (next) => {
          setDocument(next);
          const isOver = next.agents.length === 0 && next.people.every(({ has_opened }) => has_opened);
          if (isOver) clearInterval(timer);
        },
        () => {},
      );
    };
    timer = setInterval(ask, ASK_MS);
    ask();
    return () => clearInterval(timer);
  }, [room, game.game_id, game.status, isBegun]);
  if (!document || isBegun || game.status === "completed") return null;
  const absent = document.people.filter(({ has_opened }) => !has_opened);
  if (absent.length === 0 && document.agents.length === 0) return null;
  return (
    <section class="invitation" aria-label="Invitation">
      {absent.map(({ role, link }) => {
        const isOnly = absent.length === 1 && game.roles.length === 2;
        const invited = <PersonLink key={role} role={role} link={link} isOnly={isOnly} />;
        return document.is_rematch ? <Offered key={role} game={game} role={role} link={invited} /> : invited;
      })}
      {document.agents.length > 0 && <AgentText gameId={game.game_id} {...document} />}
    </section>
  );
}

interface OfferedProps {
  readonly game: GameView;
  readonly role: string;
  readonly link: JSX.Element;
}

/** A person to whom the page of the earlier game offers the rematch. The link is needed only if that page is closed. */
function Offered({ game: { players }, role, link }: OfferedProps): JSX.Element {
  const name = players[role]?.name;
  return (
    <div class="invited">
      <p role="status">
        Waiting for <bdi>{name === undefined || name === GUEST ? roleInSentence(role) : name}</bdi> to join the rematch
      </p>
      <details>
        <summary>Link to the rematch</summary>
        {link}
      </details>
    </div>
  );
}

interface LinkProps {
  readonly role: string;
  readonly link: string;
  /** Whether there is one other player only. */
  readonly isOnly: boolean;
}

function PersonLink({ role, link, isOnly }: LinkProps): JSX.Element {
  const address = reachable(link);
  return (
    <div class="invited">
      <h2>{isOnly ? "Invite a friend" : `Invite a friend as ${roleInWords(role)}`}</h2>
      <p>
        Send this link to one person. The person who opens it plays {isOnly ? "against you" : `as ${roleInWords(role)}`}
        .
      </p>
      <QrCode text={address} label={`QR code of the link for ${roleInWords(role)}`} />
      <Copied text={address} label={`Link for ${roleInWords(role)}`} />
      {isLoopback(address) && (
        <p class="hint">
          This link works on this machine only. To play with a phone or another machine, start the server with{" "}
          <code>npm run host -- --host 0.0.0.0</code>.
        </p>
      )}
    </div>
  );
}

/** The text with which a model joins a game. */
function AgentText({
  gameId,
  agents,
  mcp_url,
}: Pick<InvitationsDocument, "agents" | "mcp_url"> & { gameId: string }): JSX.Element {
  const url = reachable(mcp_url);
  const seats = agents.map(({ role }) => roleInWords(role)).join(", ");
  const command = `claude mcp add --transport http agent-league ${url}`;
  const prompt = `Join the game ${gameId} with the tool joinGame of the MCP server agent-league. Then play until the game is over: call waitForNextTurn to see the board, and finishTurn to move.`;
  return (
    <div class="invited">
      <h2>Invite a language model</h2>
      <p>
        Open {agents.length === 1 ? "seat" : "seats"}: {seats}. Connect the model to the MCP server at this address, for
        example in Claude Code:
      </p>
      <Copied text={command} label="Command for Claude Code" />
      <p>Then give it this task:</p>
      <Copied text={prompt} label="Task for the model" />
    </div>
  );
}

/** A text with a button that copies it. */
const Copied = ({ text, label }: { readonly text: string; readonly label: string }): JSX.Element => (
  <div class="copied">
    <textarea readOnly rows={text.length > 70 ? 4 : 2} aria-label={label} value={text} />
    <CopyButton text={text} />
  </div>
);

/** Returns a link with the address of this page, if other machines can open it; otherwise with that of the server. */
const reachable = (link: string): string =>
  isLoopback(location.href) ? link : new URL(pathOf(link), location.href).href;

const isLoopback = (link: string): boolean => /^(localhost|127\.|\[::1\])/.test(new URL(link).hostname);

interface Props {
  readonly game: GameView;
  readonly room: GameRoom;
}

/** The field in which a person without a name enters one. A person who follows an invitation has not been asked before. */
function NameForm({ game, room }: Props): JSX.Element | null {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const player = game.players[game.your_role];
  if (!room.hasToken || player?.kind !== "human" || player.name !== GUEST || game.status === "completed") return null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name")).trim();
    if (name === "") return;
    setBusy(true);
    setProblem("");
    try {
      await room.setName(game, name);
      saveName(name);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="name-form" aria-label="Your name" onSubmit={(event) => void submit(event)}>
      <label>
        Your name
        <input name="name" dir="auto" maxLength={60} required autocomplete="nickname" defaultValue={savedName()} />
      </label>
      <button type="submit" disabled={isBusy}>
        Show my name
      </button>
      {problem && (
        <p class="notice rejection" role="alert">
          {capitalized(problem)}
        </p>
      )}
    </form>
  );
}
