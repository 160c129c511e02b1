// OLM is played for each row of what a real one did: more than 3 s of processor time.
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type CatalogSource,
  type ClusterServiceVersion,
  ClusterServiceVersions,
  type HyperConverged,
  HyperConvergeds,
  type InstallPlan,
  InstallPlans,
  type OperatorCondition,
  OperatorConditions,
  PackageManifests,
  type Subscription,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { type Job, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../src/lib/kube/object.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { clusterByOlm, ref } from '../lib/simulator/hyperconverged/by-olm.ts'
import { csvName } from '../lib/simulator/olm/lifecycle.ts'
import { between, playHop, playOlm, recordedHops, statesOf } from './olm-play.ts'
import { type Line, readOlmTranscript } from './read.ts'

const hop = { from: csvName('1.17.3'), to: csvName('1.18.1') }

async function simulatedHop(): Promise<Line[]> {
  const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
  await playHop(olm, hop)
  return olm.lines
}

interface Hop {
  from: string
  to: string
}

/** The steps of the plan that installs a CSV, once it has them. */
function stepsOf(lines: readonly Line[], csv: string): Named[] {
  const plans = lines.flatMap(({ object }) => (object?.kind === 'InstallPlan' ? [object as InstallPlan] : []))
  const plan = plans.find(
    ({ spec, status }) =>
      spec?.clusterServiceVersionNames?.includes(csv) === true && status?.plan !== undefined,
  )
  return (plan?.status?.plan ?? []).map(({ resource: { kind = '', name = '' } = {} }) => ({ kind, name }))
}

interface Named {
  kind: string
  name: string
}

const rolesOf = (steps: readonly Named[]): string[] =>
  steps.flatMap(({ kind, name }) => (kind.endsWith('Role') ? [name] : []))

const hashed = /^kubevirt-hyperconverged-(?:o?-)[0-9A-Za-z]{36,38}$/

const withoutHashes = (steps: readonly Named[]): string[] =>
  steps.map(({ kind, name }) => `${kind} ${hashed.test(name) ? 'hashed' : name}`).toSorted(byText)

const byText = (a: string, b: string): number => a.localeCompare(b)

/** CSV and CRDs, and then account by account, whose order is left to chance. */
function groupsOf(steps: readonly Named[]): string[] {
  const [first = '', ...accounts] = steps
    .map(({ kind }) => kind)
    .join()
    .split(',ServiceAccount')
  return [first, ...accounts.toSorted(byText)]
}

describe('plan contents', () => {
  test('60 steps, the same as recorded: CSV, CRDs, accounts, roles under hashed names of 63 letters', async () => {
    const recorded = stepsOf(readOlmTranscript('scenarios-manual'), hop.to)
    const simulated = stepsOf(await simulatedHop(), hop.to)
    expect(recorded).toHaveLength(60)
    expect(withoutHashes(simulated)).toEqual(withoutHashes(recorded))
    expect(groupsOf(simulated)).toEqual(groupsOf(recorded))
    for (const steps of [recorded, simulated]) {
      expect(rolesOf(steps)).toHaveLength(19)
      expect(rolesOf(steps).filter((name) => !hashed.test(name) || name.length !== 63)).toEqual([])
    }
  })

  test('50 steps of a release before v1.8', async () => {
    const olm = await playOlm(okdOlm())
    const simulated = stepsOf(olm.lines, csvName('1.17.3'))
    const recorded = stepsOf(readOlmTranscript('chain-manual'), csvName('1.17.3'))
    expect(recorded).toHaveLength(50)
    expect(withoutHashes(simulated)).toEqual(withoutHashes(recorded))
  })
})

const csvState = ({ status }: ClusterServiceVersion): string =>
  `${status?.phase ?? ''}/${status?.reason ?? ''}`

/** Where a CSV was, from when it was made to when it was Succeeded for the first time. */
function installation(lines: readonly Line[], csv: string): { at: number; is: string }[] {
  const states = statesOf(lines, { kind: 'ClusterServiceVersion', name: csv }, csvState)
  const end = states.findIndex(({ is }) => is.startsWith('Succeeded/'))
  return states.slice(0, end + 1)
}

/** When what happened in a hop, in seconds since its plan is Installing. */
function timesOf(lines: readonly Line[], { from, to }: Hop): Record<string, number> {
  const plan = lines.find(
    ({ object }) =>
      object?.kind === 'InstallPlan' &&
      (object as InstallPlan).spec?.clusterServiceVersionNames?.includes(to) === true,
  )?.object?.metadata.name
  const of = { kind: 'InstallPlan', name: plan ?? '' }
  const phases = statesOf<InstallPlan>(lines, of, ({ status }) => status?.phase)
  const old = statesOf(lines, { kind: 'ClusterServiceVersion', name: from }, csvState)
  const named = lines.find(
    ({ object }) => object?.kind === 'Subscription' && (object as Subscription).status?.installedCSV === to,
  )
  const csv = installation(lines, to)
  const begun = phases.find(({ is }) => is === 'Installing')?.at ?? NaN
  const times = {
    'the CSV is made': csv[0]?.at,
    'its requirements are met': csv.find(({ is }) => is.startsWith('InstallReady'))?.at,
    'the plan is Complete': phases.find(({ is }) => is === 'Complete')?.at,
    'the Subscription names the CSV': named && named.t / 1000,
    'the old CSV is Replacing': old.find(({ is }) => is.startsWith('Replacing'))?.at,
    'the old CSV is gone': old.find(({ is }) => is === 'gone')?.at,
  }
  return Object.fromEntries(Object.entries(times).map(([what, at]) => [what, (at ?? NaN) - begun]))
}

const recordedOnes = () =>
  recordedHops.map(({ recording, span, from, to }) => ({
    from,
    to,
    lines: between(readOlmTranscript(recording), ...span),
  }))

/** The CRDs that plans wait for at a time. */
const awaitedIn = (lines: readonly Line[]): Set<string> =>
  new Set(
    lines.flatMap(({ object }) => {
      const steps = object?.kind === 'InstallPlan' ? ((object as InstallPlan).status?.plan ?? []) : []
      const awaiting = steps.filter(({ status }) => status === 'WaitingForApi')
      return awaiting.length === 0 ? [] : [awaiting.map(({ resource }) => resource?.name ?? '').join()]
    }),
  )

describe("order of a plan's steps", () => {
  test('the CSV is the first step, and the plan is Installing for 13 to 61 s', async () => {
    const simulated = timesOf(await simulatedHop(), hop)
    const recorded = recordedOnes().map((one) => timesOf(one.lines, one))
    const all = [...recorded, simulated]
    for (const times of all) {
      expect(times['the CSV is made']).toBeLessThan(5)
      expect(times['the plan is Complete']).toBeGreaterThan(13)
      expect(times['the plan is Complete']).toBeLessThan(61)
    }
  })

  test('nothing takes longer than it was recorded to', async () => {
    const simulated = timesOf(await simulatedHop(), hop)
    const recorded = recordedOnes().map((one) => timesOf(one.lines, one))
    for (const [what, at] of Object.entries(simulated)) {
      const most = Math.max(...recorded.map((times) => times[what] ?? NaN))
      expect({ what, at, isIn: at > 0 && at <= most }).toEqual({ what, at, isIn: true })
    }
  })

  test('kinds of new CRDs are waited for while the CSV gets on, and only those are', async () => {
    const real = recordedOnes().find(({ to }) => to === hop.to)
    const recorded = awaitedIn(real?.lines ?? [])
    expect(recorded).toEqual(
      new Set(['inflightoperations.ifo.kubevirt.io,operationrulesets.ifo.kubevirt.io']),
    )
    expect(awaitedIn(await simulatedHop())).toEqual(recorded)
  })
})

describe('CSV start', () => {
  test('Pending/RequirementsNotMet for 3 to 30 s, the same states as recorded', async () => {
    const simulated = installation(await simulatedHop(), hop.to)
    const recorded = recordedOnes().map((one) => installation(one.lines, one.to))
    expect(recorded.map(wordsOf)).toContainEqual(wordsOf(simulated))
    const missing = simulated.find(({ is }) => is === 'Pending/RequirementsNotMet')?.at ?? NaN
    const met = simulated.find(({ is }) => is.startsWith('InstallReady'))?.at ?? NaN
    expect(met - missing).toBeGreaterThanOrEqual(3)
    expect(met - missing).toBeLessThanOrEqual(30)
  })
})

/** Where a plan is, and whether its steps tell of what was carried out; nothing before they are there. */
function carriedOut({ status }: InstallPlan): string | undefined {
  const { phase, plan = [] } = status ?? {}
  if (phase === undefined || phase === '') return undefined
  return `${phase} ${plan.every((step) => step.status === 'Unknown') ? 'none' : 'its CSV'}`
}

const wordsOf = (states: readonly { is: string }[]): string[] => states.map(({ is }) => is)

/** What became of the plan of a hop, and how its Subscription stands in the end. */
const toldOf = (lines: readonly Line[], plan: string) => ({
  plan: wordsOf(statesOf(lines, { kind: 'InstallPlan', name: plan }, carriedOut)),
  csv: wordsOf(statesOf(lines, { kind: 'ClusterServiceVersion', name: hop.to }, csvState)),
  end: lines.findLast(({ object }) => object?.kind === 'Subscription')?.object as Subscription,
})

describe('plan fails', () => {
  test('its CSV exists and is named, and a delete makes no other plan', async () => {
    const recorded = between(readOlmTranscript('chain-manual'), 804, 1087)
    const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
    olm.faults.set({ planFailed: 'error validating existing CRs against new CRD schema' })
    await olm.until('there is a plan', () => olm.plans()[1]?.status?.phase === 'RequiresApproval')
    await olm.clock.sleep(2000)
    await olm.approve(olm.plans()[1])
    await olm.until('it failed', () => olm.plans()[1]?.status?.phase === 'Failed')
    olm.faults.set({ planFailed: undefined })
    await olm.clock.sleep(70_000)
    const name = olm.plans()[1]?.metadata.name ?? ''
    await olm.writer.delete(InstallPlans, olm.plans()[1]!.metadata)
    await olm.clock.sleep(140_000)
    const real = toldOf(recorded, 'install-6jjcv')
    const simulated = toldOf(olm.lines, name)
    expect(simulated.plan).toEqual(real.plan)
    expect(simulated.csv).toEqual(real.csv)
    for (const { end } of [real, simulated]) {
      expect(end.status).toMatchObject({ state: 'AtLatestKnown', installedCSV: hop.to, currentCSV: hop.to })
      expect(condition(end, 'InstallPlanMissing')).toMatchObject({
        status: 'True',
        reason: 'ReferencedInstallPlanNotFound',
      })
    }
    expect(olm.plans()).toHaveLength(1)
  })
})

const namespace = 'kubevirt-hyperconverged'
const ours = { kind: 'Subscription', name: 'hco-operatorhub' }

/** Another operator of the namespace, whose Subscription has nothing to do. */
const other = {
  package: 'other-operator',
  channel: 'stable',
  approval: 'Manual',
  installed: '0.1.0',
  entries: [{ name: 'other-operator.v0.1.0', version: '0.1.0' }],
} as const

async function hopWithOther(): Promise<Line[]> {
  const olm = await playOlm(okdOlm({ channel: 'stable-v1.18', others: [other] }))
  await playHop(olm, hop)
  return olm.lines
}

/** The reasons that a condition has had on a Subscription one after the other; `none` where it was not there. */
const reasonsOf = (lines: readonly Line[], of: { kind: string; name: string }, type: string) =>
  statesOf<Subscription>(lines, of, (one) => {
    const said = condition(one, type)
    return said?.status === 'True' ? (said.reason ?? '') : 'none'
  })

const conditionsOf = (lines: readonly Line[], type: string) =>
  lines.flatMap(({ object }) =>
    object?.kind === 'Subscription' ? (condition(object as Subscription, type) ?? []) : [],
  )

describe('ResolutionFailed in a hop', () => {
  test('on every Subscription of the namespace, without a time, until the old CSV is gone', async () => {
    const simulated = await hopWithOther()
    for (const name of ['hco-operatorhub', 'other-operator']) {
      const states = wordsOf(reasonsOf(simulated, { kind: 'Subscription', name }, 'ResolutionFailed'))
      expect(states).toEqual(['none', 'ConstraintsNotSatisfiable', 'none'])
    }
    for (const { lines } of recordedOnes())
      expect(wordsOf(reasonsOf(lines, ours, 'ResolutionFailed'))).toContain('ConstraintsNotSatisfiable')
    for (const lines of [simulated, ...recordedOnes().map((one) => one.lines)])
      for (const said of conditionsOf(lines, 'ResolutionFailed')) {
        expect(said.lastTransitionTime).toBeUndefined()
        expect(said.message).toMatch(
          /clusterserviceversion \S+ exists and is not referenced by a subscription/,
        )
      }
  })

  test('it names the old CSV beside the new one, in the words of the recordings', async () => {
    const recorded = new Set(recordedOnes().flatMap((one) => wordsOfHop(one.lines)))
    const simulated = new Set(wordsOfHop(await hopWithOther()))
    expect(simulated.size).toBe(1)
    for (const words of simulated) expect(recorded).toContain(words)
  })
})

/** What is said of the resolution, without versions and the way to the catalog. */
const wordsOfHop = (lines: readonly Line[]): string[] =>
  conditionsOf(lines, 'ResolutionFailed').map(({ message = '' }) =>
    message
      .replaceAll(/\d+[.]\d+[.]\d+/gu, 'N')
      .replaceAll(/\S+\/(?=kubevirt-hyperconverged-operator)/gu, ''),
  )

/** From the end of the old CSV to that of the condition, in seconds; undefined where it stayed. */
function staleFor(lines: readonly Line[], { from }: Hop): number | undefined {
  const gone = statesOf(lines, { kind: 'ClusterServiceVersion', name: from }, csvState).at(-1)
  const after = reasonsOf(lines, ours, 'ResolutionFailed').at(-1)
  return gone?.is === 'gone' && after?.is === 'none' ? after.at - gone.at : undefined
}

/** A hop behind which no other event comes. */
const stale = async () => {
  const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
  olm.faults.set({ resolutionStale: true })
  await playHop(olm, hop)
  const failed = () => condition(olm.subscription(), 'ResolutionFailed')?.status === 'True'
  expect(failed()).toBe(true)
  return { olm, failed }
}

describe('resolving again', () => {
  test('that the old CSV went is no event: the condition ends up to 14 s later', async () => {
    const recorded = recordedOnes().flatMap((one) => staleFor(one.lines, one) ?? [])
    const simulated = staleFor(await simulatedHop(), hop)
    expect(recorded.length).toBeGreaterThan(4)
    for (const seconds of [...recorded, simulated]) {
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(15)
    }
  })

  test('where no other event comes, it is stale until the resync after 15 minutes', async () => {
    const { olm, failed } = await stale()
    const took = await olm.until('it looks again', () => !failed())
    expect(took / 60_000).toBeGreaterThan(13)
    expect(took / 60_000).toBeLessThanOrEqual(15)
  })

  test('an annotation of the Subscription is an event: within seconds, as it was recorded', async () => {
    const { olm, failed } = await stale()
    await olm.clock.sleep(60_000)
    const metadata = { annotations: { x: '1' } }
    await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, { metadata })
    const took = await olm.until('it looks again', () => !failed())
    const lines = between(readOlmTranscript('scenarios-manual'), 1749.5, 1753)
    const recorded = reasonsOf(lines, ours, 'ResolutionFailed').find(({ is }) => is === 'none')?.at ?? NaN
    expect(took / 1000).toBeLessThanOrEqual(recorded - 1749.5)
  })

  test('what cannot be satisfied is not tried again', async () => {
    const olm = await playOlm(okdOlm({ channel: 'unknown' }))
    await olm.until('it is said', () => condition(olm.subscription(), 'ResolutionFailed') !== undefined)
    const [before] = [olm.lines.length]
    await olm.clock.sleep(600_000)
    expect(olm.lines.slice(before)).toEqual([])
  })
})

