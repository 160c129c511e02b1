import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redactedSource } from '../../src/commands/report/redacted-source.ts'
import { reportOf } from '../../src/lib/output/report/report-model.ts'
import { reportPage } from '../../src/lib/output/report/report-page.ts'
import { parseReportSource, type ReportSource } from '../../src/lib/output/report/report-source.ts'
import { hostile } from '../lib/output/report/hostile.ts'
import { checkText, recorded, recordedFiles, withTexts } from '../lib/output/report/recorded.ts'
import { notThere, openBrowser } from './chromium.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Where screenshots are kept, for a person to look at; nowhere without it. */
const shots = process.env['SCREENSHOTS']

const check = () => parseReportSource(checkText(), 'check.json')
const documents: readonly (readonly [string, () => ReportSource])[] = [
  ...recordedFiles.map((file) => [file, () => redactedSource(recorded(file))] as const),
  ['check.json', check],
]

function manyVms(): ReportSource {
  const source = recorded('rehearsal.json')
  const vms = Array.from({ length: 10_000 }, (_, n) => ({
    namespace: `team-${n % 97}`,
    name: `vm-${n}`,
    tries: n % 50 === 0 ? 'evict' : 'migrate',
    becomes: n % 50 === 0 ? 'stopped' : 'updated',
    attempts: 1 + (n % 3),
    begins: 90 + Math.floor(n / 5),
    ends: 96 + Math.floor(n / 5) + (n % 7),
  }))
  return { ...source, document: { ...source.document, vms } }
}

