import { expect, test } from 'vitest'
import { statusReport } from '../../../src/lib/status/status-report.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { statusView } from '../../../src/lib/output/views/status.ts'
import { statusDocumentOf } from '../status-document.ts'
import { example, exampleNames, expected } from './example.ts'

const paint = paintFor({ colour: false, unicode: true })

test.each(exampleNames)('%s', async (name) => {
  const { reader, clock } = example(name)
  const report = await statusReport(reader, clock)
  const lines = statusView.text(statusDocumentOf(report), paint, { columns: Infinity, wide: false })
  const text = `${lines.map(printedLine).join('\n')}\n`
  expect(text).toBe(expected(name, 'status.txt', text))
})