/** When there are two plans, of the first: its phase, that of its CSV, and which of them the Subscription refers to. */
function atSecond(lines: readonly Line[], csv: string): unknown {
  const names: string[] = []
  let phase = ''
  let of = ''
  for (const { object } of lines) {
    const { name = '' } = object?.metadata ?? {}
    if (object?.kind === 'InstallPlan' && !names.includes(name)) names.push(name)
    if (object?.kind === 'InstallPlan' && name === names[0])
      phase = (object as InstallPlan).status?.phase ?? ''
    if (object?.kind === 'ClusterServiceVersion' && name === csv) of = csvState(object)
    if (object?.kind !== 'Subscription' || names.length < 2) continue
    const { installPlanRef, state } = (object as Subscription).status ?? {}
    if (installPlanRef?.name === names[1]) return { phase, of, state }
  }
  return undefined
}

describe('next plan', () => {
  test('it comes while the plan before is Installing and its CSV has not its requirements: installPlanRef moves on', async () => {
    const all = okdOlm().channels.flatMap(({ entries }) => entries)
    const olm = await playOlm(
      okdOlm({ channel: 'all', channels: [{ name: 'all', entries: all }], installed: '1.19.0' }),
    )
    const { metadata, spec, apiVersion, kind } = olm.subscription()
    const { name } = metadata
    await olm.writer.delete(Subscriptions, metadata)
    await olm.writer.delete(ClusterServiceVersions, { name: csvName('1.19.0'), namespace })
    for (const plan of olm.plans()) await olm.writer.delete(InstallPlans, plan.metadata)
    await olm.until('it is gone', () => olm.csv(csvName('1.19.0')) === undefined)
    olm.lines.length = 0
    const startingCSV = csvName('1.17.3')
    await olm.writer.create(Subscriptions, {
      apiVersion,
      kind,
      metadata: { name, namespace },
      spec: { ...spec, startingCSV },
    })
    await olm.until('there is a plan', () => olm.plans()[0]?.status?.phase === 'RequiresApproval')
    await olm.approve(olm.plans()[0])
    await olm.until('there is the next', () => olm.plans().length === 2)
    await olm.clock.sleep(3000)
    const recorded = between(readOlmTranscript('real-hco'), 0, 60)
    const expected = { phase: 'Installing', of: 'Pending/RequirementsUnknown', state: 'UpgradePending' }
    expect(atSecond(recorded, csvName('1.17.3'))).toEqual(expected)
    expect(atSecond(olm.lines, csvName('1.17.3'))).toEqual({ ...expected, of: 'Pending/RequirementsNotMet' })
  })
})