if (notThere !== undefined) console.warn(notThere)

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

  /** What it said and asked for that it must not: errors, warnings, dialogs, requests. */
  const wrong: string[] = []
  let pages = 0
  /** ms for which the processor worked for the page that was opened last. */
  let worked: () => Promise<number>

  async function opened(source: ReportSource, options: BrowserContextOptions = {}): Promise<Page> {
    const file = join(folder, `${++pages}.html`)
    const maker = { version: '1.2.3', at: new Date('2026-01-01T00:00:00Z') }
    writeFileSync(file, reportPage(reportOf(source, { redacted: true }), source, maker))
    const context = await browser.newContext(options)
    const page = await context.newPage()
    wrong.length = 0
    page.on('console', (message) => wrong.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
    page.on('dialog', (dialog) => wrong.push(`dialog: ${dialog.message()}`))
    page.on('request', (request) => {
      if (request.url() !== `file://${file}`) wrong.push(`request: ${request.url().slice(0, 80)}`)
    })
    const talk = await context.newCDPSession(page)
    await talk.send('Performance.enable', { timeDomain: 'threadTicks' })
    worked = async () => {
      const { metrics } = await talk.send('Performance.getMetrics')
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity) * 1000
    }
    // What a browser tells of in its console alone, such as an observer that is not told of all changes.
    await page.addInitScript(() =>
      addEventListener('error', ({ message }) => console.error(`error event: ${message}`)),
    )
    await page.goto(`file://${file}`)
    if (options.javaScriptEnabled !== false) await page.locator('html[data-ready]').waitFor()
    return page
  }

  test.each(documents)(
    '%s at three widths, light and dark: no error, nothing axe finds',
    async (name, source) => {
      const page = await opened(source())
      await page.evaluate(axe)
      for (const width of [390, 1024, 1920])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 })
          await page.emulateMedia({ colorScheme })
          const found = await page.evaluate(async () => {
            const { axe: tool } = window as unknown as {
              axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
            }
            const { violations } = await tool.run()
            return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
          })
          expect(found).toEqual([])
          // Nothing but a table, a diff or the drawing scrolls sideways.
          const room = await page.evaluate(() => {
            const { scrollWidth, clientWidth } = document.documentElement
            return { scrollWidth, clientWidth, innerWidth }
          })
          expect(room.innerWidth).toBe(width)
          expect(room.scrollWidth).toBe(room.clientWidth)
          if (shots !== undefined) {
            mkdirSync(shots, { recursive: true })
            await page.screenshot({
              path: join(shots, `${name}-${width}-${colorScheme}.png`),
              fullPage: true,
            })
          }
        }
      expect(wrong).toEqual([])
      await page.context().close()
    },
  )

  test('10,000 VMs are there within a second, and of their rows only those in sight', async () => {
    const page = await opened(manyVms(), { viewport: { width: 1024, height: 900 } })
    const ms = await page.evaluate(() => performance.getEntriesByName('ready')[0]?.startTime ?? Infinity)
    const busy = await worked()
    console.log(
      `10,000 VMs: drawn after ${Math.round(ms)} ms, of which the page worked ${Math.round(busy)} ms`,
    )
    // Where others have the processors too it waits for its turn as long as there are others.
    const share = Math.max(1, (loadavg()[0] ?? 1) / availableParallelism())
    expect(ms).toBeLessThan(1000 * share)
    expect(busy).toBeLessThan(1000)
    const rows = page.locator('.grid tbody tr[aria-rowindex]')
    expect(await rows.count()).toBeLessThan(60)
    await page.getByLabel('Search').fill('vm-4321')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.first().innerText()).toContain('team-53')
    await page.getByLabel('Search').fill('')
    await page.getByLabel('KubeVirt tries to').selectOption('evict')
    await expect.poll(() => page.locator('output').innerText()).toBe('200 of 10000 rows')
    await page.getByRole('button', { name: 'Ends after' }).press('Enter')
    const header = page.locator('th', { hasText: 'Ends after' })
    const first = await header.getAttribute('aria-sort')
    expect(['ascending', 'descending']).toContain(first)
    await page.getByRole('button', { name: 'Ends after' }).press('Enter')
    expect(await header.getAttribute('aria-sort')).not.toBe(first)
    await page.locator('.grid').evaluate((grid) => grid.scrollTo(0, 4000))
    await expect.poll(() => rows.first().getAttribute('aria-rowindex').then(Number)).toBeGreaterThan(50)
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('hostile texts in every field do nothing and are shown', async () => {
    // Every text in some field of each document, and over the rounds in fields of every kind.
    for (const source of [recorded('rehearsal.json'), recorded('upgrade.ndjson'), check()])
      for (const offset of [0, 7, 19]) {
        const spoilt = withTexts(source, hostile, offset)
        const shown = parseReportSource(
          [...spoilt.events, spoilt.document].map((one) => `${JSON.stringify(one)}\n`).join(''),
          'spoilt',
        )
        const page = await opened(shown)
        expect(wrong).toEqual([])
        expect(await page.title()).not.toBe('owned')
        expect(
          await page.locator('iframe, object, embed, img, base, form, main a:not([href^="#"])').count(),
        ).toBe(0)
        expect(await page.evaluate(() => document.scripts.length)).toBe(2)
        await page.context().close()
      }
    const page = await opened(withTexts(recorded('rehearsal.json'), ['<b onclick="x()">vm</b>']))
    expect(await page.locator('.grid td').first().innerText()).toBe('<b onclick="x()">vm</b>')
    await page.context().close()
  })

  test('verdict, next, findings and changes are read without JavaScript', async () => {
    const page = await opened(check(), { javaScriptEnabled: false })
    const text = await page.locator('body').innerText()
    expect(text).toContain('NOT READY for v1.9.0')
    expect(text).toContain('kvup upgrade --to v1.6.6')
    expect(text).toContain('minor-skipped')
    const order = await page.locator('h1, h2').allInnerTexts()
    expect(order.slice(0, 2).map((one) => one.replace(/\s+/gu, ' ').slice(0, 12))).toEqual(
      ['✖ NOT READY f', 'Next'].map((one) => one.slice(0, 12)),
    )
    await page.context().close()
  })

  test('it zooms by its buttons', async () => {
    const page = await opened(recorded('upgrade.ndjson'), { viewport: { width: 1024, height: 900 } })
    const bar = page.locator('.bar rect').first()
    const before = Number(await bar.getAttribute('width'))
    await page.getByRole('button', { name: 'Zoom in' }).click()
    expect(Number(await bar.getAttribute('width'))).toBeCloseTo(before * 1.6, 0)
    await page.getByRole('button', { name: 'Show all of it' }).click()
    expect(Number(await bar.getAttribute('width'))).toBeCloseTo(before, 0)
    await page.context().close()
  })

  test('the JSON is inside: shown, and saved as a file', async () => {
    const source = recorded('plan.json')
    const page = await opened(source)
    await page.getByRole('button', { name: 'Show the JSON' }).click()
    expect(JSON.parse(await page.locator('pre.json').innerText())).toEqual(source.document)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save it as a file' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('UpgradePlan.json')
    expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(source.document)
    expect(wrong.filter((one) => !one.startsWith('request: blob:'))).toEqual([])
    await page.context().close()
  })

  test('on paper it has every VM, and no buttons', async () => {
    const page = await opened(recorded('rehearsal.json'), { colorScheme: 'dark' })
    const pdf = await page.pdf({ format: 'A4' })
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    expect(pdf.toString('latin1').match(/\/Type ?\/Page\b/gu)?.length).toBeGreaterThan(0)
    await page.emulateMedia({ media: 'print' })
    await expect.poll(() => page.locator('.grid tbody tr[aria-rowindex]').count()).toBe(12)
    expect(await page.locator('button:visible').count()).toBeLessThanOrEqual(7)
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(255, 255, 255)',
    )
    expect(wrong).toEqual([])
    await page.context().close()
  })
})
