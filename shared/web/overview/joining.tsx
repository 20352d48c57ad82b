import { Fragment, type JSX } from "preact";
import type { LeagueHeader } from "../documents/league.ts";
import type { Joining } from "../documents/overview.ts";
import { CopyButton } from "../layout/copy-button.tsx";
import { isProjector } from "../layout/projector.ts";
import { QrCode } from "../layout/qr-code.tsx";
import { leaguePath } from "../texts/league-paths.ts";

interface HowToJoinProps {
  readonly league: LeagueHeader;
  readonly joining: Joining;
}

/** How programs and people join a league. */
export function HowToJoin({ league, joining }: HowToJoinProps): JSX.Element {
  const address = addressOf(joining);
  const page = `${address}/play?league=${encodeURIComponent(league.league_id)}`;
  const code = joining.needs_join_code ? " --join-code CODE" : "";
  const command = `${joining.program} join ./my-bot/bot.ts --name YOUR_NAME --league ${league.league_id} --manager ${address}/mcp${code}`;
  return (
    <section class="box join-league" aria-labelledby="join-heading">
      <div>
        <h2 id="join-heading">{league.status === "open" ? "Join this league" : "You can still join this league"}</h2>
        <h3>With a program</h3>
        <p>Enter this command in the folder of the project, with your bot and your name:</p>
        <Command text={command} />
        {!isProjector() && <WithoutProject league={league} needsCode={joining.needs_join_code} />}
        <h3>In the browser</h3>
        <p>
          {isLocal(address) ? "Open" : "Scan the code, or open"}{" "}
          <a href={`/play?league=${encodeURIComponent(league.league_id)}`}>{shortAddress(page)}</a>
        </p>
        {joining.needs_join_code && <p>You need a join code. Ask the operator of the league for it.</p>}
        {isLocal(address) && <p class="note">Only this machine can reach this address.</p>}
      </div>
      {!isLocal(address) && <QrCode text={page} label={`QR code of ${page}`} />}
    </section>
  );
}

/** The files for a student without this project: they need only Python. */
function WithoutProject({
  league,
  needsCode,
}: {
  readonly league: LeagueHeader;
  readonly needsCode: boolean;
}): JSX.Element {
  const folder = leaguePath(league);
  return (
    <>
      <h3>With a program in Python, without this project</h3>
      <p>
        Save <a href={`${folder}/join.py`}>join.py</a> and <a href={`${folder}/bot.py`}>bot.py</a> in one folder, write
        your bot in bot.py, and enter this command in the folder:
      </p>
      <Command text={`python3 join.py YOUR_NAME${needsCode ? " 8150 CODE" : ""}`} />
    </>
  );
}

/** Returns the address for other machines: that of this page, unless it was opened on the machine of the manager. */
function addressOf({ addresses }: Joining): string {
  if (!isLocal(location.origin)) return location.origin;
  return addresses.find((address) => !isLocal(address)) ?? location.origin;
}

const isLocal = (address: string): boolean => /^https?:\/\/(localhost|127\.|\[::1\])/.test(address);

const shortAddress = (address: string): string => address.replace(/^https?:\/\//, "");

const Command = ({ text }: { readonly text: string }): JSX.Element => (
  <div class="command">
    <code>
      {/* Options are not broken at their hyphens. */}
      {text.split(" ").map((word, index) => (
        <Fragment key={index}>
          {index > 0 && " "}
          <span class="word">{word}</span>
        </Fragment>
      ))}
    </code>
    <CopyButton text={text} />
  </div>
);
