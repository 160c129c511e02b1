import type { KubeVirt } from '../../kube/kinds/kubevirt-kinds.ts'
import { brings } from '../../releases/release-path.ts'
import { itemsOf } from '../../kube/known.ts'
import {
  hopOf,
  lacksHop,
  type Question,
  checksOf,
  type Found,
  concerned,
  valueIn,
} from '../check-definition.ts'
import { isRecord, type KubeObject, type ManagedField } from '../../kube/object.ts'
import { oneLine, shellWord } from '../../kube/shell-line.ts'
import { isOperand } from '../../kubevirt/installed-components.ts'
import { someOf } from '../../kube/text.ts'
import type { Shift } from '../../releases/releases.ts'
import { setField } from '../field-remedy.ts'
import { gatesOf, type Installation, undecided } from '../../kubevirt/installation.ts'

const installationCheck = checksOf('installation')

type Patch = NonNullable<NonNullable<NonNullable<KubeVirt['spec']>['customizeComponents']>['patches']>[number]

/** The patches are laid over the target's objects too, and one that no longer fits breaks the update (facts 8: #12983). */
export const customizeComponents = installationCheck('customize-components', {
  title: 'no patch in customizeComponents names what the update changes',
  unchecked: 'patches in customizeComponents were not checked',
  needs: ['kubevirts', 'deployments', 'daemonsets'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { patches = [] } = question.installation.kubevirt.spec?.customizeComponents ?? {}
    return patches.flatMap((patch) => {
      const risk = risks.find(({ runs }) => runs(patch, question))
      return risk ? [patchFinding(patch, risk, question)] : []
    })
  },
})

interface Risk {
  level: Found['level']
  runs: (patch: Patch, question: Question) => boolean
  why: string
}

/** The worst first. */
const risks: readonly Risk[] = [
  {
    level: 'blocker',
    runs: ({ patch }) => /"image"\s*:|\/image"/u.test(patch),
    why: 'sets an image: the component runs that image, whatever the target is',
  },
  {
    level: 'warning',
    runs: ({ type, patch }) => type === 'json' && /"path"\s*:\s*"[^"]*\/\d+(?:\/|")/u.test(patch),
    why: 'counts list items: if the target orders them differently, it changes the wrong one or breaks the update',
  },
  {
    level: 'warning',
    runs: ({ resourceName, resourceType }, question) => !isThere(resourceName, resourceType, question),
    why: 'is for an object that is not installed',
  },
  { level: 'info', runs: () => true, why: 'applies to the objects of the target too' },
]

/** Only of the kinds that are looked at; other kinds are believed to be there. */
function isThere(name: string, type: string, { snapshot }: Question): boolean {
  const kind = type.toLowerCase()
  if (!/^(?:deployment|daemonset)s?$/u.test(kind) || name === '*') return true
  const objects = kind.startsWith('deployment') ? snapshot.deployments : snapshot.daemonsets
  return itemsOf<{ metadata: { name: string } }>(objects).some(({ metadata }) => metadata.name === name)
}

function patchFinding(
  { resourceName, resourceType, type }: Patch,
  { level, why }: Risk,
  question: Question,
): Found {
  const { name, namespace } = question.installation
  return {
    id: 'customize-components',
    level,
    summary: `the ${type} patch for ${resourceType} ${resourceName} ${why}`,
    objects: [`${resourceType.toLowerCase()}/${resourceName}`],
    remedy: [
      `kubectl -n ${namespace} get kubevirt ${name} -o jsonpath='{.spec.customizeComponents.patches}'`,
    ],
  }
}

/** Whoever writes what virt-operator made without being undone; `before-first-apply` is Kubernetes' word for "cannot be told". */
const expected = new Set(['virt-operator', 'kube-controller-manager', 'kube-apiserver', 'before-first-apply'])

