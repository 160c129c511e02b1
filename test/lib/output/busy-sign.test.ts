import { describe, expect, test } from 'vitest'
import { BusySign } from '../../../src/lib/output/progress/live-view.ts'
import { Terminal } from './terminal.ts'

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
    await beats(new BusySign(terminal), 9)
    expect(terminal.written).toEqual([])
  })
  test('manner 26: then says what is waited for and since when, in place, until the first word', async () => {
    const terminal = new Terminal(20)
    const sign = new BusySign(terminal)
    await beats(sign, 20)
    expect(terminal.lines).toEqual([expect.stringMatching(/^\S asking the clust~$/)])
    sign.stop()
    await beats(sign, 20)
    expect(terminal.lines).toEqual([])
    expect(terminal.isCursorShown).toBe(true)
  })
  test('for how long is counted in beats, ten a second', async () => {
    const terminal = new Terminal()
    await beats(new BusySign(terminal), 650)
    expect(terminal.lines).toEqual([expect.stringMatching(/^\S asking the cluster, for 1m5s$/)])
  })
})
