/**
 * The look of the HTML report: one column, readable on a phone, in the dark and on paper.
 *
 * @module
 */

/** The style sheet; it loads nothing. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1d1d1f; --back: #ffffff; --soft: #f2f2f4; --line: #c8c8cc;
  --good: #1e6b34; --bad: #b3261e; --doubt: #7a5200; --still: #6b6b70; --run: #4a6fa5;
  --fault: #b3261e; --kill: #7a5200; --resume: #1e6b34; --whole: #1e6b34; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8ea; --back: #17171a; --soft: #242429;
  --line: #4a4a50; --good: #7fd394; --bad: #ff9d94; --doubt: #f0c36a; --still: #a0a0a8;
  --run: #8fb3e8; --fault: #ff9d94; --kill: #f0c36a; --resume: #7fd394; --whole: #7fd394;
  --link: #8ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; color: var(--text);
  background: var(--back); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 0 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; } p { margin: .4rem 0; } a { color: var(--link); }
section { border-top: 2px solid var(--line); padding-top: 1rem; margin-top: 2rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .6rem; margin: .3rem 0; white-space: pre-wrap;
  border: 1px solid var(--line); }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem;
  border-bottom: 1px solid var(--line); }
th code, td code, .long, th a { overflow-wrap: anywhere; }
tbody th { min-width: 8rem; }
.long, td:last-child { min-width: 11rem; } .long { display: inline-block; }
td strong { white-space: nowrap; }
thead th { border-bottom: 2px solid var(--line); } tbody th { font-weight: 500; }
.verdict { display: inline-block; padding: .05rem .6rem; font-weight: 700; border: 2px solid; }
.pass { color: var(--good); } .fail { color: var(--bad); } .unproven { color: var(--doubt); }
.not-applicable { color: var(--still); }
.reason { font-size: 1.08rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .6rem 0; }
dt { color: var(--still); } dd { margin: 0; overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; margin: .3rem 0; }
svg { width: 100%; height: auto; margin: .6rem 0; }
summary { cursor: pointer; padding: .3rem 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { max-width: none; font-size: 11pt; color: #000; background: #fff; }
  section { break-inside: auto; } tr, svg, pre { break-inside: avoid; }
  a { color: inherit; text-decoration: none; } .wide { overflow: visible; } }
`;
