import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { type DeepPartial, type Reader, type Where, orUnserved } from '../../kube/cluster.ts'
import { shellWord } from '../../kube/shell-line.ts'

/** On the VM, written in the same patch as the change: an override that cannot be lost without it (contract "Temporary changes"). */
export const overrideAnnotation = 'kvup.io/override'
/** By which the server finds the VMs that have one. */
export const overrideLabel = 'kvup.io/override'
/** What both were called before 22 November: what lies in a cluster under it is named, and set back by hand. */
const formerKey = 'kvup.io/loan'
const labelValue = 'unblock'

/** What a merge patch writes into the metadata of a VM whose settings are overridden. */
export const noteOn = (override: VmOverride) => ({
  annotations: { [overrideAnnotation]: JSON.stringify(override) },
  labels: { [overrideLabel]: labelValue },
})

/** What a merge patch writes into the metadata of a VM whose settings are restored. */
export const noteOff = {
  annotations: { [overrideAnnotation]: null, [formerKey]: null },
  labels: { [overrideLabel]: null, [formerKey]: null },
} as const

/** The VMs that carry a note, of one namespace or of all, by lists that the server narrows. Throws ApiError; no VMs where KubeVirt is not served. */
export async function* notedVms(reader: Reader, namespace?: string): AsyncGenerator<VirtualMachine> {
  yield* labelled(reader, { namespace, labels: overrideLabel })
  for await (const vm of labelled(reader, { namespace, labels: formerKey }))
    if (vm.metadata.labels?.[overrideLabel] === undefined) yield vm
}

async function* labelled(reader: Reader, where: Where): AsyncGenerator<VirtualMachine> {
  for await (const { items } of orUnserved(reader.pages(VirtualMachines, where))) yield* items
}

/** The fields of a VM that kvup borrows, by JSON pointer. */
export type FieldPath = '/spec/template/spec/evictionStrategy' | '/spec/runStrategy'

/** Run strategies that leave a VM stopped after an eviction, and that Always is lent for (facts 3.4); Halted never runs. */
export const replaced: ReadonlySet<string> = new Set(['Manual', 'Once', 'RerunOnFailure'])

/** One borrowed field. */
export interface OverrideField {
  path: FieldPath
  /** Absence is a value too. */
  was: { present: true; value: string } | { present: false }
  /** What it was set to. */
  set: string
}

/** What was borrowed of one VM. */
export interface VmOverride {
  /** user@host. */
  by: string
  /** RFC 3339. */
  at: string
  /** Of the VM that was lent it; absent in notes of older releases. */
  uid?: string
  fields: readonly OverrideField[]
}

/** The value of a borrowed field as it is now. */
export function valueOf({ spec }: VirtualMachine, path: FieldPath): string | undefined {
  return path === '/spec/runStrategy' ? spec?.runStrategy : spec?.template?.spec?.evictionStrategy
}

/** The last word of its path: what a person calls it. */
export const fieldName = (path: FieldPath): string => path.slice(path.lastIndexOf('/') + 1)

/** The override that a VM carries. `unreadable`: its note was changed, is an older kvup's, or was taken off and its label left; nothing is guessed then. */
export function overrideOf({
  metadata: { annotations, labels },
}: VirtualMachine): VmOverride | 'unreadable' | undefined {
  const text = annotations?.[overrideAnnotation]
  if (text !== undefined) return parsed(text) ?? 'unreadable'
  const isMarked = [labels?.[overrideLabel], labels?.[formerKey], annotations?.[formerKey]].some(isText)
  return isMarked ? 'unreadable' : undefined
}

