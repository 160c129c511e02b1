import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostile } from '../lib/output/report/hostile.ts'
import { check, manyVms, page, recorded, withTexts } from '../lib/output/report/recorded.ts'
import { notThere, openBrowser } from './chromium.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Where screenshots are kept, for a person to look at; nowhere without it. */
const shots = process.env['SCREENSHOTS']

if (notThere !== undefined) console.warn(notThere)

const run = recorded('upgrade.ndjson')
const rehearsal = recorded('rehearsal.json')

describe.skipIf(notThere !== undefined)('the page of a report in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kvup-report-'))
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser({ scrollBars: true })
  })
  afterAll(async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([
    ['run', run],
    ['check', check()],
    ['vms', { ...rehearsal, document: { ...rehearsal.document, vms: manyVms } }],
    ['hostile', withTexts(run, hostile)],
  ] as const)('%s at three widths, light and dark: no error, nothing axe finds', async (name, source) => {
    const file = join(folder, `${name}.html`)
    writeFileSync(file, page(source))
    const tab = await browser.newPage()
    /** What it said and asked for that it must not. */
    const wrong: string[] = []
    tab.on('console', (message) => wrong.push(`${message.type()}: ${message.text()}`))
    tab.on('dialog', (dialog) => wrong.push(`dialog: ${dialog.message()}`))
    tab.on('request', (request) => wrong.push(`request: ${request.url().slice(0, 80)}`))
    await tab.goto(`file://${file}`)
    expect(await tab.title()).not.toBe('owned')
    await tab.evaluate(axe)
    for (const width of [390, 1024, 1920])
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.setViewportSize({ width, height: 900 })
        await tab.emulateMedia({ colorScheme })
        const found = await tab.evaluate<readonly { id: string; nodes: readonly { html: string }[] }[]>(
          'axe.run().then(({ violations }) => violations)',
        )
        expect(found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)).toEqual([])
        // Nothing but a table, a diff or the drawing scrolls sideways.
        expect(
          await tab.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        ).toBe(0)
        if (shots !== undefined) {
          mkdirSync(shots, { recursive: true })
          await tab.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true })
        }
      }
    expect(wrong).toEqual([`request: file://${file}`])
    await tab.close()
  })
})
