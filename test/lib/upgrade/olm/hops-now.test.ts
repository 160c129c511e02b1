import { expect, test } from 'vitest'
import type { ClusterServiceVersion, InstallPlan } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { operatorVersionOf } from '../../../../src/lib/releases/release-versions.ts'
import { HopsNow, type HopsSnapshot } from '../../../../src/lib/upgrade/methods/olm-procedure.ts'
import type { OlmPart } from '../../../../src/lib/upgrade/methods/olm-plan.ts'
import fixture from './hops-now.json' with { type: 'json' }

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`

function part(versions: readonly string[], more: Partial<OlmPart> = {}): OlmPart {
  const entries = versions.flatMap((text) => {
    const version = operatorVersionOf(text)
    return version ? [{ csv: csv(text), version }] : []
  })
  return { ...(fixture.part as unknown as OlmPart), offered: [{ name: 'stable', entries }], ...more }
}

interface Snapshot {
  installed: string
  offers?: string
  operandsAt?: string
  phase?: string
  good?: boolean
  /** A CSV that replaces the one that is installed, and which the Subscription does not name yet. */
  replacedBy?: string
}

const made = (kind: string, rest: object) => ({
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind,
  ...rest,
})

/** OLM as one look shows it. */
function scene(snapshot: Snapshot): HopsSnapshot {
  const { installed, offers, operandsAt = installed, phase = 'Succeeded', good = true, replacedBy } = snapshot
  const plan = made('InstallPlan', {
    metadata: { name: 'install-a' },
    spec: { clusterServiceVersionNames: [csv(offers ?? '')], approved: false },
    status: { phase: 'RequiresApproval' },
  }) as InstallPlan
  return {
    subscription: {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: 'hco' },
      spec: { channel: 'stable' },
      status: { installedCSV: csv(installed) },
    },
    csvs: [
      made('ClusterServiceVersion', {
        metadata: { name: csv(installed) },
        status: { phase },
      }) as ClusterServiceVersion,
      ...(replacedBy === undefined
        ? []
        : [
            made('ClusterServiceVersion', {
              metadata: { name: csv(replacedBy) },
              spec: { replaces: csv(installed) },
              status: { phase: 'Pending' },
            }) as ClusterServiceVersion,
          ]),
    ],
    operandsAt,
    good,
    ...(offers !== undefined && { plan }),
  }
}

const ids = (hops: HopsNow, snapshot: Snapshot) => hops.all(scene(snapshot)).map(({ label }) => label)
const offered = ['4.18.9', '4.18.13', '4.19.8']

test('the target, where OLM has not said anything yet', () => {
  expect(ids(new HopsNow(part(offered), 0), { installed: '4.18.9' })).toEqual(['4.19.8'])
})

test('what OLM offers on the way comes first, and the target is begun anew behind it', () => {
  const hops = new HopsNow(part(offered), 0)
  expect(ids(hops, { installed: '4.18.9' })).toEqual(['4.19.8'])
  expect(ids(hops, { installed: '4.18.9', offers: '4.18.13' })).toEqual(['4.18.13', '4.19.8-after-4.18.13'])
  expect(ids(hops, { installed: '4.18.13', operandsAt: '4.18.9' })).toEqual([
    '4.18.13',
    '4.19.8-after-4.18.13',
  ])
  expect(ids(hops, { installed: '4.18.13' })).toEqual(['4.18.13', '4.19.8-after-4.18.13'])
})

test('resumed elsewhere in the middle of a hop, that hop is gone to its end', () => {
  const resumed = new HopsNow(part(offered), 0)
  expect(ids(resumed, { installed: '4.18.13', operandsAt: '4.18.9' })).toEqual(['4.18.13', '4.19.8'])
  const pending = new HopsNow(part(offered), 0)
  expect(ids(pending, { installed: '4.19.8', operandsAt: '4.18.13', phase: 'Installing' })).toEqual([
    '4.19.8',
  ])
})

test('ocp 9.7: the target that is said to be there is gone to its end as long as not all is well; what is behind it is not', () => {
  const resumed = new HopsNow(part(offered), 0)
  expect(ids(resumed, { installed: '4.19.8', good: false })).toEqual(['4.19.8'])
  expect(ids(resumed, { installed: '4.19.8' })).toEqual(['4.19.8'])
  expect(ids(new HopsNow(part(offered), 0), { installed: '4.19.8' })).toEqual([])
  expect(ids(new HopsNow(part(offered), 0), { installed: '4.18.13', good: false })).toEqual(['4.19.8'])
})

test('olm-real 7: the Subscription names the new CSV later: the one that is replaced is no hop any more', () => {
  const hops = new HopsNow(part(offered), 0)
  expect(ids(hops, { installed: '4.18.9', offers: '4.18.13' })).toEqual(['4.18.13', '4.19.8'])
  expect(ids(hops, { installed: '4.18.9', replacedBy: '4.18.13', phase: 'Replacing' })).toEqual([
    '4.18.13',
    '4.19.8',
  ])
  const resumed = new HopsNow(part(offered), 0)
  expect(ids(resumed, { installed: '4.18.9', replacedBy: '4.19.8', phase: 'Replacing' })).toEqual(['4.19.8'])
})

test('what lies beyond the target, or behind, is not on the way', () => {
  expect(ids(new HopsNow(part(offered), 0), { installed: '4.18.9', offers: '4.20.1' })).toEqual(['4.19.8'])
  expect(ids(new HopsNow(part(offered), 0), { installed: '4.18.9', offers: '4.18.2' })).toEqual(['4.19.8'])
})

test('from a catalog file, those that are left of it', () => {
  const hops = [
    { csv: csv('4.18.13'), version: '4.18.13' },
    { csv: csv('4.19.8'), version: '4.19.8', channel: 'stable-4.19' },
  ]
  const certain = part([], { certain: true, hops })
  expect(ids(new HopsNow(certain, 0), { installed: '4.18.9' })).toEqual(['4.18.13', '4.19.8'])
  const [left] = new HopsNow(certain, 0).all(scene({ installed: '4.18.13' }))
  expect(left).toMatchObject({ version: '4.19.8', channel: 'stable-4.19', mayPassOthers: false })
})
