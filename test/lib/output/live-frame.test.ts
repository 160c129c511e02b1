import { describe, expect, test } from 'vitest'
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
  test('shows elapsed and left, each step, and last what is waited for', () => {
    expect(frame()).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0                            3m12s · 1–3 min left",
        " ✔ hold workload updates         kept LiveMigrate",
        " ✔ virt-operator                 2/2  38s",
        " ✔ install strategy, CRDs, RBAC  33s",
        " ▸ virt-handler                  ███████░░░░░  13/20  2m",
        "   virt-controller",
        "   virt-api",
        "   give workload updates back",
        "waiting for virt-handler on node-14 (ContainerCreating, 9s)",
        "  for 9s, until 08:10:02",
      ]
    `)
  })

  test('is cut to 20 columns and never wraps', () => {
    const lines = frame(20)
    expect(lines).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.…  3m12s",
        " ✔ hold wo… kept Li…",
        " ✔ virt-operator 2/2",
        " ✔ install stra… 33s",
        " ▸ virt-handl… 13/20",
        "   virt-controller",
        "   virt-api",
        "   give workload up…",
        "waiting for",
        "  virt-handler on",
        "  node-14",
        "  (ContainerCreating",
        ",",
        "  9s)",
        "  for 9s",
      ]
    `)
    expect(lines.every((line) => displayWidth(line) <= 20)).toBe(true)
  })

  test('folds what is done, then what is to come, where rows are few', () => {
    expect(frame(80, 8)).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0                            3m12s · 1–3 min left",
        " ✔ 3 done",
        " ▸ virt-handler                  ███████░░░░░  13/20  2m",
        "   virt-controller",
        "   … 2 more",
        "waiting for virt-handler on node-14 (ContainerCreating, 9s)",
        "  for 9s, until 08:10:02",
      ]
    `)
    expect(frame(80, 5)).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0                            3m12s · 1–3 min left",
        " ▸ virt-handler                  ███████░░░░░  13/20  2m",
        "waiting for virt-handler on node-14 (ContainerCreating, 9s)",
        "  for 9s, until 08:10:02",
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
        "KubeVirt v1.8.4 -> v1.9.0               3m12s - 1-3 min left",
        " + hold workload updates         kept LiveMigrate",
        " + virt-operator                 2/2  38s",
        " + install strategy, CRDs, RBAC  33s",
        " > virt-handler                  #######.....  13/20  2m",
        "   virt-controller",
        "   virt-api",
        "   give workload updates back",
        "waiting for virt-handler on node-14 (ContainerCreating, 9s)",
        "  for 9s, until 08:10:02",
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
        "KubeVirt v1.8.4 → v1.9.0                  3m39s · stalled since 07:11:30",
        " ✔ hold workload updates         kept LiveMigrate",
        " ✔ virt-operator                 2/2  38s",
        " ✖ install strategy, CRDs, RBAC  stalled 2m11s",
        "   virt-handler",
        "   virt-controller",
        "   virt-api",
        "   give workload updates back",
        "stalled on pod kubevirt-5f3c-job, for 2m11s, until 08:10:02",
        "  cannot pull quay.io/kubevirt/virt-operator:v1.9.10: not found",
        "  → kvup upgrade --to v1.9.1",
        "  → kvup upgrade --to v1.8.4",
      ]
    `)
  })

  test('a failed run leaves the step at work marked as failed', () => {
    const run = progressFailed(progressOf(upgradeEvents), at('13:20'))
    expect(renderLive(run, now, { columns: 80, rows: 24 }, plain)).toMatchInlineSnapshot(`
      [
        "KubeVirt v1.8.4 → v1.9.0                                           3m18s",
        " ✔ hold workload updates         kept LiveMigrate",
        " ✔ virt-operator                 2/2  38s",
        " ✔ install strategy, CRDs, RBAC  33s",
        " ✖ virt-handler                  ███████░░░░░  13/20  not finished",
        "   virt-controller",
        "   virt-api",
        "   give workload updates back",
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
    const evil = { ...steps.handler, title: 'virt-handler\u001b[2J\u001b]0;owned\u0007\n\u202eevil' }
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
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(/^ {2}for \d+s, until /),
    '  virt-handler on node-14 cannot pull',
    '    quay.io/kubevirt/virt-handler:v1.9.0: not found',
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
  expect(lines.slice(-5).join('').replaceAll(/\s/gu, '')).toContain(
    'kubevirt-hyperconverged-operator.v4.19.14',
  )
  expect(lines.at(-1)).toMatch(/^ {2}for \d+s, until \d\d:\d\d:\d\d$/u)
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
