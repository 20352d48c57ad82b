import type { JSX } from "preact";
import type { PageOf } from "../documents/league.ts";

interface PagesOfListProps extends PageOf {
  /** The parameter of the address, and the id of the list if the page has several ones. */
  readonly name?: string;
}

/** The links to the pages of a long list, for the address that is shown. */
export function PagesOfList({ page, pages, name }: PagesOfListProps): JSX.Element | null {
  if (pages === 1) return null;
  const near = [1, page - 1, page, page + 1, pages].filter(
    (number, index, all) => number >= 1 && number <= pages && all.indexOf(number) === index,
  );
  return (
    <nav class="pages" aria-label="Pages of the list">
      {near.map((number) => (
        <a key={number} href={addressOf(number, name)} aria-current={number === page ? "page" : undefined}>
          {number}
        </a>
      ))}
    </nav>
  );
}

function addressOf(page: number, name?: string): string {
  const query = new URLSearchParams(location.search);
  query.set(name ?? "page", String(page));
  return `${location.pathname}?${query}${name === undefined ? "" : `#${name}`}`;
}