/** Seconds from a plan that waits to the end of the condition; Infinity where it does not end. */
function staysFor(lines: readonly Line[]): number {
  const plan = lines.find(
    ({ object }) =>
      object?.kind === 'InstallPlan' && (object as InstallPlan).status?.phase === 'RequiresApproval',
  )
  const begun = (plan?.t ?? NaN) / 1000
  const states = reasonsOf(lines, ours, 'BundleUnpacking')
  return (states.find(({ at, is }) => at > begun && is === 'none')?.at ?? Infinity) - begun
}

describe('BundleUnpacking', () => {
  test('True/UnpackingInProgress and nothing else, on all Subscriptions', async () => {
    const simulated = await hopWithOther()
    const recorded = [...recordedOnes().map(({ lines }) => lines), readOlmTranscript('chain-manual')]
    for (const lines of [simulated, ...recorded])
      for (const said of conditionsOf(lines, 'BundleUnpacking'))
        expect(said).toEqual({ type: 'BundleUnpacking', status: 'True', reason: 'UnpackingInProgress' })
    for (const name of ['hco-operatorhub', 'other-operator'])
      expect(
        wordsOf(reasonsOf(simulated, { kind: 'Subscription', name }, 'BundleUnpacking')).slice(0, 2),
      ).toEqual(['UnpackingInProgress', 'none'])
  })

  test('of a Subscription alone it stays until all is resolved again, of two for some seconds', async () => {
    const alone = between(readOlmTranscript('chain-manual'), 537, 949)
    const ofTwo = between(readOlmTranscript('scenarios-manual'), 200, 300)
    const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
    await olm.until('there is a plan', () => olm.plans().length === 2)
    await olm.clock.sleep(600_000)
    expect([staysFor(alone), staysFor(olm.lines)]).toEqual([Infinity, Infinity])
    for (const lines of [ofTwo, await hopWithOther()]) expect(staysFor(lines)).toBeLessThan(5)
  })
})

