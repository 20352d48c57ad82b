import { createContext } from "preact";

/** Whether the page is for a projector or a wall: larger, without navigation, and changing by itself. */
export const isProjector = (): boolean => new URLSearchParams(location.search).has("projector");

/** Returns the address of the shown page with or without the form for projectors. */
export function projectorAddress(isOn: boolean): string {
  const query = new URLSearchParams(location.search);
  query.delete("page");
  query.delete("projector");
  const others = query.toString();
  const search = isOn ? ["projector", others].filter((text) => text !== "").join("&") : others;
  return location.pathname + (search === "" ? "" : `?${search}`);
}

/** Shows the next page of the document on a projector, after all rows of this one were shown. */
export const NextPage = createContext<() => void>(() => {});
