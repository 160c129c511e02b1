import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import type { Reader } from '../../kube/cluster.ts'
import { isNotFound } from '../../kube/errors.ts'

/** On the VM, written in the same patch as the change: a loan that cannot be lost without it (contract "Loans"). */
export const overrideAnnotation = 'kvup.io/loan'
/** By which the server finds the VMs that have one. */
export const overrideLabel = 'kvup.io/loan'
export const labelValue = 'unblock'

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
  lent: string
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

/** The loan that a VM carries. `unreadable`: its note was changed, or taken off and its label left; nothing is guessed then. */
export function overrideOf({
  metadata: { annotations, labels },
}: VirtualMachine): VmOverride | 'unreadable' | undefined {
  const text = annotations?.[overrideAnnotation]
  if (text !== undefined) return parsed(text) ?? 'unreadable'
  return labels?.[overrideLabel] === undefined ? undefined : 'unreadable'
}

/** False for a note that came along with a copy: of a VM that was cloned, or made anew from a manifest or a backup. One that names no VM is taken for its own. */
export function isOfThisVm({ metadata }: VirtualMachine, { uid }: VmOverride): boolean {
  return uid === undefined || metadata.uid === undefined || uid === metadata.uid
}

/** For a person. */
export const unreadable = `its note ${overrideAnnotation} was changed and cannot be read: what it had before is not known`

export const overrideText = (loan: VmOverride): string => JSON.stringify(loan)

function parsed(text: string): VmOverride | undefined {
  try {
    const loan = JSON.parse(text) as Partial<VmOverride>
    const whole =
      typeof loan.by === 'string' && isTime(loan.at) && isUid(loan.uid) && Array.isArray(loan.fields)
    return whole && loan.fields?.every(isOverrideField) ? (loan as VmOverride) : undefined
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
  const { path, was, lent } = field ?? {}
  if (!isFormer(was)) return false
  if (path === '/spec/runStrategy') return lent === 'Always' && was.present && replaced.has(was.value)
  const isFormerEviction = !was.present || evictionStrategies.has(was.value)
  return path === '/spec/template/spec/evictionStrategy' && lent === 'None' && isFormerEviction
}

/** `evictionStrategy None (was LiveMigrate)`. */
export function overriddenText({ path, was, lent }: OverrideField): string {
  return `${fieldName(path)} ${lent} (was ${wasText({ was })})`
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
  lent: readonly OverriddenVm[]
  /** Whose note was changed: what they had before is not known. */
  unreadable: readonly VmRef[]
}

/** Every VM with a loan, by one list that the server narrows. Throws ApiError. */
export async function overriddenVms(reader: Reader): Promise<OverriddenVms> {
  const lent: OverriddenVm[] = []
  const unreadableVms: VmRef[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachines, { labels: overrideLabel }))
      for (const vm of items) sort(vm, { lent, unreadable: unreadableVms })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return { lent, unreadable: unreadableVms }
}

function sort(vm: VirtualMachine, into: { lent: OverriddenVm[]; unreadable: VmRef[] }): void {
  const loan = overrideOf(vm)
  if (loan === 'unreadable') into.unreadable.push(refOf(vm))
  else if (loan !== undefined)
    into.lent.push({ ...refOf(vm), ...inWords(loan), ...(!isOfThisVm(vm, loan) && { copied: true }) })
}

const inWords = ({ by, at, fields }: VmOverride): Pick<OverriddenVm, 'by' | 'at' | 'kept'> => ({
  by,
  at,
  kept: fields.map((field) => `${fieldName(field.path)} was ${wasText(field)}`),
})

/** How many VMs have what `kvup workloads unblock` lent them, by one list that the server narrows; a damaged note counts too. Throws ApiError. */
export async function countOverridden(reader: Reader): Promise<number> {
  let count = 0
  try {
    for await (const { items } of reader.pages(VirtualMachines, { labels: overrideLabel }))
      count += items.length
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return count
}
