import type { ReportSource } from './fields.ts'
import { createHash } from 'node:crypto'
import { spanText } from '../../kube/duration.ts'
import { isCommand } from '../../kube/shell-line.ts'
import { count } from '../text.ts'
import { type Bar, clockText, rowsOf, type Timeline, withoutName } from './lanes.ts'
import { Markup, markup } from './markup.ts'
import { pageStyle } from './page-style.ts'
import { levelWords, type ReportFinding } from './report-findings.ts'
import { redactedText, type Report, reportOf } from './report-model.ts'
import type { ReportTable } from './report-table.ts'
import { timelineOf } from './timeline.ts'
import { timelineSvg } from './timeline-svg.ts'
import { vmTableOf } from './vm-table.ts'

/** Made with what, and when. */
export interface Maker {
  version: string
  /** RFC 3339. */
  at: string
  /** Secrets and hosts are left out. */
  redacted: boolean
}

/** One page with all of it. No script is in it, it asks for nothing from elsewhere, and what is in the document is text everywhere. */
export function reportPage(source: ReportSource, maker: Maker): string {
  const report = reportOf(source)
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${report.title}: ${report.verdict.text}</title>
${style}
</head>
<body>
${bodyOf(report, source, maker)}
</body>
</html>
`.text
}

const style = new Markup(`<style>${pageStyle}</style>`)

/** One text styles, known by its hash; nothing runs, is fetched, sent or framed. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

interface Section {
  title: string
  body: Markup
}

function bodyOf(report: Report, source: ReportSource, maker: Maker): Markup {
  const { title, verdict, remarks, next, facts } = report
  const sections = sectionsOf(report, source)
  return markup`<header>
<p class="what">${title}</p>
<h1 class="${verdict.is}"><span class="mark" role="img" aria-label="${markWords[verdict.is]}:">${marks[verdict.is]}</span> <span>${verdict.text}</span></h1>
</header>
<main>
${remarks.length > 0 && markup`<div class="remarks" role="note">${remarks.map((line) => markup`<p>${line}</p>`)}</div>`}
${next.length > 0 && markup`<div class="next"><h2>Next</h2><ul>${next.map((line) => markup`<li>${lineOf(line)}</li>`)}</ul></div>`}
<dl class="facts">${facts.map(({ name, value }) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<nav aria-label="Sections"><ul>${sections.map(({ title: name }, n) => markup`<li><a href="#part-${n}">${name}</a></li>`)}</ul></nav>
${sections.map(
  ({ title: name, body }, n) => markup`<section aria-labelledby="part-${n}">
<h2 id="part-${n}">${name}</h2>
${body}
</section>
`,
)}</main>
<footer><p>Made by kvup ${maker.version} on ${maker.at.slice(0, 19).replace('T', ' ')} UTC. ${maker.redacted ? redactedText : fullText}</p></footer>`
}

const fullText = 'Nothing was left out of it (--full): it may have passwords and names of hosts.'

/** Shape and word say what the colour says. */
const marks = { good: '✔', warning: '!', bad: '✖' } as const
const markWords = { good: 'Good', warning: 'Warning', bad: 'Bad' } as const

/** A line that can be pasted looks like one; what it does stands behind it. */
function lineOf(line: string): Markup {
  if (!isCommand(line)) return markup`<span>${line}</span>`
  const [, command = line, purpose = ''] = /^(.*?)(?: {3,}(?:# )?(.*))?$/su.exec(line) ?? []
  return markup`<code>${command}</code>${purpose !== '' && markup` <span class="purpose">${purpose}</span>`}`
}

const listed = (lines: readonly (Markup | string)[]): Markup =>
  markup`<ul class="lines">${lines.map((line) => markup`<li>${line}</li>`)}</ul>`

/** Only a command has it; a sentence may begin with the name of one. */
const hasPurpose = / {3,}/u

function sectionsOf(report: Report, source: ReportSource): readonly Section[] {
  const { findings, tables, changes, notes } = report
  const [timeline, vms] = [timelineOf(source), vmTableOf(source)]
  return [
    ...(timeline ? [{ title: 'Timeline', body: timelineBody(timeline) }] : []),
    ...(findings.length > 0 ? [{ title: 'Findings', body: findingsBody(findings) }] : []),
    ...[...tables, ...(vms ? [vms] : [])].map((table) => ({ title: table.title, body: tableBody(table) })),
    ...(changes.length > 0 ? [{ title: 'Changes', body: changesBody(changes) }] : []),
    ...notes.map(({ title, lines, isHelp }) => ({
      title,
      body: listed(
        lines.map((line) => (isHelp || hasPurpose.test(line) ? lineOf(line) : markup`<span>${line}</span>`)),
      ),
    })),
  ]
}

function timelineBody(timeline: Timeline): Markup {
  const { isRelative, note = '' } = timeline
  const { rows, total } = rowsOf(timeline)
  const cells = rows.map(({ group, name, bar }) => [
    group,
    name,
    beginText(bar, timeline),
    bar.from === bar.to ? 'a moment' : spanText(bar.to - bar.from),
    withoutName(bar.text, name),
  ])
  const summary =
    rows.length === total ? 'The same as a table' : `The first ${rows.length} of ${total} parts as a table`
  return markup`<div class="scroll chart" tabindex="0" role="region" aria-label="Timeline: drawing">${timelineSvg(timeline)}</div>
<p class="hint">Times are ${isRelative ? 'since the first step' : 'UTC'}. ${note}</p>
<details><summary>${summary}</summary>
${tableOf('Timeline as a table', ['Part', 'Name', `Begins${isRelative ? ' after' : ' (UTC)'}`, 'Takes', 'What'], cells)}
</details>`
}

const beginText = ({ from }: Bar, { begins, ends, isRelative }: Timeline): string =>
  isRelative ? spanText(from - begins) : clockText(new Date(from), ends - begins)

const tableBody = ({ title, heads, rows, says }: ReportTable): Markup =>
  markup`${says.length > 0 && listed(says)}
${tableOf(`${title}: table`, heads, rows)}`

const tableOf = (label: string, heads: readonly string[], rows: readonly (readonly string[])[]): Markup =>
  markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table>
<thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((cells) => markup`<tr>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table>
</div>`

/** Of its objects a finding shows so many. */
const objectsShown = 20

const findingsBody = (findings: readonly ReportFinding[]): Markup =>
  markup`<ul class="findings">
${findings.map(
  ({ id, level, summary, remedy, objects, reason }) => markup`<li class="${level}">
<p><strong class="level">${levelWords[level]}</strong> <code>${id}</code></p>
<p>${summary}</p>
${reason !== undefined && markup`<p>Accepted because: ${reason}</p>`}
${remedy.length > 0 && listed(remedy.map(lineOf))}
${objects.length > 0 && objectsOf(objects)}
</li>
`,
)}</ul>`

function objectsOf(objects: readonly string[]): Markup {
  const more = objects.length - objectsShown
  return markup`<details><summary>${count(objects.length, 'object')}</summary>
<ul class="objects">${objects.slice(0, objectsShown).map((name) => markup`<li>${name}</li>`)}${
    more > 0 && markup`<li>and ${more} more: -o json of the command has all</li>`
  }</ul></details>`
}

const signs: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' }

const changesBody = (changes: Report['changes']): Markup =>
  markup`<ol class="changes">
${changes.map(
  ({ title, says, lines }, n) => markup`<li>
<p><strong>${title}</strong></p>
${says !== '' && markup`<p>${says}</p>`}
${
  lines.length > 0 &&
  markup`<pre tabindex="0" role="region" aria-label="Diff ${n + 1}: ${title}">
${lines.map((line) => markup`<span class="${signs[line[0] ?? ''] ?? 'object'}">${line}\n</span>`)}</pre>`
}
</li>
`,
)}</ol>`