describe('InstallPlanPending', () => {
  test('it flaps: RequiresApproval once more while Installing, Installing once more after Complete', async () => {
    const recorded = recordedOnes().map(({ lines }) => wordsOf(reasonsOf(lines, ours, 'InstallPlanPending')))
    const simulated = wordsOf(reasonsOf(await simulatedHop(), ours, 'InstallPlanPending'))
    const flapping = [
      'RequiresApproval',
      'Installing',
      'RequiresApproval',
      'Installing',
      'none',
      'Installing',
      'none',
    ]
    expect(recorded.map((one) => one.slice(-7))).toContainEqual(flapping)
    expect(simulated.slice(-7)).toEqual(flapping)
  })
})

describe('Failed CSV', () => {
  test('for a second or so, and then Pending/NeedsReinstall from the start, as recorded', async () => {
    const name = csvName('1.17.5')
    const real = statesOf(
      between(readOlmTranscript('scenarios-manual'), 1363, 1400),
      { kind: 'ClusterServiceVersion', name },
      csvState,
    )
    const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
    olm.faults.set({ csvFails: true })
    await olm.until('there is a plan', () => olm.plans()[1]?.status?.phase === 'RequiresApproval')
    await olm.approve(olm.plans()[1])
    await olm.clock.sleep(400_000)
    const states = statesOf(olm.lines, { kind: 'ClusterServiceVersion', name: hop.to }, csvState)
    const failed = states.findIndex(({ is }) => is === 'Failed/InstallCheckFailed')
    expect(wordsOf(states.slice(failed - 1, failed + 5))).toEqual(wordsOf(real))
    const [from, to] = [states[failed]?.at ?? NaN, states[failed + 1]?.at ?? NaN]
    expect(to - from).toBeLessThanOrEqual(1)
  })
})

