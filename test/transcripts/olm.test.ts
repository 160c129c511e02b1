import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { type Known, notAsked } from '../../src/lib/kube/known.ts'
import type {
  CatalogSource,
  ClusterServiceVersion,
  HyperConverged,
  InstallPlan,
  OperatorCondition,
  OperatorGroup,
  Subscription,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { type Layers, layersOf, type LayersSnapshot } from '../../src/lib/openshift/layers.ts'
import { unreadPlatform } from '../../src/lib/openshift/platform-status.ts'
import { assessResolution } from '../../src/lib/openshift/olm-resolution.ts'
import { type Line, readOlmTranscript } from './read.ts'

const known = <T>(items: readonly T[]): Known<T> => ({ known: true, items })

/** The cluster as the events up to a line have made it. */
class Folded {
  readonly #objects = new Map<string, KubeObject>()

  take({ type, object }: Line): void {
    if (object === undefined) return
    const key = `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`
    if (type === 'DELETED') this.#objects.delete(key)
    else this.#objects.set(key, object)
  }

  #all<T extends KubeObject>(kind: string, namespace?: string): T[] {
    return [...this.#objects.values()].filter(
      (one): one is T =>
        one.kind === kind && (namespace === undefined || one.metadata.namespace === namespace),
    )
  }

  snapshot(): LayersSnapshot {
    const namespace = 'kubevirt-hyperconverged'
    const subscriptions = this.#all<Subscription>('Subscription')
    return {
      platform: { ...unreadPlatform, clusterVersion: known([]) },
      lifecycle: {
        namespace,
        subscriptions: known(
          subscriptions.filter(({ spec }) => spec?.name === 'community-kubevirt-hyperconverged'),
        ),
        clusterExtensions: known([]),
        installPlans: known(this.#all<InstallPlan>('InstallPlan', namespace)),
        csvs: known(this.#all<ClusterServiceVersion>('ClusterServiceVersion', namespace)),
        operatorGroups: known(this.#all<OperatorGroup>('OperatorGroup', namespace)),
        operatorConditions: known(this.#all<OperatorCondition>('OperatorCondition', namespace)),
        catalogSources: known(this.#all<CatalogSource>('CatalogSource')),
        packageManifests: notAsked,
      },
      hyperConverged: known(this.#all<HyperConverged>('HyperConverged')),
    }
  }
}

interface Judged {
  /** Seconds since the start of the recording. */
  t: number
  layers: Layers
  /** Of HyperConverged's own Subscription. */
  resolution: string | undefined
}

function judge(name: string): Judged[] {
  const folded = new Folded()
  return readOlmTranscript(name).flatMap((line) => {
    folded.take(line)
    if (line.at === undefined || line.object === undefined) return []
    const at = new Date(line.at)
    const snapshot = folded.snapshot()
    const { subscriptions, csvs } = snapshot.lifecycle
    const [subscription] = subscriptions.known ? subscriptions.items : []
    const kubevirt = { is: 'unknown', why: 'not judged here' } as const
    const layers = layersOf(snapshot, { kubevirt, overridesAreOpen: false }, at)
    const resolution = subscription && assessResolution(subscription, csvs, at)?.is
    return [{ t: line.t / 1000, layers, resolution }]
  })
}

const isFault = ({ layers }: Judged): boolean => ['Degraded', 'Stalled'].includes(layers.overall.verdict)

const because = ({ layers }: Judged): string => layers.overall.because ?? ''

/** From when to when what is said, in seconds, one after the other. */
function spans(judged: readonly Judged[], says: (one: Judged) => string | undefined): string[] {
  const found: { what: string; from: number; to: number }[] = []
  let before: string | undefined
  for (const one of judged) {
    const what = says(one)
    const last = found.at(-1)
    if (before !== undefined && last) last.to = one.t
    if (what !== undefined && what !== before) found.push({ what, from: one.t, to: one.t })
    before = what
  }
  return found.map(({ what, from, to }) => `${from.toFixed(0)}-${to.toFixed(0)} ${what}`)
}

/** What was recorded, when in it (seconds), and whether somebody has to do something about it. */
type Situation = readonly [name: string, from: number, to: number]

interface Recorded {
  /** Its first second lists what there was, object by object. */
  begins?: number
  healthy: readonly Situation[]
  faults: readonly (readonly [...Situation, because: RegExp])[]
}

const resolution = /^Subscription: ResolutionFailed \(ConstraintsNotSatisfiable\)$/
const catalog = /^catalog: community-operators is TRANSIENT_FAILURE$/

const recorded: Readonly<Record<string, Recorded>> = {
  'chain-manual': {
    healthy: [
      ['installation of 1.17.0', 0, 344],
      ['hop to 1.17.3', 491, 540],
      ['hop to 1.18.0', 575, 692],
      ['the condition is stale for 175 s, until OLM looks again', 631, 804],
      ['the plan of 1.18.1 takes effect, and retried', 806, 873],
    ],
    faults: [
      [
        'the plan of 1.18.1 has failed',
        874,
        949,
        /^(InstallPlan: install-6jjcv failed|Subscription: InstallPlanFailed)/u,
      ],
      ['it is deleted, and OLM makes none again', 950, 1087, /^Subscription: InstallPlanMissing/],
      ['its CSV is deleted as well: 1.18.0 is Replacing for ever', 1088, 1180, resolution],
    ],
  },
  'scenarios-manual': {
    healthy: [
      ['installation of 1.17.0 with a second operator', 2, 189],
      ['a plan that is superseded', 308, 376],
      ['hop to 1.17.2, which its OperatorCondition holds back for 90 s', 377, 600],
      ['hop to 1.17.3, with the second operator', 731, 800],
      ['hop to 1.17.4, approved by OLM', 859, 1000],
      ['hop to 1.17.5, until its five minutes to install are over', 1023, 1362],
      ['1.17.5 is mended by hand, and 1.17.4 goes', 1639.5, 1641.4],
      ['the condition is stale for 111 s, until somebody annotates the Subscription', 1642, 1752],
      ['hop to 1.17.6', 1753, 1800],
      ['hop from 1.17.6 to 1.18.1 in another channel', 2085, 2300],
    ],
    faults: [
      ['the catalog restarts', 190, 190.6, catalog],
      ['1.17.5 is Failed, and starts again and again', 1363.5, 1473, resolution],
      ['so 1.17.6, which mends it, is kept out', 1475, 1638, resolution],
      ['the catalog is off while the plan of 1.17.7 waits', 1865, 1937, catalog],
    ],
  },
  'hop-1.18.1-1.18.2': {
    begins: 1,
    healthy: [['hop to 1.18.2', 98, 200]],
    faults: [['the catalog is off before it', 1, 1.8, catalog]],
  },
  'real-hco': { healthy: [['installation, up to the approval of 1.18.0', 0, 1500]], faults: [] },
}

test('every recording is judged', () => {
  const files = fs.readdirSync(path.join(import.meta.dirname, 'recorded-olm'))
  expect(files.toSorted()).toEqual(
    Object.keys(recorded)
      .map((name) => `${name}.ndjson.gz`)
      .toSorted(),
  )
})

describe.each(Object.entries(recorded))('%s', (recording, { begins = 0, healthy, faults }) => {
  const judged = judge(recording).filter(({ t }) => t >= begins)
  const within = (from: number, to: number) => judged.filter(({ t }) => t >= from && t <= to)

  test.each(healthy)('no fault: %s', (_name, from, to) => {
    const looks = within(from, to)
    expect(looks.length).toBeGreaterThan(0)
    expect(spans(looks, (one) => (isFault(one) ? because(one) : undefined))).toEqual([])
  })

  test.each([...faults])('a fault: %s', (_name, from, to, why) => {
    const last = judged.findLast(({ t }) => t <= from)
    const looks = last === undefined ? within(from, to) : [last, ...within(from, to)]
    expect(
      looks.map((one) => (isFault(one) ? because(one) : 'no fault')).filter((one) => !why.test(one)),
    ).toEqual([])
  })

  test('no other fault is said but of a catalog that restarts', () => {
    const listed = judged.filter(({ t }) => !faults.some(([, from, to]) => t >= from - 2 && t <= to + 2))
    expect(
      listed
        .filter(isFault)
        .map(because)
        .filter((one) => !catalog.test(one)),
    ).toEqual([])
  })
})

test('ResolutionFailed passes in each hop, and is stale where the CSV that it names is gone', () => {
  const said = Object.keys(recorded).map((name) => [name, spans(judge(name), (one) => one.resolution)])
  expect(Object.fromEntries(said)).toEqual({
    'chain-manual': [
      '505-528 passing',
      '528-539 stale',
      '581-630 passing',
      '630-805 stale',
      '811-1087 passing',
      '1087-1177 failed',
    ],
    'scenarios-manual': [
      '389-514 passing',
      '514-516 stale',
      '749-778 passing',
      '778-793 stale',
      '868-936 passing',
      '936-937 stale',
      '1025-1363 passing',
      '1363-1639 failed',
      '1639-1641 passing',
      '1641-1752 stale',
      '1756-1790 passing',
      '1790-1795 stale',
      '2091-2133 passing',
      '2133-2135 stale',
    ],
    'hop-1.18.1-1.18.2': ['106-190 passing', '190-190 stale'],
    'real-hco': [],
  })
})

test('a stale condition is told as such', () => {
  const stale = judge('chain-manual').find(({ t, resolution: is }) => t > 640 && is === 'stale')
  expect(stale?.layers.layers.find(({ layer }) => layer === 'subscription')).toMatchObject({
    verdict: 'Healthy',
    notes: [
      'ResolutionFailed is stale: OLM has not resolved again since kubevirt-hyperconverged-operator.v1.17.3 went',
    ],
  })
})
