import type { JSX } from "preact";

const DAY_MS = 86_400_000;

/** A time in the form of the reader's language: the hour today, otherwise the day. */
export function When({ iso }: { readonly iso: string }): JSX.Element {
  const date = new Date(iso);
  const isRecent = Date.now() - date.getTime() < DAY_MS;
  const text = isRecent
    ? date.toLocaleTimeString(undefined, { timeStyle: "short" })
    : date.toLocaleDateString(undefined, { dateStyle: "medium" });
  return (
    <small>
      <time dateTime={iso} title={date.toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" })}>
        {text}
      </time>
    </small>
  );
}