describe('after Succeeded', () => {
  test('a bundle with webhooks goes once more through Pending/NeedsCertRotation, within 16 s', async () => {
    const states = statesOf(await simulatedHop(), { kind: 'ClusterServiceVersion', name: hop.to }, csvState)
    const first = states.findIndex(({ is }) => is === 'Succeeded/InstallSucceeded')
    const after = states.slice(first)
    expect(wordsOf(after)).toEqual([
      'Succeeded/InstallSucceeded',
      'Pending/NeedsCertRotation',
      'InstallReady/AllRequirementsMet',
      'Installing/InstallSucceeded',
      'Succeeded/InstallSucceeded',
    ])
    expect((after.at(-1)?.at ?? NaN) - (after[0]?.at ?? NaN)).toBeLessThanOrEqual(16)
  })

  test('a bundle without them does not', async () => {
    const olm = await playOlm(okdOlm({ others: [other] }))
    await olm.clock.sleep(60_000)
    const reasons = olm.csv('other-operator.v0.1.0')?.status?.conditions?.map(({ reason }) => reason)
    expect(reasons).toContain('InstallSucceeded')
    expect(reasons).not.toContain('NeedsCertRotation')
  })
})

/** What a Subscription says of the update that it has in view. */
const inView = ({ status = {} }: Subscription): string =>
  [status.state, status.currentCSV, status.installPlanRef?.name && 'a plan']
    .map((one) => one ?? 'none')
    .join()