/** virt-operator sets its objects back, at the latest with the update (facts 9.1). */
export const foreignEdits = installationCheck('foreign-edits', {
  title: 'no object that virt-operator manages was edited',
  unchecked: 'edits of managed objects were not looked for',
  needs: ['deployments', 'daemonsets', 'crds'],
  assess(question) {
    const edits = managed(question).flatMap(editsOf)
    const names = [...new Set(edits.map(({ by }) => by))]
    return names.map((by) =>
      editFinding(
        by,
        edits.filter((edit) => edit.by === by),
        question,
      ),
    )
  },
})

/** What kvup writes on the KubeVirt, as managedFields name it. */
const writtenFields: readonly (readonly string[])[] = [
  ['f:spec', 'f:imageTag'],
  ['f:spec', 'f:imageRegistry'],
  ['f:spec', 'f:workloadUpdateStrategy', 'f:workloadUpdateMethods'],
]

/**
 * Somebody applies the KubeVirt by server-side apply, and somebody else owns a field of it by a patch: as soon as the two want different values the next apply is refused
 * (harvester issue 10677).
 */
export const fieldOwners = installationCheck('field-owners', {
  title: 'the tool that applies the KubeVirt owns the fields that an upgrade changes',
  unchecked: 'the owners of the fields of the KubeVirt were not checked',
  needs: ['kubevirts'],
  assess: ({ installation }) => {
    const { metadata } = installation.kubevirt
    const all = metadata.managedFields ?? []
    const applier = all.find(({ operation, manager = '', fieldsV1 }) => {
      const ownsSpec = fieldsV1 !== undefined && Object.hasOwn(fieldsV1, 'f:spec')
      return operation === 'Apply' && ownsSpec && !manager.startsWith('kvup')
    })
    if (applier === undefined) return undefined
    return all.flatMap((entry, index) => {
      const { operation, manager = '', subresource } = entry
      if (operation !== 'Update' || subresource !== undefined || ownWriters.test(manager)) return []
      const fields = writtenFields.filter((path) => isOwned(entry.fieldsV1, path))
      return fields.length === 0 ? [] : [ownerFinding(installation, applier, { entry, index, fields })]
    })
  },
})

/** kvup gives back what it owns; the operators write what nobody applies. */
const ownWriters = /^(?:kvup|virt-|hyperconverged|kubevirt-)/u

function isOwned(fields: unknown, path: readonly string[]): boolean {
  let owned = fields
  for (const step of path) owned = isRecord(owned) ? owned[step] : undefined
  return owned !== undefined
}

interface OwnedFields {
  entry: ManagedField
  /** Its place in managedFields. */
  index: number
  fields: readonly (readonly string[])[]
}

function ownerFinding(
  { namespace, name, kubevirt }: Installation,
  { manager: applier = 'somebody' }: ManagedField,
  { entry, index, fields }: OwnedFields,
): Found {
  const { manager = 'somebody' } = entry
  const names = fields.map((path) => path.map((step) => step.slice('f:'.length)).join('.'))
  return {
    level: 'warning',
    summary: `${applier} applies KubeVirt ${namespace}/${name}, and ${manager} owns ${names.join(' and ')}: the next apply with another value fails with a conflict`,
    objects: [`kubevirt/${name}`],
    remedy: [
      `kubectl -n ${namespace} get kubevirt ${name} -o yaml --show-managed-fields`,
      ...(leavesOf(entry.fieldsV1) === fields.length
        ? [giveBack({ namespace, name, version: kubevirt.metadata.resourceVersion }, index, applier)]
        : []),
    ],
  }
}

/** How many fields it owns at the lowest level. */
function leavesOf(fields: unknown): number {
  if (!isRecord(fields)) return 0
  const below = Object.values(fields)
  return below.length === 0 ? 1 : below.reduce<number>((sum, one) => sum + leavesOf(one), 0)
}

