import { describe, expect, test } from 'vitest'
import { timeOfDay } from '../../../src/lib/output/age.ts'
import { displayWidth } from '../../../src/lib/output/text.ts'
import { renderLive } from '../../../src/lib/output/progress/live-view.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { progressFailed, progressOf } from '../../../src/lib/output/progress/run-progress.ts'
import { at, stalledEvents, steps, upgradeEvents, waitingForHandler } from './upgrade-events.ts'

const plain = paintFor({ colour: false, unicode: true })
const ascii = paintFor({ colour: false, unicode: false })
const now = new Date(at('13:14'))
const frame = (columns = 80, rows = 24, paint = plain) =>
  renderLive(progressOf(upgradeEvents), now, { columns, rows }, paint)

describe('the live view', () => {
  test('shows how far it is, a line for each stage, and what the one at work does', () => {
    expect(frame()).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0 on prod-eu  ███████░░░░░░░ 53 %  3 m 12 s, 1–4 min left",
        " ✔ Prepare          automatic VM updates paused",
        " ✔ Operator         CRDs and RBAC installed                             1 m 11 s",
        " ▸ virt-handler     ███░░░ 13 of 20 nodes   node-14 restarting, then 6 more",
        "   virt-controller",
        "   virt-api         consoles and VNC drop once",
        "   Verify           stable for 30 s, then automatic VM updates resume",
        "Ctrl-C ends kvup; what has begun goes on. The same command continues.",
      ]
    `)
  })

  test('is cut to 20 columns and never wraps', () => {
    const lines = frame(20)
    expect(lines).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v…",
        "53 %  3 m 12 s",
        " ✔ Prepare automati…",
        " ✔ Operator CRDs an…",
        " ▸ virt-handler 13 …",
        "     node-14",
        "       restarting,",
        "       then 6 more",
        "   virt-controller",
        "   virt-api console…",
        "   Verify stable fo…",
        "Ctrl-C ends kvup;",
        "  what has begun",
        "  goes on. The same",
        "  command continues.",
      ]
    `)
    expect(lines.every((line) => displayWidth(line) <= 20)).toBe(true)
  })

  test('folds what is done, then what is to come, where rows are few', () => {
    expect(frame(80, 8)).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0 on prod-eu  ███████░░░░░░░ 53 %  3 m 12 s, 1–4 min left",
        " ✔ Prepare          automatic VM updates paused",
        " ✔ Operator         CRDs and RBAC installed                             1 m 11 s",
        " ▸ virt-handler     ███░░░ 13 of 20 nodes   node-14 restarting, then 6 more",
        "   virt-controller",
        "   virt-api         consoles and VNC drop once",
        "   Verify           stable for 30 s, then automatic VM updates resume",
      ]
    `)
    expect(frame(80, 5)).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0 on prod-eu  ███████░░░░░░░ 53 %  3 m 12 s, 1–4 min left",
        " ✔ 2 done",
        " ▸ virt-handler     ███░░░ 13 of 20 nodes   node-14 restarting, then 6 more",
        "   … 3 more",
      ]
    `)
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 24])('leaves a row of %i free', (rows) => {
    expect(frame(80, rows).length).toBeLessThanOrEqual(Math.max(1, rows - 1))
  })

  test('keeps to ASCII where the locale asks for it', () => {
    const lines = frame(60, 24, ascii)
    expect(lines.join('')).toMatch(/^[ -~]*$/)
    expect(lines).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 -> v1.9.0 on prod-eu",
        "############............ 53 %  3 m 12 s, 1-4 min left",
        " + Prepare          automatic VM updates paused",
        " + Operator         CRDs and RBAC installed         1 m 11 s",
        " > virt-handler     #######..... 13 of 20 nodes",
        "     node-14 restarting, then 6 more",
        "   virt-controller",
        "   virt-api         consoles and VNC drop once",
        "   Verify           stable for 30 s, then automatic VM upda~",
        "Ctrl-C ends kvup; what has begun goes on. The same command",
        "  continues.",
      ]
    `)
  })

  test('says why a step is stalled and what helps, and gives no estimate then', () => {
    const lines = renderLive(
      progressOf(stalledEvents),
      new Date(at('13:41')),
      { columns: 100, rows: 24 },
      plain,
    )
    expect(lines).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0 on prod-eu                          █████░░░░░░░░░░░░░░░░░░░ 22 %  3 m 39 s",
        " ✔ Prepare          automatic VM updates paused",
        " ✖ Operator         STALLED for 2 m 11 s",
        "   virt-handler",
        "   virt-controller",
        "   virt-api         consoles and VNC drop once",
        "   Verify           stable for 30 s, then automatic VM updates resume",
        "  cannot pull quay.io/kubevirt/virt-operator:v1.9.10: not found",
        "  → kvup upgrade --to v1.9.1",
        "  → kvup upgrade --to v1.8.4",
        "Ctrl-C ends kvup; what has begun goes on. The same command continues.",
      ]
    `)
  })

  test('a failed run leaves the step at work marked as failed', () => {
    const run = progressFailed(progressOf(upgradeEvents), at('13:20'))
    expect(renderLive(run, now, { columns: 80, rows: 24 }, plain)).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0 on prod-eu      ████████████░░░░░░░░░░░░ 53 %  3 m 18 s",
        " ✔ Prepare          automatic VM updates paused",
        " ✔ Operator         CRDs and RBAC installed                             1 m 11 s",
        " ✖ virt-handler     ███████░░░░░ 13 of 20 nodes  not finished",
        "   virt-controller",
        "   virt-api         consoles and VNC drop once",
        "   Verify           stable for 30 s, then automatic VM updates resume",
      ]
    `)
  })

  test('colours come after cutting: no sequence is torn', () => {
    const coloured = renderLive(
      progressOf(upgradeEvents),
      now,
      { columns: 10, rows: 24 },
      paintFor({ colour: true, unicode: true }),
    )
    // oxlint-disable-next-line no-control-regex
    const stripped = coloured.map((line) => line.replace(/\u001b\[\d+m/g, ''))
    expect(stripped).toEqual(frame(10))
    expect(coloured.join('')).not.toEqual(stripped.join(''))
  })

  test('text of the cluster cannot move the cursor', () => {
    const title = 'virt-handler\u001b[2J\u001b]0;owned\u0007\n\u202eevil'
    const evil = { ...steps.handler, title, part: title }
    const run = progressOf([
      { kind: 'run-started', at: at('10:02'), procedure: 'p\u001b[31m', steps: [evil] },
    ])
    const text = renderLive(run, now, { columns: 80, rows: 24 }, plain).join('\n')
    expect(text).toContain('virt-handler evil')
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/)
  })
})

test('what stands in the way is shown in full, however narrow it is, and before it counts as a stall', () => {
  const waiting = waitingForHandler(at('13:14'), 13, 'node-14 (ImagePullBackOff)')
  if (waiting.kind !== 'step-waiting' || waiting.state.is !== 'waiting') throw new Error('a waiting event')
  const trouble = 'virt-handler on node-14 cannot pull quay.io/kubevirt/virt-handler:v1.9.0: not found'
  const run = progressOf([...upgradeEvents, { ...waiting, state: { ...waiting.state, trouble } }])
  const lines = renderLive(run, now, { columns: 60, rows: 24 }, plain)
  expect(lines.slice(-4)).toEqual([
    '  virt-handler on node-14 cannot pull',
    '    quay.io/kubevirt/virt-handler:v1.9.0: not found',
    'Ctrl-C ends kvup; what has begun goes on. The same command',
    '  continues.',
  ])
})

test('40 columns: what is waited for is shown whole, with the version at its end', () => {
  const waiting = waitingForHandler(
    at('13:14'),
    13,
    'ClusterServiceVersion kubevirt-hyperconverged-operator.v4.19.14',
  )
  const run = progressOf([...upgradeEvents, waiting])
  const lines = renderLive(run, now, { columns: 39, rows: 24 }, plain)
  expect(lines.every((line) => displayWidth(line) <= 39)).toBe(true)
  expect(lines.join('').replaceAll(/\s/gu, '')).toContain('kubevirt-hyperconverged-operator.v4.19.14')
  expect(lines).toContain(' ▸ virt-handler 13 of 20 nodes')
})

test('a command that helps is shown whole, to be pasted', () => {
  const remedy = [
    'kubectl -n openshift-cnv describe clusterserviceversions kubevirt-hyperconverged-operator.v4.19.14',
  ]
  const stalled = stalledEvents.at(-1)
  if (stalled?.kind !== 'step-waiting' || stalled.state.is !== 'stalled') throw new Error('a stall')
  const run = progressOf([...stalledEvents, { ...stalled, state: { ...stalled.state, remedy } }])
  const lines = renderLive(run, now, { columns: 79, rows: 24 }, plain)
  expect(lines.join('\n').replaceAll(/ \\\n */gu, ' ')).toContain(remedy[0])
})

describe('when it gives up', () => {
  const waited = waitingForHandler(at('13:14'), 13, 'node-14 restarting')
  if (waited.kind !== 'step-waiting') throw new Error('a waiting event')
  const shownAt = (time: string, until: string) =>
    renderLive(
      progressOf([...upgradeEvents.slice(0, -2), { ...waited, until: at(until) }]),
      new Date(at(time)),
      { columns: 79, rows: 24 },
      plain,
    ).filter((line) => line.includes('gives up'))

  test('is not said while that is far', () => expect(shownAt('20:00', '59:00')).toEqual([]))
  test('is said in its last five minutes, as a time', () =>
    expect(shownAt('55:00', '59:00')).toEqual([`  gives up at ${timeOfDay(at('59:00')).slice(0, 5)}`]))
  test('or in its last fifth, where it has less', () => {
    expect(shownAt('14:00', '15:14')).toEqual([])
    expect(shownAt('15:00', '15:14')).toHaveLength(1)
  })
})

test('with --verbose each step is a line, by its own name', () => {
  const lines = renderLive(progressOf(upgradeEvents), now, { columns: 99, rows: 24, verbose: true }, plain)
  expect(lines.slice(1, -1)).toMatchInlineSnapshot(`
    [
      " ✔ pause automatic VM updates   automatic VM updates paused",
      " ✔ virt-operator                done                                                           38 s",
      " ✔ install CRDs and RBAC        CRDs and RBAC installed                                        33 s",
      " ▸ virt-handler                 ███████░░░░░ 13 of 20 nodes   node-14 restarting, then 6 more",
      "   virt-controller",
      "   virt-api                     consoles and VNC drop once",
      "   verify                       stable for 30 s",
      "   resume automatic VM updates  automatic VM updates resume",
    ]
  `)
})

test.each([40, 80, 120])(
  '%i columns: every state has a shape or a word of its own, without colour',
  (columns) => {
    const size = { columns: columns - 1, rows: 24 }
    const running = renderLive(progressOf(upgradeEvents), now, size, plain)
    const stalled = renderLive(progressOf(stalledEvents), new Date(at('13:41')), size, plain)
    const failed = renderLive(progressFailed(progressOf(upgradeEvents), at('13:20')), now, size, plain)
    expect(running).toContainEqual(expect.stringMatching(/^ ✔ Prepare/u))
    expect(running).toContainEqual(expect.stringMatching(/^ ▸ virt-handler .*13 of 20 nodes/u))
    expect(running).toContainEqual(expect.stringMatching(/^ {3}virt-api/u))
    expect(stalled.join('\n')).toMatch(/ ✖ Operator +STALLED for 2 m 11 s/u)
    expect(failed.join('\n')).toMatch(/ ✖ virt-handler [^\n]*not finished/u)
    expect([...running, ...stalled, ...failed].every((line) => displayWidth(line) < columns)).toBe(true)
  },
)

test('120 columns: the wide terminal is used', () => {
  expect(frame(119)).toMatchInlineSnapshot(`
    [
      "KubeVirt v1.8.4 → v1.9.0 on prod-eu                               ████████████░░░░░░░░░░░░ 53 %  3 m 12 s, 1–4 min left",
      " ✔ Prepare          automatic VM updates paused",
      " ✔ Operator         CRDs and RBAC installed                                                                    1 m 11 s",
      " ▸ virt-handler     ███████░░░░░ 13 of 20 nodes   node-14 restarting, then 6 more",
      "   virt-controller",
      "   virt-api         consoles and VNC drop once",
      "   Verify           stable for 30 s, then automatic VM updates resume",
      "Ctrl-C ends kvup; what has begun goes on. The same command continues.",
    ]
  `)
})

test('40 columns: what happens stands below its stage, whole', () => {
  expect(frame(39)).toMatchInlineSnapshot(`
    [
      "KubeVirt v1.8.4 → v1.9.0 on prod-eu",
      "█████░░░░░ 53 %  3 m 12 s, 1–4 min left",
      " ✔ Prepare automatic VM updates paused",
      " ✔ Operator CRDs and RBAC installed",
      " ▸ virt-handler 13 of 20 nodes",
      "     node-14 restarting, then 6 more",
      "   virt-controller",
      "   virt-api consoles and VNC drop once",
      "   Verify stable for 30 s, then automa…",
      "Ctrl-C ends kvup; what has begun goes",
      "  on. The same command continues.",
    ]
  `)
})
