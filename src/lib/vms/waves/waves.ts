import type { KubeObject, LabelTest } from '../../kube/object.ts'
import type { Pacing } from './pacing.ts'
import { valueAt } from '../../kube/server-side-apply.ts'
import type { VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import { guestMemory } from '../../kubevirt/snapshot.ts'
import { seconds } from '../../kube/clock.ts'
import { placeOfVm } from '../vm.ts'
import { resumeLine } from '../../engine/change.ts'
import { someOf } from '../../kube/text.ts'
import { onlyFlag, shellWord, withoutFlags, wordsOf } from '../../kube/shell-line.ts'

/** How VMs are put into waves. */
interface WavesWanted {
  order: Order
  /** Values of `--wave-by` in the order in which they are to come; the others follow by name. */
  first: readonly string[]
  /** So many before all others; 0: none. With `--canary-label` it is all that have it. */
  canaries: number
}

export interface Wave {
  /** `canary`, `wave-db`: stable while the VMs in it are, for the journal. */
  id: string
  /** Value of `--wave-by`; undefined: all in one wave, or the canary. */
  value?: string
  vms: readonly Candidate[]
}

/** What is known of the VMs before one of them is taken for a canary; `namespace/name` each. */
export interface ObservedCanaries {
  /** So many have been moved already. */
  passed: number
  /** Chosen before, and not through: one that is still under way stays the canary, one that failed is not chosen again while there are others. */
  chosen?: ReadonlySet<string>
  /** Their last migration failed: they tell nothing of the new virt-launcher. */
  failing?: ReadonlySet<string>
}

/**
 * The canary, then wave after wave; none is empty. The canary of a number is taken from those that migrate, for a restart interrupts; first
 * those that were chosen before, then those that never failed, last those that failed as a canary. Pure.
 */
export function wavesOf(
  candidates: Iterable<Candidate>,
  wanted: WavesWanted,
  observedCanaries: ObservedCanaries = { passed: 0 },
): readonly Wave[] {
  const ordered = inOrder(candidates, wanted.order)
  const canary = canariesOf(ordered, wanted, observedCanaries)
  const early = new Set(canary.map(({ vm }) => vm))
  const groups = Map.groupBy(
    ordered.filter(({ vm }) => !early.has(vm)),
    ({ wave }) => wave,
  )
  const values = [...groups.keys()].sort(
    (a, b) => byRank(rank(a, wanted.first), rank(b, wanted.first)) || (a < b ? -1 : 1),
  )
  return [
    ...(canary.length > 0 ? [{ id: 'canary', vms: canary }] : []),
    ...values.map((value) => waveOf(value, groups.get(value) ?? [])),
  ]
}

function canariesOf(
  ordered: readonly Candidate[],
  { canaries }: WavesWanted,
  { passed, chosen = new Set(), failing = new Set() }: ObservedCanaries,
): readonly Candidate[] {
  const meant = ordered.filter(({ canary }) => canary)
  if (meant.length > 0) return meant
  const left = Math.max(0, canaries - passed)
  const migrating = ordered.filter(({ by }) => by === 'migration')
  const place = ({ vm }: Candidate) => {
    if (failing.has(vm)) return chosen.has(vm) ? 3 : 2
    return chosen.has(vm) ? 0 : 1
  }
  return (migrating.length > 0 ? migrating : ordered).toSorted((a, b) => place(a) - place(b)).slice(0, left)
}

/** Those that were not named come last, the ones without a value behind them. */
function rank(value: string, first: readonly string[]): number {
  const place = first.indexOf(value)
  if (place !== -1) return place
  return value === '' ? Infinity : first.length
}

function waveOf(value: string, vms: readonly Candidate[]): Wave {
  return value === '' ? { id: 'wave', vms } : { id: `wave-${value}`, value, vms }
}

/** Infinity less Infinity is no number. */
const byRank = (a: number, b: number): number => Number(a > b) - Number(a < b)

/** What was asked of a run that takes one VM after the other. Times in ms. */
export interface WaveRunWanted {
  selection: { namespace?: string; labels?: string; node?: string }
  /** VMs that are left as they are, `namespace/name` each. */
  exclude: ReadonlySet<string>
  waves: WavesWanted
  waveBy: WaveBy
  canary?: LabelTest
  /** Label whose values are kept apart; without it the VM's own anti-affinity counts (night W4). */
  apartBy?: string
  maxFailures: number
  /** `parallel` and `perNode` are bounded by the cluster's own limits. */
  pacing: Omit<Pacing, 'perNode'>
  /** How long a restarted VM may take until it is well again. */
  backWithin: number
}

/** A VM that is to be moved or restarted, and what its turn depends on: under 200 bytes, for there may be 100,000. */
export interface Candidate {
  /** `namespace/name`, of the VM and of its VMI. */
  vm: string
  /** Of the VMI as it was seen last. */
  uid: string
  node?: string
  by: 'migration' | 'restart'
  /** Value of `--wave-by`; empty where it has none. */
  wave: string
  /** Meant by `--canary-label`. */
  canary: boolean
  /** What it must not be interrupted together with (night W4). */
  apart?: string
  /** Bytes of the guest. */
  memory: number
  /** ms since the epoch: when the VMI was made. */
  bornAt: number
  /** ms: how long the guest may take to shut down. Of a restart. */
  grace?: number
  /** Only the restart itself starts it again: were that lost, it would stay down (facts 3.4). */
  onlyOnce?: boolean
}

/** What is kept of an outdated VMI that is to be moved. Pure. */
export function candidateOf(
  vmi: VirtualMachineInstance,
  by: Candidate['by'],
  { waveBy, canary, apartBy }: Pick<WaveRunWanted, 'waveBy' | 'canary' | 'apartBy'>,
): Candidate {
  const { namespace, name, uid = '', labels } = vmi.metadata
  const apart = apartBy === undefined ? antiAffinityOf(vmi) : labels?.[apartBy]
  return {
    vm: `${namespace}/${name}`,
    uid,
    ...nodeOf(vmi),
    by,
    wave: waveValueOf(vmi, waveBy),
    canary: canary !== undefined && canary(labels),
    ...(apart !== undefined && { apart }),
    memory: guestMemory(vmi),
    bornAt: bornAt(vmi),
    ...(by === 'restart' && { grace: graceOf(vmi) }),
  }
}

const nodeOf = ({ status }: VirtualMachineInstance) => (status?.nodeName ? { node: status.nodeName } : {})
/** ms since the epoch; 0 where it does not say. */
export const bornAt = ({ metadata }: Pick<KubeObject, 'metadata'>) =>
  Date.parse(metadata.creationTimestamp ?? '') || 0

/** KV:staging/src/kubevirt.io/api/core/v1, DefaultGracePeriodSeconds. */
const usualGrace = 30

function graceOf({ spec }: VirtualMachineInstance): number {
  const given = valueAt(spec, ['terminationGracePeriodSeconds'])
  return (typeof given === 'number' ? given : usualGrace) * seconds
}

function waveValueOf({ metadata, status }: VirtualMachineInstance, by: WaveBy): string {
  if (by.is === 'label') return metadata.labels?.[by.key] ?? ''
  if (by.is === 'namespace') return metadata.namespace ?? ''
  return by.is === 'node' ? (status?.nodeName ?? '') : ''
}

interface Term {
  labelSelector?: { matchLabels?: Record<string, string> }
  podAffinityTerm?: Term
}

/** VMs that are not to share a node do one work: those that keep away from what they are themselves. */
function antiAffinityOf({ metadata, spec }: VirtualMachineInstance): string | undefined {
  const from = ['affinity', 'podAntiAffinity']
  const required = valueAt(spec, [...from, 'requiredDuringSchedulingIgnoredDuringExecution'])
  const preferred = valueAt(spec, [...from, 'preferredDuringSchedulingIgnoredDuringExecution'])
  const terms = [required, preferred].flatMap((list) => (Array.isArray(list) ? (list as Term[]) : []))
  for (const term of terms) {
    const labels = Object.entries((term.podAffinityTerm ?? term).labelSelector?.matchLabels ?? {})
    if (labels.length > 0 && labels.every(([key, value]) => metadata.labels?.[key] === value))
      return `${metadata.namespace}: ${labels.map((pair) => pair.join('=')).join()}`
  }
  return undefined
}

/** Which VM of a wave comes first. */
export const orders = ['name', 'oldest', 'newest', 'smallest', 'largest'] as const
export type Order = (typeof orders)[number]

type Compare = (a: Candidate, b: Candidate) => number

const byName: Compare = (a, b) => Number(a.vm > b.vm) - Number(a.vm < b.vm)

const compare: Readonly<Record<Order, Compare>> = {
  name: byName,
  oldest: (a, b) => a.bornAt - b.bornAt,
  newest: (a, b) => b.bornAt - a.bornAt,
  smallest: (a, b) => a.memory - b.memory,
  largest: (a, b) => b.memory - a.memory,
}

/** The same in every run: what is equal is ordered by name. Pure. */
export function inOrder(candidates: Iterable<Candidate>, order: Order): Candidate[] {
  return [...candidates].sort((a, b) => compare[order](a, b) || byName(a, b))
}

/**
 * The line that tries another canary: as it was typed, without the VMs that `failed`, and with a canary whatever it was chosen by; undefined where no other is left. `left`: those whose turn
 * is still to come; `known`: all that were to be taken. Pure.
 */
export function otherCanaryLine(
  typed: string,
  {
    failed,
    left,
    known,
  }: { failed: readonly string[]; left: readonly Candidate[]; known: readonly Candidate[] },
): string | undefined {
  if (left.length === 0 || failed.length === 0) return undefined
  const words = wordsOf(typed)
  const isLabelled = onlyFlag(words, '--canary-label').length > 0 && !left.some(({ canary }) => canary)
  // As many as had the label: of those that have moved one would be canary enough.
  const canary = isLabelled
    ? [
        ...withoutFlags(words, { valued: ['--canary-label'] }),
        '--canary',
        String(known.filter((one) => one.canary).length),
      ]
    : words
  const line = [...canary, ...failed.flatMap((vm) => ['--exclude', shellWord(vm)])].join(' ')
  return resumeLine(
    { commandLine: line },
    `tries another VM first, and leaves ${someOf(failed)} as ${failed.length === 1 ? 'it is' : 'they are'}`,
  )
}

/** By what VMs are put into waves. */
export type WaveBy = { is: 'one' } | { is: 'label'; key: string } | { is: 'namespace' } | { is: 'node' }

/** Id of the wave of those whose turn did not come in their own. */
export const lateId = 'late'

/** What a person calls a wave. */
export function waveTitle({ id, value }: Wave, by: WaveBy): string {
  if (id === 'canary') return 'canary'
  if (id === lateId) return 'VMs that had to wait'
  if (value === undefined) return by.is === 'one' ? 'VMs' : 'the other VMs'
  return by.is === 'label' ? `${by.key}=${value}` : `${by.is} ${value}`
}

/** A wave as it is told beforehand: whose turn comes when. */
export interface ShownWave {
  /** For --until and --pause-before. */
  id: string
  title: string
  /** In their order. */
  vms: readonly ShownVm[]
  /** Where VMs begin in windows alone: when its turn is expected (RFC 3339), and over how many windows it goes. */
  begins?: string
  ends?: string
  windows?: number
}

interface ShownVm {
  namespace: string
  name: string
  by: 'migration' | 'restart'
  /** Only the restart itself starts it again. */
  onlyOnce?: boolean
}

/** Waves without VMs are left out. Pure. */
export function shownWaves(
  waves: readonly Wave[],
  by: WaveBy,
  times: readonly Required<Pick<ShownWave, 'id' | 'begins' | 'ends' | 'windows'>>[] = [],
): readonly ShownWave[] {
  const shown = waves.filter(({ vms }) => vms.length > 0)
  return shown.map((wave) => shownWave(wave, by, times))
}

function shownWave(
  { id, vms, ...rest }: Wave,
  by: WaveBy,
  times: NonNullable<Parameters<typeof shownWaves>[2]>,
): ShownWave {
  const turns = vms.map(({ vm, by: how, onlyOnce }) => {
    return { ...placeOfVm(vm), by: how, ...(onlyOnce && { onlyOnce }) }
  })
  return { id, title: waveTitle({ id, vms, ...rest }, by), vms: turns, ...timeOf(id, times) }
}

function timeOf(
  wave: string,
  times: NonNullable<Parameters<typeof shownWaves>[2]>,
): Pick<ShownWave, 'begins' | 'ends' | 'windows'> {
  const time = times.find(({ id }) => id === wave)
  if (time === undefined) return {}
  const { begins, ends, windows } = time
  return { begins, ends, windows }
}