describe('waiting plan deleted', () => {
  test('state, currentCSV and installPlanRef go at once, and it is resolved anew', async () => {
    const recorded = between(readOlmTranscript('scenarios-manual'), 1970, 2086)
    const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
    await olm.until('there is a plan', () => olm.subscription().status?.state === 'UpgradePending')
    await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
      spec: { channel: 'stable-v1.17' },
    })
    await olm.clock.sleep(5000)
    await olm.writer.delete(InstallPlans, olm.plans()[1]!.metadata)
    await olm.clock.sleep(60_000)
    await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
      spec: { channel: 'stable-v1.18' },
    })
    await olm.until('there is another', () => olm.subscription().status?.state === 'UpgradePending')
    for (const lines of [recorded, olm.lines]) {
      const states = wordsOf(statesOf(lines, ours, inView)).slice(-3)
      expect(states.map((one) => one.replaceAll(/v1\.\d+\.\d+/gu, 'N'))).toEqual([
        'UpgradePending,kubevirt-hyperconverged-operator.N,a plan',
        'none,none,none',
        'UpgradePending,kubevirt-hyperconverged-operator.N,a plan',
      ])
      expect(wordsOf(reasonsOf(lines, ours, 'InstallPlanMissing'))).toEqual(['none'])
    }
  })
})

