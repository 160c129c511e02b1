/** The look of a page: light or dark as the reader's system is, and light on paper. */
export const pageStyle = `
:root { color-scheme: light dark; --paper: #fff; --card: #f5f6f8; --ink: #1c2128; --soft: #57606a; --line: #d0d7de; --link: #0b5cad;
  --good: #1a6b33; --bad: #b3261e; --warn: #7a5200;
  --good-fill: #bfe5c9; --bad-fill: #f7c6c2; --warn-fill: #f5dfa5; --run-fill: #bcd8f5; --dim-fill: #dde1e6 }
@media screen and (prefers-color-scheme: dark) { :root {
  --paper: #14181d; --card: #1e242b; --ink: #e6e9ed; --soft: #a3adb8; --line: #3a434d; --link: #7fb8f0;
  --good: #6fd08a; --bad: #ff9a92; --warn: #f0c559;
  --good-fill: #205a32; --bad-fill: #7d2620; --warn-fill: #634a0c; --run-fill: #1f4c7a; --dim-fill: #39424c } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 84rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; overflow-wrap: anywhere }
header { padding: 1.5rem 0 .5rem }
h1, h2, p, ul, ol, dl { margin: 0 }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.25rem; line-height: 1.3 }
p + p { margin-top: .4rem }
a, summary { color: var(--link) }
code, pre { font: .875rem/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace }
code { background: var(--card); padding: .1em .35em; border-radius: 4px }
.what, .purpose, .hint, footer { color: var(--soft) }
.hint, footer { font-size: .875rem; margin-top: .5rem }
h1 { display: flex; gap: .6rem; font-size: clamp(1.25rem, 2.5vw, 1.75rem); line-height: 1.3; margin-top: .25rem }
.mark { font-weight: 700 }
.good .mark, .added { color: var(--good) }
.bad .mark, .removed, .blocker .level, .not-checked .level { color: var(--bad) }
.warning .mark, .warning .level { color: var(--warn) }
.object { color: var(--soft) }
.remarks, .next { margin: .75rem 0 0; padding: .75rem 1rem; border-left: 4px solid var(--warn); background: var(--card) }
.next { border: 1px solid var(--line); border-left: 4px solid var(--link); background: none; border-radius: 4px }
.next h2 { margin: 0 0 .4rem; font-size: 1rem }
.next ul, .findings, .changes { list-style: none; padding: 0; display: grid; gap: .5rem }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: .75rem 1.5rem; margin-top: 1.25rem }
.facts dt { color: var(--soft); font-size: .8125rem }
.facts dd { margin: 0 }
nav { margin-top: 1.5rem; border-block: 1px solid var(--line); padding: .5rem 0 }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0 }
.lines { padding-left: 1.2rem; display: grid; gap: .3rem; margin-top: .5rem }
.findings > li, .changes > li { padding: .75rem 1rem; background: var(--card); border-radius: 4px; border-left: 4px solid var(--line) }
.findings code, .changes code, .remarks code { background: var(--paper) }
.findings > .blocker, .findings > .not-checked { border-left-color: var(--bad) }
.findings > .warning { border-left-color: var(--warn) }
.findings > .accepted { border-left-color: var(--link) }
.objects { columns: 18rem; padding-left: 1.2rem }
details { margin-top: .75rem }
summary { cursor: pointer }
.scroll, pre { overflow: auto; max-height: 40rem; border: 1px solid var(--line); border-radius: 4px; margin-top: .75rem }
pre { background: var(--paper); padding: .5rem .75rem; white-space: pre-wrap }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; overflow-wrap: break-word }
th, td { text-align: left; padding: .35rem .75rem; border-bottom: 1px solid var(--line); vertical-align: top }
thead th { background: var(--card); font-weight: 600; white-space: nowrap; position: sticky; top: 0 }
tbody th { font-weight: 500 }
.chart { max-height: none; border: 0 }
svg { display: block; width: 100%; min-width: 56rem }
svg text { fill: var(--ink); font: 12px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
svg .group { font-weight: 600 }
.axis text { fill: var(--soft) }
.axis line { stroke: var(--line) }
.bar rect, .bar circle { fill: var(--dim-fill); stroke: var(--soft); stroke-width: .75 }
.bar.good rect, .bar.good circle, .curve { fill: var(--good-fill); stroke: var(--good) }
.bar.bad rect, .bar.bad circle { fill: var(--bad-fill); stroke: var(--bad) }
.bar.warn rect, .bar.warn circle { fill: var(--warn-fill); stroke: var(--warn) }
.bar.running rect, .bar.running circle { fill: var(--run-fill); stroke: var(--link) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 1px }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; print-color-adjust: exact }
  nav { display: none }
  .scroll, pre { max-height: none; overflow: visible }
  svg { min-width: 0 }
  .findings > li, .changes > li, tr { break-inside: avoid }
  h2 { break-after: avoid }
}
`
