import type { JSX } from "preact";

/** A time in the form of the reader's language. */
export const When = ({ iso }: { readonly iso: string }): JSX.Element => (
  <small>
    <time dateTime={iso}>{new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</time>
  </small>
);