/** The value stays; guarded by the resourceVersion, for the place of an entry in the list changes with each write. */
function giveBack(
  { namespace, name, version = '' }: { namespace: string; name: string; version?: string | undefined },
  index: number,
  applier: string,
): string {
  const patch = [
    { op: 'test', path: '/metadata/resourceVersion', value: version },
    { op: 'remove', path: `/metadata/managedFields/${index}` },
  ]
  return `kubectl -n ${namespace} patch kubevirt ${name} --type=json -p ${shellWord(JSON.stringify(patch))}     leaves the value; ${oneLine(applier)} owns the field after its next apply (untested)`
}

interface Edit {
  by: string
  object: string
  fields: readonly string[]
}

function managed({ snapshot: { deployments, daemonsets, crds } }: Question): readonly KubeObject[] {
  return [...itemsOf(daemonsets), ...itemsOf(deployments), ...itemsOf(crds)].filter(isOperand)
}

function editsOf({ kind, metadata }: KubeObject): readonly Edit[] {
  const foreign = metadata.managedFields?.filter(isForeign) ?? []
  return foreign.map(({ manager = 'somebody', fieldsV1 = {} }) => ({
    by: manager,
    object: `${kind.toLowerCase()}/${metadata.name}`,
    fields: fieldNames(fieldsV1),
  }))
}

/** One for each who edits, however many objects it was. */
function editFinding(by: string, edits: readonly Edit[], { installation }: Question): Found {
  const objects = [...new Set(edits.map(({ object }) => object))]
  const fields = [...new Set(edits.flatMap((edit) => edit.fields))]
  return {
    id: 'foreign-edits',
    level: 'warning',
    summary: `${by} edited ${someOf(objects)} (${someOf(fields)}): virt-operator reverts this, only customizeComponents lasts`,
    objects,
    remedy: objects
      .slice(0, 3)
      .map((object) => `kubectl -n ${installation.namespace} get ${object} -o yaml --show-managed-fields`),
  }
}

function isForeign({ manager = '', subresource }: ManagedField): boolean {
  return subresource === undefined && !expected.has(manager)
}

/** The deepest fields, as dotted paths; a list item is left out of them. */
function fieldNames(
  fields: Readonly<Record<string, unknown>>,
  path: readonly string[] = [],
): readonly string[] {
  return Object.entries(fields).flatMap(([key, below]) => {
    if (key === '.') return []
    const here = key.startsWith('f:') ? [...path, key.slice(2)] : path
    const deeper = fieldNames((below ?? {}) as Readonly<Record<string, unknown>>, here)
    return deeper.length > 0 ? deeper : [here.join('.')]
  })
}

/** What changes where nobody has said what is wanted (night C2, facts 1.3 and 5). What concerns VMs or nodes is told by checks that read them. */
export const defaultsThatShift = installationCheck('defaults-that-shift', {
  title: 'the update changes no default that this cluster relies on',
  unchecked: 'changed defaults were not checked',
  needs: ['kubevirts'],
  needsTarget: true,
  lacks: lacksHop,
  assess(question) {
    return shiftsOfHop(question)
      .filter(({ check: id, hits, nodes }) => (id ?? hits ?? nodes) === undefined)
      .filter((shift) => isOpen(shift, question))
      .map((shift) => shiftFinding('defaults-that-shift', shift, question))
  },
})

/** The changes that this hop brings. */
export function shiftsOfHop(question: Question): readonly Shift[] {
  const hop = hopOf(question)
  return hop === undefined ? [] : question.releases.shifts.filter((shift) => brings(hop, shift))
}

/** Undefined where it is about VMs or a value in the KubeVirt, and there is none. */
export function shiftFinding(id: string, shift: Shift, question: Question): Found | undefined {
  const vms = concerned(shift, question)
  if (vms === undefined) return undefined
  return {
    id,
    level: shift.level ?? 'warning',
    summary: `${shift.summary}${gatesText(shift, question)}${vms.text}`,
    ...(vms.objects && { objects: vms.objects }),
    remedy: [...pinLines(shift, question), ...(shift.sources ?? []).map((source) => `read ${source}`)],
  }
}

