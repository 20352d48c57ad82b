import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** The shortest time between two texts, so that screen readers finish one before the next. */
const INTERVAL_MS = 8_000;

/** A text that screen readers say when it changes. Of several changes within a short time they say the last one. */
export function LiveText({ text }: { readonly text: string }): JSX.Element {
  const first = useRef(text);
  const saidAt = useRef(-INTERVAL_MS);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (text === first.current) return;
    first.current = ""; // the text that the page began with is not said
    const say = (): void => {
      saidAt.current = performance.now();
      setSaid(text);
    };
    const timer = setTimeout(say, Math.max(0, saidAt.current + INTERVAL_MS - performance.now()));
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="unseen" aria-live="polite">
      {said}
    </p>
  );
}
