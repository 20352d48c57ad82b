import { render } from "preact";
import type { BoardSetup } from "../game-view.ts";
import { SiteHeader } from "../layout/site-header.tsx";
import { Table } from "../play/game-page.tsx";
import { Invitation } from "../play/invitation.tsx";
import { pageTransport } from "../transports/page-transport.ts";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as BoardSetup;
const root = document.getElementById("root");
const gameId = decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
// The seat is after the "#" of the address, which browsers do not send to the server.
const token = new URLSearchParams(location.hash.slice(1)).get("seat") ?? "";
const transport = pageTransport(gameId, token);
if (root) {
  render(
    <div class="site">
      <SiteHeader part="games" />
      <Table transport={transport} first={null} games={games} Invitation={Invitation} />
    </div>,
    root,
  );
}
