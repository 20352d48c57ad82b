import { render } from "preact";
import type { BoardSetup } from "../game-view.ts";
import { Table } from "../play/game-page.tsx";
import { Invitation } from "../play/invitation.tsx";
import { pageTransport } from "../transports/page-transport.ts";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as BoardSetup;
const root = document.getElementById("root");
const gameId = decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
// The seat is after the "#" of the address, which browsers do not send to the server.
const token = new URLSearchParams(location.hash.slice(1)).get("seat") ?? "";
const transport = pageTransport(gameId, token);
if (root) render(<Table transport={transport} first={null} games={games} Invitation={Invitation} />, root);