/** A field that holds a list of gates. */
const isGateList = (field: string | undefined): boolean => /[gG]ates$/u.test(field ?? '')

/** Where the field is set nothing changes; but a list of gates decides only on those that are in it. */
function isOpen(shift: Shift, question: Question): boolean {
  const { field, gates = [], withoutGate, replacedBy } = shift
  const { featureGates } = gatesOf(question.installation)
  if (withoutGate !== undefined && featureGates.includes(withoutGate)) return false
  if (replacedBy?.every((gate) => featureGates.includes(gate))) return false
  const set = field === undefined ? undefined : valueIn(question.installation.kubevirt, field)
  if (isGateList(field)) return set === undefined || gatesToPin(shift, question).length > 0
  return set === undefined && (gates.length === 0 || gates.some((gate) => featureGates.includes(gate)))
}

/** Which gates turn on that nobody has decided on, and what those of them do that can hurt. */
function gatesText({ in: minor, field, gates = [] }: Shift, { releases, installation }: Question): string {
  if (!isGateList(field) || gates.length === 0) return ''
  const open = undecided(gates, installation)
  const known = new Map(
    releases.newGates.flatMap(({ in: of, gate, does }) => (of === minor && does ? [[gate, does]] : [])),
  )
  const changing = open.filter((gate) => known.has(gate))
  const rest = open.filter((gate) => !known.has(gate))
  return [
    changing.length > 0 && `. ${changing.length} of them change running VMs or pods: ${changing.join(', ')}`,
    ...changing.map((gate) => `. ${gate}: ${known.get(gate)}`),
    rest.length > 0 && `. Also on: ${rest.join(', ')}`,
  ]
    .filter(Boolean)
    .join('')
}

const disabledGates = 'spec.configuration.developerConfiguration.disabledFeatureGates'

/** What keeps gates off that turn on by themselves, behind those that are listed. */
export const keepGatesOff = (
  gates: readonly string[],
  question: Question,
  purpose?: string,
): readonly string[] => setField(question, disabledGates, { add: gates }, purpose)

/** The gates that are known to hurt and that nobody has turned on or off: what a shift of gates is kept away from. */
function gatesToPin(
  { in: minor, gates = [] }: Pick<Shift, 'in' | 'gates'>,
  { releases, installation }: Question,
): readonly string[] {
  const known = releases.newGates.filter((gate) => gate.in === minor && gates.includes(gate.gate))
  return undecided(
    known.map(({ gate }) => gate),
    installation,
  )
}

/** What keeps a default as it was; what depends on what is wanted is filled in with the gates that are known to hurt. */
function pinLines(shift: Shift, question: Question): readonly string[] {
  const { pin, command, replacedBy, pinAfter } = shift
  if (command !== undefined) return [command]
  if (replacedBy !== undefined) return replacingGates(replacedBy, question, pinAfter)
  if (pin === undefined) return []
  const [path = '', text] = pin.split(/:\s*/u)
  if (text !== undefined) return setField(question, path, { value: valueOf(text) })
  const gates = gatesToPin(shift, question)
  return gates.length === 0 ? [] : keepGatesOff(gates, question)
}

/** `800`, `false` and `null` are what they are in JSON. */
const valueOf = (text: string): unknown =>
  /^(?:\d+|true|false|null)$/u.test(text) ? (JSON.parse(text) as unknown) : text

/** What is listed stays, the old gate as well, which does no harm. */
function replacingGates(
  gates: readonly string[],
  question: Question,
  pinAfter: string | undefined,
): readonly string[] {
  const { featureGates } = gatesOf(question.installation)
  const add = gates.filter((gate) => !featureGates.includes(gate))
  if (add.length === 0) return []
  return setField(question, 'spec.configuration.developerConfiguration.featureGates', { add }, pinAfter)
}
