/** On a narrow screen the columns of the standings have short headings, and each match is shown in several lines instead of one row. */
export const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
    color: light-dark(#1a1a2e, #e8e8f0); background: light-dark(#fff, #16161d); }
  a { color: inherit; }
  .wide { overflow-x: auto; margin: .5rem 0 2rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid light-dark(#ddd, #3a3a48); }
  td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
  td.n, .matches td:nth-child(odd) { white-space: nowrap; }
  small { color: light-dark(#555, #a8a8b8); }
  h2 small { font-size: 1rem; font-weight: normal; }
  h2, td { overflow-wrap: anywhere; }
  #connection { position: sticky; top: 0; padding: .5rem .75rem; border-radius: .3rem;
    color: light-dark(#5c3a00, #ffe3b0); background: light-dark(#fff0d0, #4a3510); }
  @media (max-width: 40rem) {
    body { margin: 1rem auto; }
    th, td { padding: .3rem; }
    th[data-short] span { display: none; }
    th[data-short]::after { content: attr(data-short); }
    .matches thead { display: none; }
    .matches tr { display: grid; grid-template-columns: auto 1fr; padding: .4rem 0; border-bottom: 1px solid light-dark(#ddd, #3a3a48); }
    .matches td { border: none; padding: .1rem .3rem; }
    .matches td:nth-child(odd) { grid-row: 1; }
    .matches td:nth-child(3) { text-align: right; }
    .matches td:nth-child(even) { grid-column: 1 / 3; }
    .matches td:empty { display: none; }
  }
`;