/** What Subscriptions say of catalogs, each once. */
const ofCatalogs = (lines: readonly Line[]) => {
  const said = lines.flatMap(({ object }) => {
    if (object?.kind !== 'Subscription') return []
    const { catalogHealth = [] } = (object as Subscription).status ?? {}
    const { status, reason } = condition(object as Subscription, 'CatalogSourcesUnhealthy') ?? {}
    return [`${catalogHealth.map(({ healthy }) => String(healthy)).join()} ${status} ${reason}`]
  })
  return [...new Set(said)]
}

describe('catalog unreachable', () => {
  test('connectionState alone says so: Subscriptions go on to say healthy; PackageManifests go', async () => {
    const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
    await olm.until('there is a plan', () => olm.subscription().status?.state === 'UpgradePending')
    olm.lines.length = 0
    olm.faults.set({ catalogNotReady: true })
    await olm.clock.sleep(60_000)
    await olm.writer.mergePatch(Subscriptions, olm.subscription().metadata, {
      metadata: { annotations: { x: '1' } },
    })
    await olm.clock.sleep(10_000)
    const recorded = between(readOlmTranscript('scenarios-manual'), 1864.6, 1937)
    expect(ofCatalogs(recorded)).toEqual(['true False AllCatalogSourcesHealthy'])
    expect(ofCatalogs(olm.lines)).toEqual(ofCatalogs(recorded))
    for (const lines of [recorded, olm.lines]) {
      expect(wordsOf(reasonsOf(lines, ours, 'ResolutionFailed'))).toEqual(['none'])
      const states = statesOf<CatalogSource>(
        lines,
        { kind: 'CatalogSource', name: 'community-operators' },
        ({ status }) => status?.connectionState?.lastObservedState,
      )
      expect(states.at(-1)?.is).toBe('TRANSIENT_FAILURE')
    }
    expect(olm.store.list(PackageManifests).items).toEqual([])
  })
})

describe('unpack Jobs', () => {
  test('there while a bundle is unpacked, and gone 300 s after it', async () => {
    const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
    await olm.until('there is a plan', () => olm.plans().length === 2)
    await olm.clock.sleep(400_000)
    const name = olm.lines.find(({ object }) => object?.kind === 'Job')?.object?.metadata.name ?? ''
    const states = statesOf<Job>(olm.lines, { kind: 'Job', name }, (job) =>
      condition(job, 'Complete')?.status === 'True' ? 'Complete' : 'there',
    )
    expect(wordsOf(states)).toEqual(['there', 'Complete', 'gone'])
    const [, complete, gone] = states
    expect(Math.round((gone?.at ?? NaN) - (complete?.at ?? NaN))).toBeGreaterThanOrEqual(299)
    expect(Math.round((gone?.at ?? NaN) - (complete?.at ?? NaN))).toBeLessThanOrEqual(301)
  })
})

