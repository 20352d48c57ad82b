import { Fragment, type JSX } from "preact";
import { nameParts } from "../texts/name-parts.ts";

interface TextWithNamesProps {
  readonly text: string;
  readonly names: readonly string[];
}

/** A sentence in which each of these names is isolated, so that the direction of a name does not change the order of the words around it. */
export function TextWithNames({ text, names }: TextWithNamesProps): JSX.Element {
  return (
    <>
      {nameParts(text, names).map((part, index) => (
        <Fragment key={index}>{names.includes(part) ? <bdi>{part}</bdi> : part}</Fragment>
      ))}
    </>
  );
}
