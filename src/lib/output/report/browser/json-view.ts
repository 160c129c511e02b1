import { html } from 'htm/preact'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { ReportSource } from '../report-source.ts'

/** Letters that a browser shows at once without a pause. */
const shownAtMost = 200_000

/** The document as text, once it is asked for, and as a file. */
export function JsonView({ source }: { source: ReportSource }): VNode {
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
