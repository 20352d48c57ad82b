import type { JSX } from "preact";
import type { TestResult } from "../documents/overview.ts";

const POINTS = ["0", "½", "1", "1½", "2"];

/** The result so far of a league that tests a hypothesis. */
export function TestResultBox({ test }: { readonly test: TestResult }): JSX.Element {
  const most = Math.max(1, ...test.pairs);
  return (
    <section class="box" aria-labelledby="test-heading">
      <h2 id="test-heading">{test.is_decided ? "Result of the test" : "Test so far"}</h2>
      <p>{test.text}</p>
      <table class="data pairs">
        <caption>Number of match pairs by the score of the tested player</caption>
        <tbody>
          {test.pairs.map((count, index) => (
            <tr key={POINTS[index]}>
              <th scope="row" class="n">
                {POINTS[index]}
              </th>
              <td class="n">{count}</td>
              <td class="pairs-bar">
                <progress class="bar" value={count} max={most} aria-hidden="true" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
