import type { JSX } from "preact";

const FORMAT = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;

/** A date and time in the form of the reader. */
export function DateAndTime({ iso }: { readonly iso: string }): JSX.Element {
  return <time dateTime={iso}>{new Intl.DateTimeFormat(undefined, FORMAT).format(new Date(iso))}</time>;
}
