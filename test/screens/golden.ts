import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scenarios as allScenarios } from '../../src/simulator/scenarios.ts'
import { goldenFile, type Kept, written } from './golden-file.ts'
import { lacking } from './on-screen.ts'
import { type Screen, screensOf } from './scenario-screens.ts'
import { type ScreenSize, Tmux } from './terminal.ts'

/** Of the layouts that there are, one each: what all others say is asserted without a terminal (test/scenario/stall-catalogue.test.ts). */
const shown = new Set([
  'image-tag',
  'operator-manifest',
  'outdated-workloads',
  'wrong-tag',
  'canary-crash',
  'ocp-eus',
])
const scenarios = allScenarios.filter(({ name }) => shown.has(name))

/** Of this process, which several sizes may share. */
let isWarm: Promise<void> | undefined

/** A module that is loaded in the middle of a run takes turns of the event loop, in which its simulated time passes: all are loaded before. */
async function warmUp(size: ScreenSize, tmux: Tmux): Promise<void> {
  for (const scenario of scenarios) await screensOf(scenario, size, tmux)
}

/**
 * A test for each scenario that is shown, on a terminal of that size: its screens are those of the golden file, and none lacks its verdict, its next line or its cause. UPDATE=1 writes the file anew, but not
 * where a screen lacks one.
 */
export function goldenScreens(size: ScreenSize): void {
  let tmux: Tmux | undefined
  beforeAll(async () => {
    tmux = new Tmux()
    isWarm ??= warmUp(size, tmux)
    await isWarm
  }, 900_000)
  afterAll(() => tmux?.stop())

  test.each(scenarios)('$name', async (scenario) => {
    const file = goldenFile(`${size.columns}x${size.rows}`, scenario.name)
    const screens = await screensOf(scenario, size, tmux!)
    const lacks = screens.flatMap((screen) =>
      lacking(screen, scenario.name).map(
        (what) => `${screen.title}: no ${what}:\n${screen.lines.join('\n')}`,
      ),
    )
    expect(lacks).toEqual([])
    const text = written(screens.map(keptAs))
    if (process.env['UPDATE'] === '1') update(file, text)
    expect(text).toBe(readFileSync(file, 'utf8'))
  })
}

function update(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function keptAs({ title, code, lines }: Screen): Kept {
  return { heading: title, ...(code === undefined ? {} : { code }), lines: lines.map(sameEachTime) }
}

/** A process has another name in each run. */
const sameEachTime = (line: string) => line.replaceAll(/\b[0-9a-f]{8}(?=-jump)/gu, '01234567')
