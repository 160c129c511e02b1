import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { ApiFault } from './api-faults.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import type { OlmFaults } from '../../src/simulator/olm/olm-context.ts'
import type { OperatorFaults } from '../../src/simulator/virt-operator/virt-operator-context.ts'
import { olmWays } from './olm-stall-ways.ts'
import fixture from './stall-rows.json' with { type: 'json' }
import { byManifest, byTag, second, type Stage } from './stage.ts'

/** Switches a fault on; the answer switches it off. */
export type Way = (stage: Stage) => () => void

/** A fault, and what kvup has to say of it. */
export interface StallRow {
  name: string
  shape: Omit<Simulation, 'clock'>
  to: string
  on: Way
  /** More of the command line. */
  flags?: readonly string[]
  /** The API server is asked through its faults. */
  shaky?: true
  code: number
  /** Object and cause, in what the upgrade says and, where a look can tell, in what status says. */
  says: readonly RegExp[]
  /** `upgrade`: only who was there knows it. */
  knownTo: 'upgrade' | 'both'
  /** Commands that have to be among the printed ones. */
  prints: readonly RegExp[]
  /** It is not as bad from its beginning on. */
  turns?: true
  /** The way back has to work while the fault is on. */
  backInTrouble?: true
}

const inCluster =
  (faults: OperatorFaults): Way =>
  ({ simulated }) => {
    const off = Object.fromEntries(Object.keys(faults).map((name) => [name, undefined]))
    simulated.faults.set(faults)
    return () => simulated.faults.set(off)
  }

const inApi =
  (fault: ApiFault): Way =>
  ({ api }) =>
    api.add(fault)

const later =
  (ms: number, on: Way): Way =>
  (stage) => {
    let off: (() => void) | undefined
    stage.later(ms, () => (off = on(stage)))
    return () => off?.()
  }

/** Its node is tainted as soon as the first new virt-handler is ready. */
const taintedBehindCanary: Way = ({ simulated: { store, faults } }) => {
  const stop = store.watch(Pods, ({ object }) => {
    const { metadata, spec, status }: Pod = object
    const isNew = metadata.annotations?.['kubevirt.io/install-strategy-version'] === 'v1.8.4'
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
    if (metadata.labels?.['kubevirt.io'] !== 'virt-handler' || !isNew || !isReady) return
    stop()
    queueMicrotask(() => faults.set({ tainted: [spec?.nodeName ?? ''] }))
  })
  return () => {
    stop()
    faults.set({ tainted: undefined })
  }
}

/** What an upgrade begins on, and where it goes. */
const upgrades = {
  tag: { shape: { ...byTag, workers: 3 }, to: 'v1.8.4' },
  unreleased: { shape: { ...byTag, version: 'v1.8.4' }, to: 'v1.8.5' },
  manifest: { shape: { ...byManifest, workers: 2 }, to: 'v1.9.0' },
  olm: { shape: { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }, to: '1.18.1' },
} as const

/**
 * A row as stall-rows.json has it: patterns as texts, flags as one line. Without `--timeout` it is 3 m; 5 m where what may heal holds it up, which is stalled after
 * two minutes; 13 m where it is stalled without a word, which takes ten.
 */
interface WrittenRow extends Pick<StallRow, 'name' | 'shaky' | 'turns' | 'backInTrouble'> {
  by?: keyof typeof upgrades
  flags?: string
  code?: number
  knownTo?: 'upgrade'
  /** Faults of what runs in the cluster. */
  cluster?: OperatorFaults & OlmFaults
  api?: ApiFault
  /** It comes on so many seconds later, or in such a way. */
  after?: number
  way?: keyof typeof olmWays | 'taintedBehindCanary'
  says: readonly string[]
  prints: readonly string[]
}

function wayOf({ cluster = {}, api, after, way }: WrittenRow): Way {
  if (way === 'taintedBehindCanary') return taintedBehindCanary
  const on = api ? inApi(api) : inCluster(cluster)
  if (way !== undefined) return olmWays[way](on)
  return after === undefined ? on : later(after * second, on)
}

const patterns = (texts: readonly string[]) => texts.map((text) => new RegExp(text, 'u'))

function rowOf(written: WrittenRow): StallRow {
  const { by = 'tag', flags = '--timeout 3m', says, prints, ...rest } = written
  return {
    code: 4,
    knownTo: 'both',
    ...rest,
    ...upgrades[by],
    flags: flags.split(' '),
    on: wayOf(written),
    says: patterns(says),
    prints: patterns(prints),
  }
}

/** By the name of the fault; several rows where one fault has several faces. */
export const stallRows: Readonly<Record<string, readonly StallRow[]>> = Object.fromEntries(
  Object.entries(fixture as unknown as Record<string, WrittenRow[]>).map(([fault, rows]) => [
    fault,
    rows.map(rowOf),
  ]),
)
