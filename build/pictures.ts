// docs/pictures: the report of the demo's upgrade and of an example's check as a browser shows them. Needs chromium.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notThere, openBrowser } from '../test/browser/chromium.ts'

if (notThere !== undefined) throw new Error(notThere)

const most = 200 * 1024
const folder = 'docs/pictures'
const scratch = await mkdtemp(join(tmpdir(), 'kvup-pictures-'))
const kvup = (...words: string[]): string =>
  execFileSync(process.execPath, ['bin/kvup.js', ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  })

const run = join(scratch, 'run.html')
await writeFile(run, kvup('demo', '--speed', '60', '-o', 'html'))
const check = join(scratch, 'check.html')
await writeFile(
  check,
  kvup('check', '--from', 'test/examples/much-speaks-against-it', '--to', 'v1.9.0', '-o', 'html'),
)

const pictures = [
  { name: 'report-upgrade', of: run, width: 1100, height: 1250, colorScheme: 'light' },
  { name: 'report-check', of: check, width: 1100, height: 900, colorScheme: 'dark' },
  { name: 'report-phone', of: run, width: 390, height: 844, colorScheme: 'dark' },
] as const

await mkdir(folder, { recursive: true })
const browser = await openBrowser()
try {
  for (const { name, of, width, height, colorScheme } of pictures) {
    const tab = await browser.newPage({ viewport: { width, height }, colorScheme })
    await tab.goto(`file://${of}`)
    const file = `${folder}/${name}.png`
    await tab.screenshot({ path: file })
    const { size } = await stat(file)
    if (size > most) throw new Error(`${file} has ${size} bytes, more than ${most}`)
    console.log(`${file}: ${Math.ceil(size / 1024)} KB`)
    await tab.close()
  }
} finally {
  await browser.close()
  await rm(scratch, { recursive: true })
}
