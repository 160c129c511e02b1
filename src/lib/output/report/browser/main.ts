import { html } from 'htm/preact'
import { render, type VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { ReportSource } from '../report-source.ts'
import { timelineOf } from '../timeline.ts'
import { vmTableOf } from '../vm-table.ts'
import { drawTimeline } from './timeline-chart.ts'
import { VmGrid } from './vm-grid.ts'

const part = (name: string): HTMLElement | null => document.querySelector(`[data-part="${name}"]`)

/** The document, from the element that holds it compressed. Nothing is asked of anybody. */
async function unpack(): Promise<ReportSource> {
  const packed = atob(document.getElementById('data')?.textContent ?? '')
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text()) as ReportSource
}

async function show(): Promise<void> {
  const source = await unpack()
  const [chart, vms, json] = [part('timeline'), part('vms'), part('json')]
  const [timeline, table] = [timelineOf(source), vmTableOf(source)]
  if (chart && timeline) drawTimeline(chart, timeline)
  if (vms && table) render(html`<${VmGrid} table=${table} />`, vms)
  if (json) render(html`<${JsonView} source=${source} />`, json)
  document.documentElement.dataset['ready'] = 'yes'
  performance.mark('ready')
}

/** Letters that a browser shows at once without a pause. */
const shownAtMost = 200_000

/** The document as text, once it is asked for, and as a file. */
function JsonView({ source }: { source: ReportSource }): VNode {
  const [isOpen, open] = useState(false)
  const text = isOpen ? JSON.stringify(source.document, undefined, 2) : ''
  const rest = text.length - shownAtMost
  return html`<p class="buttons">
      <button type="button" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>
        ${isOpen ? 'Hide the JSON' : 'Show the JSON'}
      </button>
      <button type="button" onClick=${() => save(source)}>Save it as a file</button>
    </p>
    ${
      isOpen &&
      html`<pre class="json" tabindex="0" role="region" aria-label="JSON">
${text.slice(0, shownAtMost)}${rest > 0 ? `\n… ${rest} letters more are in the file` : ''}</pre>`
    }`
}

/** Events first, as `-o ndjson` has them. */
function save({ document: saved, events }: ReportSource): void {
  const isRun = events.length > 0
  const text = isRun
    ? [...events, saved].map((one) => `${JSON.stringify(one)}\n`).join('')
    : JSON.stringify(saved, undefined, 2)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.download = `${saved.kind}.${isRun ? 'ndjson' : 'json'}`
  link.click()
  URL.revokeObjectURL(link.href)
}

show().catch((error: unknown) => {
  const text = `This browser cannot unpack the document of this page: ${String(error)}`
  for (const name of ['timeline', 'vms', 'json']) part(name)?.append(text)
})
