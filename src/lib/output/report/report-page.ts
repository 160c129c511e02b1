import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { html } from 'htm/preact'
import type { ComponentChild, VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { script, style } from 'virtual:report-page'
import { spanText } from '../../kube/duration.ts'
import { isCommand } from '../../kube/shell-line.ts'
import { count } from '../text.ts'
import type { ReportFinding } from './report-findings.ts'
import type { Report } from './report-model.ts'
import type { ReportSource } from './report-source.ts'
import { type Bar, clockText, rowsOf, type Timeline, withoutName } from './lanes.ts'
import { timelineOf } from './timeline.ts'
import { countsIn, type VmTable, vmTableOf } from './vm-table.ts'

/** Made with what, and when. */
export interface Maker {
  version: string
  at: Date
}

/**
 * One page with all of it: what matters first is HTML, which is read without JavaScript; the document itself is inside, compressed, and the timeline and the table of VMs are
 * drawn from it in the browser. It asks for nothing from elsewhere, and what is in the document is data everywhere.
 */
export function reportPage(report: Report, source: ReportSource, maker: Maker): string {
  const data = gzipSync(JSON.stringify(source), { level: 9 }).toString('base64')
  const parts: Parts = { timeline: timelineOf(source), vms: vmTableOf(source) }
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    renderToString(html`<title>${`${report.title}: ${report.verdict.text}`}</title>`),
    `<style>${style}</style>`,
    '</head>',
    `<body>${renderToString(bodyOf(report, parts, maker))}`,
    `<script type="application/gzip" id="data">${data}</script>`,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Only the two texts above run and style; nothing is fetched, sent or framed, and no text becomes markup. */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

interface Parts {
  timeline: Timeline | undefined
  vms: VmTable | undefined
}

interface Section {
  id: string
  title: string
  body: VNode
}

function bodyOf(report: Report, parts: Parts, maker: Maker): VNode {
  const sections = sectionsOf(report, parts)
  return html`<header>
      <p class="what">${report.title}</p>
      ${verdictOf(report)}
    </header>
    <main>
      ${
        report.remarks.length > 0 &&
        html`<div class="remarks" role="note">${report.remarks.map((line) => html`<p>${line}</p>`)}</div>`
      }
      ${nextOf(report)} ${factsOf(report)}
      <nav aria-label="Sections">
        <ul>
          ${sections.map(({ id, title }) => html`<li><a href=${`#${id}`}>${title}</a></li>`)}
        </ul>
      </nav>
      ${sections.map(
        ({ id, title, body }) =>
          html`<section aria-labelledby=${id}>
            <h2 id=${id}>${title}</h2>
            ${body}
          </section>`,
      )}
    </main>
    <footer>
      <p>
        Made by kvup ${maker.version} on ${maker.at.toISOString().slice(0, 19).replace('T', ' ')} UTC.
        ${' '}${report.redacted ? redactedText : fullText}
      </p>
    </footer>`
}

const redactedText =
  'Passwords, values of environment variables, annotations, addresses and names of hosts with a domain are left out; kvup report --full has them. Names of nodes without a domain, of VMs and of namespaces are in it.'
const fullText = 'Nothing was left out of it (--full): it may have passwords and names of hosts.'

/** Shape and word say what the colour says. */
const marks = { good: '✔', warning: '!', bad: '✖' } as const
const markWords = { good: 'Good', warning: 'Warning', bad: 'Bad' } as const

const verdictOf = ({ verdict: { is, text } }: Report): VNode =>
  html`<h1 class=${`verdict ${is}`}>
    <span class="mark" role="img" aria-label=${`${markWords[is]}:`}>${marks[is]}</span> <span>${text}</span>
  </h1>`

function nextOf({ next }: Report): VNode | undefined {
  if (next.length === 0) return undefined
  return html`<div class="next">
    <h2 id="next">Next</h2>
    <ul>
      ${next.map((line) => html`<li>${lineOf(line)}</li>`)}
    </ul>
  </div>`
}

const wordsOf = (line: string): VNode => html`<span>${line}</span>`

/** Only a command has it; a sentence may begin with the name of one. */
const hasPurpose = / {3,}/u

/** A line that can be pasted looks like one; what it does stands behind it. */
function lineOf(line: string): VNode {
  if (!isCommand(line)) return wordsOf(line)
  const [, command = line, purpose = ''] = /^(.*?)(?: {3,}(?:# )?(.*))?$/su.exec(line) ?? []
  return html`<code>${command}</code>${purpose === '' ? '' : html` <span class="purpose">${purpose}</span>`}`
}

const factsOf = ({ facts }: Report): VNode =>
  html`<dl class="facts">
    ${facts.map(
      ({ name, value }) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

const section = (id: string, title: string, body: VNode | undefined): readonly Section[] =>
  body === undefined ? [] : [{ id, title, body }]

function sectionsOf(report: Report, { timeline, vms }: Parts): readonly Section[] {
  const { findings, accepted, prediction, clusters, changes, notes } = report
  return [
    ...section('clusters', 'Clusters', clusters && tableOf('Clusters', clusters.heads, clusters.rows)),
    ...section('timeline', 'Timeline', timeline && timelineBody(timeline)),
    ...section('findings', 'Findings', findings.length > 0 ? findingsBody(findings) : undefined),
    ...section('accepted', 'Accepted risks', accepted.length > 0 ? acceptedBody(report) : undefined),
    ...section('changes', 'Changes', changes.length > 0 ? changesBody(changes) : undefined),
    ...section(
      'vms',
      vms?.columns[0]?.id === 'kind' ? 'VMs and volumes that changed' : 'VMs',
      vms && vmsBody(vms),
    ),
    ...section('prediction', 'Predicted and happened', prediction && predictionBody(prediction)),
    ...notes.flatMap(({ title, lines, isHelp }, index) =>
      section(
        `note-${index + 1}`,
        title,
        html`<ul class="lines">
          ${lines.map((line) => html`<li>${isHelp || hasPurpose.test(line) ? lineOf(line) : wordsOf(line)}</li>`)}
        </ul>`,
      ),
    ),
    ...section('json', 'JSON', jsonBody),
  ]
}

const withoutScript = (what: string): VNode =>
  html`<noscript><p class="hint">${what} needs JavaScript in the browser.</p></noscript>`

function timelineBody(timeline: Timeline): VNode {
  const { note } = timeline
  const { rows, total } = rowsOf(timeline)
  return html`<div class="chart" data-part="timeline"></div>
    ${withoutScript('The drawing')} ${note === undefined ? '' : html`<p class="hint">${note}</p>`}
    <details>
      <summary>
        ${rows.length === total ? 'The same as a table' : `The first ${rows.length} of ${total} parts as a table`}
      </summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Timeline as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Name</th>
              <th scope="col">Begins${timeline.isRelative ? ' after' : ' (UTC)'}</th>
              <th scope="col">Takes</th>
              <th scope="col">What</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ({ group, name, bar }) =>
                html`<tr>
                  <td>${group}</td>
                  <th scope="row">${name}</th>
                  <td class="number">${beginText(bar, timeline)}</td>
                  <td class="number">${bar.from === bar.to ? 'a moment' : spanText(bar.to - bar.from)}</td>
                  <td>${withoutName(bar.text, name)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`
}

const beginText = ({ from }: Bar, { begins, ends, isRelative }: Timeline): string =>
  isRelative ? spanText(from - begins) : clockText(new Date(from), ends - begins)

const levelWords: Readonly<Record<ReportFinding['level'], string>> = {
  blocker: 'Blocker',
  'not-checked': 'Not checked',
  warning: 'Warning',
  accepted: 'Accepted',
  info: 'Info',
}

/** Of its objects a finding shows so many; the JSON has all. */
const objectsShown = 20

const findingsBody = (findings: readonly ReportFinding[]): VNode =>
  html`<ul class="findings">
    ${findings.map(
      ({ id, level, summary, remedy, objects, reason }) =>
        html`<li class=${`finding ${level}`}>
          <p class="head">
            <strong class="level">${levelWords[level]}</strong> <code class="id">${id}</code>
          </p>
          <p>${summary}</p>
          ${reason === undefined ? '' : html`<p>Accepted because: ${reason}</p>`}
          ${
            remedy.length > 0 &&
            html`<ul class="lines">
              ${remedy.map((line) => html`<li>${lineOf(line)}</li>`)}
            </ul>`
          }
          ${objects.length > 0 && objectsOf(objects)}
        </li>`,
    )}
  </ul>`

const objectsOf = (objects: readonly string[]): VNode =>
  html`<details>
    <summary>${count(objects.length, 'object')}</summary>
    <ul class="objects">
      ${objects.slice(0, objectsShown).map((name) => html`<li>${name}</li>`)}
      ${objects.length > objectsShown && html`<li>and ${objects.length - objectsShown} more: the JSON has all</li>`}
    </ul>
  </details>`

function acceptedBody({ accepted, of }: Report): VNode {
  const nobody = of === 'CheckReport' ? 'whoever ran the check' : 'unknown'
  const rows = accepted.map(({ id, reason, by, user }) => [
    html`<code>${id}</code>`,
    reason ?? 'no reason given',
    by ?? nobody,
    user ?? 'unknown',
  ])
  return tableOf('Accepted risks', ['Risk', 'Reason', 'By', 'API user'], rows)
}

const tableOf = (
  label: string,
  heads: readonly string[],
  rows: readonly (readonly ComponentChild[])[],
): VNode =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${`${label}: table`}>
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first, ...rest]) =>
            html`<tr>
              <th scope="row">${first}</th>
              ${rest.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`

function predictionBody({ by, rows, says }: NonNullable<Report['prediction']>): VNode {
  const agreed = rows.filter(({ agrees }) => agrees === true).length
  const compared = rows.filter(({ agrees }) => agrees !== undefined).length
  const faster = rows.filter(({ differs }) => differs === 'faster').length
  const less = faster > 0 ? `, ${faster} less` : ''
  return html`<p>${`${agreed} of ${count(compared, 'stage')} took as long as predicted by ${by}${less}.`}</p>
    ${tableOf(
      'Predicted and happened',
      ['What', 'Predicted', 'Happened', 'Agrees'],
      rows.map(({ what, predicted, happened, agrees, differs }) => [
        what,
        predicted,
        happened,
        agrees === undefined
          ? 'not compared'
          : agrees
            ? html`<span class="good">✔ yes</span>`
            : differs === 'faster'
              ? 'faster'
              : html`<span class="warning">! slower</span>`,
      ]),
    )}
    <ul class="lines">
      ${says.map((line) => html`<li>${line}</li>`)}
    </ul>`
}

const signs: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' }

const changesBody = (changes: Report['changes']): VNode =>
  html`<ol class="changes">
    ${changes.map(
      ({ title, says, lines }, index) =>
        html`<li>
          <p class="head"><strong>${title}</strong></p>
          ${says !== '' && html`<p>${says}</p>`}
          ${
            lines.length > 0 &&
            html`<pre class="diff" tabindex="0" role="region" aria-label=${`Diff ${index + 1}: ${title}`}>
${lines.map((line) => html`<span class=${signs[line[0] ?? ''] ?? 'object'}>${line}${'\n'}</span>`)}</pre>`
          }
        </li>`,
    )}
  </ol>`

function vmsBody(vms: VmTable): VNode {
  const counted = vms.columns
    .filter(({ chosenBy }) => chosenBy)
    .map((column) => ({ column, counts: countsIn(vms, column) }))
  const of = vms.columns[0]?.id === 'kind' ? 'object' : vms.of
  return html`<p>${count(vms.rows.length, of)}.${vms.note === undefined ? '' : ` ${vms.note}`}</p>
    <ul class="lines">
      ${counted.map(
        ({ column, counts }) =>
          html`<li>${column.title}: ${counts.map(([value, many]) => `${value} ${many}`).join(', ')}</li>`,
      )}
    </ul>
    <div data-part="vms"></div>
    ${withoutScript('The table')}`
}

const jsonBody: VNode = html`<p class="hint">
    The document that this report was made of is inside this page.
  </p>
  <div data-part="json"></div>
  ${withoutScript('It')}`
