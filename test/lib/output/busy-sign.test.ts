import { afterEach, describe, expect, test } from 'vitest'
import { BusySign } from '../../../src/lib/output/progress/busy-sign.ts'
import { tellStory } from '../../../src/lib/output/progress/progress-output.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { Pipe, Terminal } from './terminal.ts'

const paint = paintFor({ colour: false, unicode: true })
const signs: BusySign[] = []
/** Its spinner has a timer of its own. */
afterEach(() => signs.splice(0).forEach((sign) => sign.stop()))

function signOn(terminal: Terminal): BusySign {
  const sign = new BusySign(terminal, paint)
  signs.push(sign)
  return sign
}

/** Beats of 100 ms until the sign is there or `most` have passed; the import of the spinner takes real time. */
async function beats(sign: BusySign, count: number) {
  for (let n = 0; n < count; n++) {
    sign.tick()
    if (n === 9) await import('ora')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a terminal on which nothing is said', () => {
  test('manner 26: stays empty for a second', async () => {
    const terminal = new Terminal()
    await beats(signOn(terminal), 9)
    expect(terminal.written).toEqual([])
  })
  test('manner 26: then says what is waited for and since when, in place, until the first word', async () => {
    const terminal = new Terminal(20)
    const sign = signOn(terminal)
    await beats(sign, 20)
    await expect.poll(() => terminal.lines).toEqual([expect.stringMatching(/^\S waiting for the ~$/)])
    expect(terminal.isCursorShown).toBe(false)
    sign.stop()
    await beats(sign, 20)
    expect(terminal.lines).toEqual([])
    expect(terminal.isCursorShown).toBe(true)
  })
  test('for how long is counted in beats, ten a second', async () => {
    const terminal = new Terminal()
    await beats(signOn(terminal), 650)
    await expect
      .poll(() => terminal.lines)
      .toEqual([expect.stringMatching(/^\S waiting for the cluster, for 1 m 05 s$/)])
  })
  test('it spins: the shape before the words changes by itself', async () => {
    const terminal = new Terminal()
    await beats(signOn(terminal), 12)
    const shapes = new Set<string>()
    await expect
      .poll(() => shapes.add(terminal.lines[0]?.slice(0, 1) ?? '').size, { interval: 30 })
      .toBeGreaterThan(2)
  })
  test('what is awaited next is said after a second of its own', async () => {
    const terminal = new Terminal()
    const sign = signOn(terminal)
    sign.stop()
    sign.awaiting('reading the release manifest')
    await beats(sign, 5)
    expect(terminal.lines).toEqual([])
    await beats(sign, 15)
    await expect
      .poll(() => terminal.lines)
      .toEqual([expect.stringMatching(/^\S reading the release manifest, for \d s$/)])
  })
  test('text of somebody else cannot move the cursor', async () => {
    const terminal = new Terminal()
    const sign = signOn(terminal)
    sign.awaiting('reading \u001b[2Jhttps://host/\u202efile')
    await beats(sign, 20)
    await expect
      .poll(() => terminal.lines)
      .toEqual([expect.stringMatching(/^\S reading https:\/\/host\/file, for \d s$/)])
  })
})

test('on a pipe nothing spins, whatever is awaited', async () => {
  const pipe = new Pipe()
  const called: (() => void)[] = []
  const story = tellStory({
    stream: pipe,
    clock: new SimClock(),
    paint,
    env: { TERM: 'xterm' },
    verbosity: 0,
    verbose: false,
    beat: (_, call) => {
      called.push(call)
      return () => undefined
    },
    eventsElsewhere: false,
  })
  story.awaiting('reading the release manifest')
  for (let n = 0; n < 50; n++) called.forEach((beat) => beat())
  await import('ora')
  story.end()
  expect(pipe.text).toBe('')
})