/** What an OperatorCondition says of Upgradeable while HyperConverged itself says no, each once. */
function saidInDip(lines: readonly Line[]): string[] {
  const said = new Set<string>()
  let own = ''
  let isDip = false
  for (const { object } of lines) {
    if (object?.kind === 'OperatorCondition')
      own =
        (object as OperatorCondition).spec?.conditions?.find(({ type }) => type === 'Upgradeable')?.status ??
        ''
    if (object?.kind === 'HyperConverged')
      isDip = condition(object as HyperConverged, 'Upgradeable')?.status === 'False'
    if (isDip) said.add(own)
  }
  return [...said]
}

describe('OperatorCondition in the dip', () => {
  test('it stays True while HyperConverged is Upgradeable=False', async () => {
    const recorded = between(readOlmTranscript('real-hco'), 1310, 1440)
    const cluster = await clusterByOlm()
    const lines: Line[] = []
    for (const kind of [HyperConvergeds, OperatorConditions])
      for (const object of cluster.store.list(kind).items) lines.push({ t: 0, type: 'ADDED', object })
    for (const kind of [HyperConvergeds, OperatorConditions])
      cluster.store.watch(kind, ({ type, object }) => lines.push({ t: 1, type, object }))
    const spec = { workloadUpdateStrategy: { workloadUpdateMethods: [] } }
    await cluster.writer.mergePatch(HyperConvergeds, ref, { spec })
    await cluster.clock.sleep(120_000)
    expect(saidInDip(recorded)).toEqual(['True'])
    expect(saidInDip(lines)).toEqual(['True'])
  })
})

describe('pods of virt-template', () => {
  test('they bear no label kubevirt.io, unlike those of virt-api', async () => {
    const simulated = await simulate({ clock: new SimClock(), version: 'v1.9.0' })
    onTestFinished(() => simulated.stop())
    const labelsOf = (prefix: string) =>
      simulated.store
        .list(Pods)
        .items.filter(({ metadata }) => metadata.name.startsWith(prefix))
        .map(({ metadata }) => metadata.labels?.['kubevirt.io'])
    expect(labelsOf('virt-template-').length).toBeGreaterThan(1)
    expect(new Set(labelsOf('virt-template-'))).toEqual(new Set([undefined]))
    expect(new Set(labelsOf('virt-api-'))).toEqual(new Set(['virt-api']))
  })
})

/** What stands in a test of this name holds the row. */
type Row = readonly [row: string, name: string]

/** The rows of "Simulated OLM against the real one" and what holds each. */
const rows: readonly Row[] = [
  ['ResolutionFailed in a hop', 'on every Subscription of the namespace'],
  ['resolving again', 'where no other event comes, it is stale until the resync after 15 minutes'],
  ["order of a plan's steps", 'the CSV is the first step'],
  ['CSV start', 'Pending/RequirementsNotMet for 3 to 30 s'],
  ['plan fails', 'its CSV exists and is named, and a delete makes no other plan'],
  ['waiting plan deleted', 'state, currentCSV and installPlanRef go at once'],
  ['next plan', 'it comes while the plan before is Installing'],
  ['BundleUnpacking', 'True/UnpackingInProgress and nothing else'],
  ['InstallPlanPending', 'it flaps'],
  ['Failed CSV', 'for a second or so'],
  ['after Succeeded', 'a bundle with webhooks goes once more'],
  ['catalog unreachable', 'connectionState alone says so'],
  ['plan contents', '60 steps, the same as recorded'],
  ['unpack Jobs', 'there while a bundle is unpacked'],
  ['OperatorCondition in the dip after `hold`', 'it stays True while HyperConverged'],
  ['pods of virt-template', 'they bear no label kubevirt.io'],
]

test('all rows are listed, each once', () => {
  expect(new Set(rows.map(([row]) => row)).size).toBe(16)
  expect(rows).toHaveLength(16)
})

test.each(rows)('%s is held by a test that is there', (_row, name) => {
  const text = fs.readFileSync(path.join(import.meta.dirname, 'olm-rows.test.ts'), 'utf8')
  expect(text).toContain(`test('${name}`)
})
