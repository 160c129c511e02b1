import { describe, expect, test } from 'vitest'
import { newControllerLeads } from '../../src/lib/kubevirt/lease-holders.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { rolloutTimes } from '../../src/lib/kubevirt/rollout-times.ts'
import type { Snapshot } from '../../src/lib/kubevirt/snapshot.ts'
import { assessRollout, type RolloutStatus } from '../../src/lib/kubevirt/rollout-status.ts'
import { parseVersion } from '../../src/lib/releases/release-versions.ts'
import {
  applyManifest,
  operatorRolled,
  type ReleaseManifest,
} from '../../src/lib/upgrade/methods/operator-manifest.ts'
import {
  componentRolled,
  installStrategy,
  newControllerAtWork,
  settledFor,
} from '../../src/lib/upgrade/steps/component-rollout.ts'
import { setImageTag } from '../../src/lib/upgrade/methods/image-tag.ts'
import { timeRange } from '../../src/lib/upgrade/upgrade-duration.ts'
import { type Moment, moments, transcript } from './to-snapshots.ts'

/**
 * Updates of the real virt-operator that went through. badtag is left out: what was waited for there was a person, and its way back
 * rolls nothing. The kubelets were played ones, which start a pod in 1 to 5 s.
 */
const cases = [
  { name: 'operator-v1.7.0-v1.8.4', change: /^kubectl apply/, method: 'operator-manifest' },
  { name: 'workloads-v1.7.0-v1.8.4', change: /^operator manifest/, method: 'operator-manifest' },
  { name: 'oldop-v1.7.0-v1.8.4', change: /^kubectl apply/, method: 'operator-manifest' },
  { name: 'imagetag-v1.7.0-v1.8.4', change: /^patch spec.imageTag v1.8.4/, method: 'image-tag' },
] as const

const to = 'v1.8.4'
const components = ['virt-handler', 'virt-controller', 'virt-api'] as const
const owner = { kind: KubeVirts, ref: { name: 'kubevirt', namespace: 'kubevirt' }, uid: 'uid' }
const noManifest: ReleaseManifest = {
  load: () => Promise.reject(new Error('nothing is applied here')),
}

/** What was done in the recording: no methods were held, and nothing had to stay settled. */
function stepsOf(method: (typeof cases)[number]['method']) {
  const wanted = { from: 'v1.7.0', tag: to, operator: to }
  return [
    ...(method === 'image-tag'
      ? [setImageTag(owner, wanted)]
      : [applyManifest(noManifest), operatorRolled(owner, to)]),
    installStrategy(owner, { version: to, undo: 'none' }),
    ...components.map((name) =>
      componentRolled(owner, { name, version: to, undo: 'none', expectedMs: 19_000 }),
    ),
    settledFor(owner, { id: 'healthy', title: 'settle', version: to, stableMs: 0 }),
    newControllerAtWork(owner),
  ]
}

/** When each step was done, as it would have seen it; s after the change. */
function doneIn(all: readonly Moment[], method: string): Map<string, number> {
  const began = all[0]?.line.t ?? 0
  const done = new Map<string, number>()
  for (const { line, snapshot } of all) {
    const observed = assessRollout(snapshot, new Date(line.at))
    for (const [id, is] of Object.entries(marks(observed, snapshot, method)))
      if (is && !done.has(id)) done.set(id, (line.t - began) / 1000)
  }
  return done
}

function marks(read: RolloutStatus, snapshot: Snapshot, method: string): Record<string, boolean> {
  const { operator, target, observed, verdict } = read
  const aimed = target.version === to
  const rolled = components.map((name) => {
    const found = read.components.find((component) => component.name === name)
    return [name, aimed && found?.state === 'current'] as const
  })
  return {
    ...(method === 'operator-manifest' && {
      'virt-operator': operator?.version === to && operator.rolled && operator.leads === true,
    }),
    'install-strategy': aimed && read.components.some(({ applied }) => applied),
    ...Object.fromEntries(rolled),
    healthy: verdict === 'Healthy' && observed.version === to,
    'virt-controller-leads': observed.version === to && newControllerLeads(snapshot) === true,
  }
}

const width = ({ lowSeconds, highSeconds }: { lowSeconds: number; highSeconds: number }) =>
  highSeconds - lowSeconds

describe.each(cases)('$name', ({ name, change, method }) => {
  const all = [...moments(transcript(name), { leases: 'from events' })]
  const at = all.findIndex(({ line }) => change.test(line.note ?? ''))
  const before = all[at]?.snapshot
  if (before === undefined) throw new Error('the change is not in the transcript')
  const done = doneIn(all.slice(at), method)
  const took = Math.max(...done.values())
  const range = timeRange(stepsOf(method), rolloutTimes(before, parseVersion(to)), { whole: [], spans: [] })

  test('what it really took lies in the range', () => {
    expect(took).toBeGreaterThan(40)
    expect(took).toBeGreaterThanOrEqual(range.lowSeconds)
    expect(took).toBeLessThanOrEqual(range.highSeconds)
  })

  test('each step lies in its own', () => {
    const lasted = [...done].map(([id, end], index, ends) => ({
      id,
      lasted: end - (ends[index - 1]?.[1] ?? 0),
    }))
    const outside = lasted.filter(({ id, lasted: s }) => {
      const { lowSeconds = Number.NaN, highSeconds = Number.NaN } = range.steps.get(id) ?? {}
      return !(s >= lowSeconds && s <= highSeconds)
    })
    expect(lasted.length).toBeGreaterThanOrEqual(5)
    expect(outside).toEqual([])
  })

  test('it comes from the pods of the installation, and neither end is five times off', () => {
    expect(range.basis).toBe('own-pods')
    expect(range.lowSeconds).toBeGreaterThan(took / 5)
    expect(range.highSeconds).toBeLessThan(took * 5)
  })

  test('the same update again: virt-handler was rolled now, which tells more than its pods', () => {
    const after = all.at(-1)?.snapshot ?? before
    const again = timeRange(stepsOf(method), rolloutTimes(after), { whole: [], spans: [] })
    expect(took).toBeGreaterThanOrEqual(again.lowSeconds)
    expect(took).toBeLessThanOrEqual(again.highSeconds)
    expect(again.steps.get('virt-handler')?.basis).toBe('own-rollouts')
    expect(width(again)).toBeLessThanOrEqual(width(range))
  })

  test('where its pods may not be read it guesses: too slow for played kubelets, whose pods have no readiness probes', () => {
    const blind: Snapshot = { ...before, pods: { known: false, why: 'forbidden' } }
    const guess = timeRange(stepsOf(method), rolloutTimes(blind), { whole: [], spans: [] })
    expect(guess.basis).toBe('guess')
    expect(took).toBeLessThan(guess.lowSeconds)
  })
})
