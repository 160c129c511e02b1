import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scenarios } from '../../src/simulator/scenarios.ts'
import { goldenFile, type Kept, keptIn, written } from './golden-file.ts'
import { lacking } from './on-screen.ts'
import { type Screen, screensOf } from './scenario-screens.ts'
import { type ScreenSize, Tmux } from './terminal.ts'

/**
 * A test for each scenario on a terminal of that size: its screens are those of the golden file. UPDATE=1 writes the file anew; but a screen
 * that had its verdict, its next line and its cause may not lose them then either.
 */
export function goldenScreens(size: ScreenSize): void {
  let tmux: Tmux
  beforeAll(async () => {
    tmux = new Tmux()
    // A module that loads in the middle of a run would let its time pass.
    for (const file of globSync('src/**/*.ts')) await import(resolve(file))
    await screensOf(scenarios[0]!, size, tmux)
  }, 120_000)
  afterAll(() => tmux.stop())

  test.each(scenarios)('$name', async (scenario) => {
    const file = goldenFile(`${size.columns}x${size.rows}`, scenario.name)
    const screens = (await screensOf(scenario, size, tmux)).map((screen) => keptAs(screen, scenario.name))
    if (process.env['UPDATE'] === '1') update(file, screens)
    expect(written(screens)).toBe(readFileSync(file, 'utf8'))
  })
}

/** Throws where a screen would lack what it had. */
function update(file: string, screens: readonly Kept[]): void {
  const gone = existsSync(file) ? lost(screens, keptIn(file)) : []
  if (gone.length > 0) throw new Error(`not written to ${file}:\n${gone.join('\n')}`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, written(screens))
}

function keptAs(screen: Screen, scenario: string): Kept {
  const { title, code, lines } = screen
  return {
    heading: title,
    ...(code === undefined ? {} : { code }),
    lacks: lacking(screen, scenario),
    lines: lines.map(sameEachTime),
  }
}

/** A process has another name in each run. */
const sameEachTime = (line: string) => line.replaceAll(/\b[0-9a-f]{8}(?=-jump)/gu, '01234567')

/** What screens lack now, and did not before; one that was not there before had nothing to lose. */
function lost(screens: readonly Kept[], before: readonly Kept[]): string[] {
  return screens.flatMap(({ heading, lacks }) => {
    const lacked = before.find((kept) => kept.heading === heading)?.lacks ?? lacks
    return lacks.filter((what) => !lacked.includes(what)).map((what) => `${heading}: no ${what}`)
  })
}
