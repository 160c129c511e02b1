import { describe, expect, test } from 'vitest'
import { LiveView } from '../../../src/lib/output/progress/live-view.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { Terminal } from './terminal.ts'
import { at, stalledEvents, upgradeEvents, waitingForHandler } from './upgrade-events.ts'

const paint = paintFor({ colour: true, unicode: true })

function open(width = 80, height = 24) {
  const terminal = new Terminal(width, height)
  terminal.write('$ kvup upgrade\n')
  const view = new LiveView(terminal, new SimClock(at('13:14')), paint)
  return { terminal, view }
}

describe('the live view on a terminal', () => {
  test('is drawn in place: one frame is on the screen however often it changed', () => {
    const { terminal, view } = open()
    for (const event of upgradeEvents) {
      view.event(event)
      view.tick()
    }
    expect(terminal.lines).toHaveLength(9)
    expect(terminal.lines[0]).toBe('$ kvup upgrade')
    expect(terminal.lines[1]).toMatch(/^KubeVirt v1.8.4 → v1.9.0 on prod-eu .* 53 %  3 m 12 s, /)
    expect(terminal.lines[4]).toMatch(/^ ▸ virt-handler .* node-14 restarting, then 6 more$/)
  })

  test('a hundred events between two beats are one frame', () => {
    const { terminal, view } = open()
    upgradeEvents.forEach((event) => view.event(event))
    view.tick()
    const frames = terminal.written.length
    for (let n = 0; n < 100; n++) view.event(waitingForHandler(at('13:20'), 13, `node-${n}`))
    view.tick()
    view.tick()
    expect(terminal.written.length - frames).toBe(1)
  })

  test('an unchanged run is drawn once a second, for its elapsed time', () => {
    const { terminal, view } = open()
    upgradeEvents.forEach((event) => view.event(event))
    view.tick()
    const frames = terminal.written.length
    for (let n = 0; n < 20; n++) view.tick()
    expect(terminal.written.length - frames).toBe(2)
  })

  test.each([
    [40, 24],
    [20, 48],
    [30, 6],
    [120, 40],
    [20, 4],
  ])('survives a resize to %i columns and %i rows', (columns, rows) => {
    const { terminal, view } = open()
    upgradeEvents.forEach((event) => view.event(event))
    view.tick()
    terminal.resize(columns, rows)
    view.tick()
    const headers = terminal.lines.filter((line) => line.startsWith('KubeVirt v1.'))
    // Where the reflowed frame was higher than the terminal, its top has scrolled out of reach.
    expect(headers.length).toBeLessThanOrEqual(rows >= 24 ? 1 : 2)
    expect(terminal.lines.join(' ')).toMatch(/virt-handler/)
    expect(terminal.lines.every((line) => line.length <= columns)).toBe(true)
  })

  test('notes stay above the region', () => {
    const { terminal, view } = open()
    upgradeEvents.forEach((event) => view.event(event))
    view.above(() => terminal.write('warning: slow\n'))
    view.tick()
    expect(terminal.lines[1]).toBe('warning: slow')
    expect(terminal.lines).toHaveLength(10)
  })

  test('hides the cursor while it draws and gives it back at the end, in failure and while suspended', () => {
    const { terminal, view } = open()
    stalledEvents.forEach((event) => view.event(event))
    expect(terminal.isCursorShown).toBe(false)
    view.suspend()
    expect(terminal.isCursorShown).toBe(true)
    expect(terminal.lines).toEqual(['$ kvup upgrade'])
    view.resume()
    expect(terminal.isCursorShown).toBe(false)
    view.close(true)
    expect(terminal.isCursorShown).toBe(true)
    expect(terminal.lines.some((line) => line.startsWith(' ✖ Operator'))).toBe(true)
  })

  test('an interruption is no failure: the stage at work keeps its shape, and is not finished', () => {
    const { terminal, view } = open()
    upgradeEvents.forEach((event) => view.event(event))
    view.close()
    expect(terminal.lines).toContainEqual(
      expect.stringMatching(/^ ▸ virt-handler .* 13 of 20 nodes {2}not finished$/),
    )
    expect(terminal.lines.join(' ')).not.toMatch(/✖|Ctrl-C/)
  })

  test('manner 27: a crash gives the cursor back and leaves what was drawn', () => {
    const { terminal, view } = open()
    upgradeEvents.forEach((event) => view.event(event))
    view.release()
    view.release()
    expect(terminal.isCursorShown).toBe(true)
    expect(terminal.lines[1]).toMatch(/^KubeVirt v1/)
  })
})
