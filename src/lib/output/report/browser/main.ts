import { html } from 'htm/preact'
import { render } from 'preact'
import type { ReportSource } from '../report-source.ts'
import { timelineOf } from '../timeline.ts'
import { vmTableOf } from '../vm-table.ts'
import { JsonView } from './json-view.ts'
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

show().catch((error: unknown) => {
  const text = `This browser cannot unpack the document of this page: ${String(error)}`
  for (const name of ['timeline', 'vms', 'json']) part(name)?.append(text)
})