/** False for a note that came along with a copy: of a VM that was cloned, or made anew from a manifest or a backup. One that names no VM is taken for its own. */
export function isOfThisVm({ metadata }: VirtualMachine, { uid }: VmOverride): boolean {
  return uid === undefined || metadata.uid === undefined || uid === metadata.uid
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** What an older kvup changed of this VM, and the line that sets it back by hand; undefined where its note is not there, or cannot be read. */
export function formerChange(vm: VirtualMachine): { why: string; byHand: string } | undefined {
  const { annotations, name, namespace = '' } = vm.metadata
  const override = parsed((annotations?.[formerKey] ?? '').replaceAll('"lent":', '"set":'))
  if (override === undefined || !isOfThisVm(vm, override)) return undefined
  const back = override.fields.map(({ path, was }) => [path, was.present ? was.value : null] as const)
  const off = { [formerKey]: null }
  const body = { metadata: { annotations: off, labels: off }, ...withValues(new Map(back)) }
  return {
    why: `an older kvup set ${override.fields.map(overriddenText).join(', ')}`,
    byHand: `kubectl -n ${shellWord(namespace)} patch vm ${shellWord(name)} --type=merge -p ${shellWord(JSON.stringify(body))}     sets it back`,
  }
}

/** A merge patch with these values; null takes a field away. */
export function withValues(values: ReadonlyMap<FieldPath, string | null>): DeepPartial<VirtualMachine> {
  const runStrategy = values.get('/spec/runStrategy')
  const evictionStrategy = values.get('/spec/template/spec/evictionStrategy')
  return {
    spec: {
      ...(runStrategy !== undefined && { runStrategy }),
      ...(evictionStrategy !== undefined && { template: { spec: { evictionStrategy } } }),
    },
  }
}

/** For a person. */
export const unreadable = `its note ${overrideAnnotation} was changed and cannot be read: its former value is unknown`

function parsed(text: string): VmOverride | undefined {
  try {
    const override = JSON.parse(text) as Partial<VmOverride>
    const { by, at, uid, fields } = override
    if (typeof by !== 'string' || !isTime(at) || !isUid(uid) || !Array.isArray(fields)) return undefined
    return fields.every(isOverrideField) ? (override as VmOverride) : undefined
  } catch {
    return undefined
  }
}

const isTime = (at: unknown) => typeof at === 'string' && !Number.isNaN(Date.parse(at))

const isUid = (uid: unknown) => uid === undefined || typeof uid === 'string'

function isFormer(was: unknown): was is OverrideField['was'] {
  const { present, value } = (was ?? {}) as { present?: unknown; value?: unknown }
  return present === false || (present === true && typeof value === 'string')
}

/** Every value that virt-api takes: another one would be refused, and give back nothing. */
const evictionStrategies: ReadonlySet<string> = new Set([
  'None',
  'LiveMigrate',
  'LiveMigrateIfPossible',
  'External',
])

/** What unblock lends and nothing else: whoever may write a VM's annotations does not stop it by way of a restore, and stops no restore. */
function isOverrideField(field: Partial<OverrideField> | null): boolean {
  const { path, was, set } = field ?? {}
  if (!isFormer(was)) return false
  if (path === '/spec/runStrategy') return set === 'Always' && was.present && replaced.has(was.value)
  const isFormerEviction = !was.present || evictionStrategies.has(was.value)
  return path === '/spec/template/spec/evictionStrategy' && set === 'None' && isFormerEviction
}

/** `evictionStrategy None (was LiveMigrate)`. */
export function overriddenText({ path, was, set }: OverrideField): string {
  return `${fieldName(path)} ${set} (was ${wasText({ was })})`
}

export const wasText = ({ was }: Pick<OverrideField, 'was'>): string => (was.present ? was.value : 'not set')

/** Which VM. */
export interface VmRef {
  namespace: string
  name: string
}

/** A VM and what runs of it. */
export interface VmRead {
  vm: VirtualMachine | undefined
  vmi: VirtualMachineInstance | undefined
}

/** Throws ApiError. */
export async function readVm(reader: Reader, ref: VmRef): Promise<VmRead> {
  const [vm, vmi] = await Promise.all([
    reader.get(VirtualMachines, ref),
    reader.get(VirtualMachineInstances, ref),
  ])
  return {
    vm: vm.is === 'object' ? vm.object : undefined,
    vmi: vmi.is === 'object' ? vmi.object : undefined,
  }
}

export const refOf = ({ metadata }: VirtualMachine | VirtualMachineInstance): VmRef => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

const atATime = 10

/** The same for many, a few at a time, in their order. Throws ApiError. */
export async function readVms(reader: Reader, refs: readonly VmRef[]): Promise<VmRead[]> {
  const found: VmRead[] = []
  for (let from = 0; from < refs.length; from += atATime)
    found.push(...(await Promise.all(refs.slice(from, from + atATime).map((ref) => readVm(reader, ref)))))
  return found
}

/** A VM that was lent something, for a person. */
export interface OverriddenVm extends VmRef {
  /** user@host. */
  by: string
  /** RFC 3339. */
  at: string
  /** What is given back: `evictionStrategy was LiveMigrate`. */
  kept: readonly string[]
  /** It was lent to another VM, and its note came along with a copy. */
  copied?: true
}

interface OverriddenVms {
  vms: readonly OverriddenVm[]
  /** Whose note was changed: what they had before is not known, but for a change of an older kvup. */
  unreadable: readonly (VmRef & Partial<NonNullable<ReturnType<typeof formerChange>>>)[]
}

/** Every VM with an override, by lists that the server narrows. Throws ApiError. */
export async function overriddenVms(reader: Reader): Promise<OverriddenVms> {
  const vms: OverriddenVm[] = []
  const unreadableVms: OverriddenVms['unreadable'][number][] = []
  for await (const vm of notedVms(reader)) sort(vm, { vms, unreadable: unreadableVms })
  return { vms, unreadable: unreadableVms }
}

function sort(
  vm: VirtualMachine,
  into: { vms: OverriddenVm[]; unreadable: OverriddenVms['unreadable'][number][] },
): void {
  const override = overrideOf(vm)
  if (override === 'unreadable') into.unreadable.push({ ...refOf(vm), ...formerChange(vm) })
  else if (override !== undefined)
    into.vms.push({ ...refOf(vm), ...inWords(override), ...(!isOfThisVm(vm, override) && { copied: true }) })
}

const inWords = ({ by, at, fields }: VmOverride): Pick<OverriddenVm, 'by' | 'at' | 'kept'> => ({
  by,
  at,
  kept: fields.map((field) => `${fieldName(field.path)} was ${wasText(field)}`),
})

/** How many VMs have what `kvup workloads unblock` lent them, by lists that the server narrows; a damaged note counts too. Throws ApiError. */
export async function countOverridden(reader: Reader): Promise<number> {
  let count = 0
  for await (const _ of notedVms(reader)) count++
  return count
}
