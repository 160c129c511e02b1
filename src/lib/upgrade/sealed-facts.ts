import { valueText } from '../kube/text.ts'
import type { Reader, Ref, Writer } from '../kube/cluster.ts'
import type { CustomResourceDefinition } from '../kube/kinds/extension-kinds.ts'
import { type FieldChange, fieldChanges, type Leaf, leavesOf, sameLeaf } from '../kube/field-changes.ts'
import { type Kind, type KubeObject, resourceOf, isRecord } from '../kube/object.ts'
import type { FullSnapshot, SnapshotPart } from '../kubevirt/full-snapshot.ts'
import { type Known, whyUnknown } from '../kube/known.ts'
import {
  type Becomes,
  coveredBy,
  type Now,
  type OwnWork,
  type Seal,
  type SealedFact,
  sealedFact,
  type SealedPlan,
  sealPlan,
  type Unsealed,
} from '../engine/sealed-plan.ts'
import { HyperConvergeds, Subscriptions } from '../kube/kinds/operator-kinds.ts'
import { readOperator } from './methods/operator-manifest.ts'
import type { OlmPart } from './methods/olm-plan.ts'
import { storedHyperConverged } from '../openshift/hyperconverged.ts'
import { Deployments } from '../kube/kinds/workload-kinds.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import type { Entry } from '../engine/journal.ts'
import type { DryRunStep } from '../engine/procedure-dry-run.ts'
import { changedFields, type DryRunChange } from '../engine/dry-run-change.ts'
import { idIn, idWithout } from './path-procedure.ts'
import { setsIn, stepsThatSet } from './step-traits.ts'
import type { UpgradePlan } from './upgrade-plan.ts'
import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from 'node:crypto'
import type { CommandContext } from '../kube/world.ts'
import { localWriter } from '../engine/local-writer.ts'
import { drifted } from '../kube/errors.ts'

/** What a plan relies on, and which cluster it is of; undefined where that may not be read. */
export interface Relied extends Now {
  cluster: string | undefined
}

/** What has to be read of a cluster for `reliedOn`. */
export const sealedParts: readonly SnapshotPart[] = ['crds', 'nodes', 'serverVersion', 'clusterUid']

/**
 * What contract "Sealed plan" names: specs of the KubeVirt and of its operator, storedVersions, the version of Kubernetes, the set of
 * nodes. Status, heartbeats and resourceVersions are not among it. Pure: a seal is laid over the very look that the plan was judged by.
 */
export function reliedOn(snapshot: FullSnapshot, owner: Ref): Relied {
  const { kubevirts, operators, crds, nodes, clusterUid } = snapshot
  return {
    cluster: clusterUid.known ? clusterUid.items[0] : undefined,
    ...split([
      readFact('kubevirt', kubevirts, (all) => specIn('kubevirt', KubeVirts, all.find(isNamed(owner)))),
      readFact('operator', operators, (all) => specIn('operator', Deployments, all.find(isIn(owner)))),
      readFact('crds', crds, (all) => byName('crds', 'storedVersions', all, storedVersions)),
      kubernetes(snapshot),
      readFact('nodes', nodes, (all) => byName('nodes', 'the nodes', all, () => true)),
    ]),
  }
}

type WithSpec = KubeObject & { spec?: unknown }

const specIn = (id: string, kind: Kind, object: WithSpec | undefined): SealedFact | undefined =>
  object && specOf(id, kind, object)

function specOf(id: string, { plural }: Kind, { metadata, spec }: WithSpec): SealedFact {
  const { name, namespace = '', uid } = metadata
  return sealedFact(id, `${plural}/${name} in namespace ${namespace}`, leavesOf({ metadata: { uid }, spec }))
}

function byName<T extends KubeObject>(
  id: string,
  what: string,
  all: readonly T[],
  leaf: (object: T) => Leaf,
): SealedFact {
  return sealedFact(id, what, Object.fromEntries(all.map((object) => [object.metadata.name, leaf(object)])))
}

const storedVersions = ({ status }: CustomResourceDefinition): Leaf => status?.storedVersions ?? []

type Read = SealedFact | Unsealed

/** A fact of what could be read; why it cannot be sealed where it could not. */
export function readFact<T>(
  id: string,
  part: Known<T>,
  make: (items: readonly T[]) => SealedFact | undefined,
): Read {
  if (!part.known) return { id, why: part.why }
  return make(part.items) ?? { id, why: 'it does not exist' }
}

function kubernetes({ serverVersion }: FullSnapshot): Read {
  if (serverVersion === undefined) return { id: 'kubernetes', why: '/version may not be read' }
  return sealedFact('kubernetes', 'Kubernetes', { version: serverVersion.gitVersion })
}

const isNamed =
  ({ name, namespace }: Ref) =>
  ({ metadata }: KubeObject) =>
    metadata.name === name && metadata.namespace === namespace

const isIn =
  ({ namespace }: Ref) =>
  ({ metadata }: KubeObject) =>
    metadata.namespace === namespace

/** Those that can be sealed, and those that cannot. */
export function split(all: readonly Read[]): Now {
  const isFact = (one: Read): one is SealedFact => 'leaves' in one
  return { facts: all.filter(isFact), unsealed: all.filter((one): one is Unsealed => !isFact(one)) }
}

/** What a plan by OLM relies on besides: the specs of the HyperConverged, as it is stored, and of the Subscription, and which CSV is installed. */
export async function withOlmFacts(
  relied: Relied,
  reader: Reader,
  olm: OlmPart | undefined,
): Promise<Relied> {
  if (olm === undefined) return relied
  const [{ subscription }, hyperconverged] = await Promise.all([
    readOperator(reader, olm),
    readStored(reader, olm),
  ])
  const installed = subscription.status?.installedCSV ?? ''
  const facts = [
    specOf('subscription', Subscriptions, subscription),
    sealedFact('csv', `the installed CSV in namespace ${olm.subscription.namespace}`, { name: installed }),
  ]
  if ('why' in hyperconverged)
    return { ...relied, facts: [...relied.facts, ...facts], unsealed: [...relied.unsealed, hyperconverged] }
  const stored = specOf('hyperconverged', HyperConvergeds, hyperconverged)
  return { ...relied, facts: [...relied.facts, stored, ...facts] }
}

async function readStored(
  reader: Reader,
  { hyperconverged: { ref } }: OlmPart,
): Promise<WithSpec | Unsealed> {
  try {
    const { kind } = await storedHyperConverged(reader)
    const found = await reader.get(kind, ref)
    return found.is === 'object' ? found.object : { id: 'hyperconverged', why: 'it does not exist' }
  } catch (error) {
    const why = whyUnknown(error)
    if (why === undefined) throw error
    return { id: 'hyperconverged', why: `${resourceOf(HyperConvergeds)}: ${why}` }
  }
}

/**
 * The seal over a plan, which is all of its document but the seal. Without the uid of kube-system nothing would tell for which cluster it is: no
 * seal then, and why.
 */
export function sealOf(
  { world, clock, printer }: Pick<CommandContext, 'world' | 'clock' | 'printer'>,
  { cluster, facts, unsealed }: Relied,
  document: Readonly<Record<string, unknown>>,
): { seal: Seal } | Record<string, never> {
  if (cluster === undefined) {
    printer.warn(
      'the plan is not sealed: kvup may not read namespace kube-system, whose uid identifies the cluster',
    )
    return {}
  }
  for (const { id, why } of unsealed)
    printer.warn(`the seal is without ${id}: kvup does not notice a change of it: ${why}`)
  const [at, by] = [clock.now().toISOString(), world.who]
  const unsigned = { uid: randomUUID(), at, by, cluster, kvup: world.version, facts, unsealed }
  return { seal: sealPlan(unsigned, coveredBy(document)) }
}

/** How many differences are told. */
export const mostLines = 20

/** The cluster is not as the plan was made for: every difference, and the line that makes a new one. */
export const hasDrifted = (lines: readonly string[], { file, seal }: SealedPlan, again: string): Error =>
  drifted('drifted', `the cluster has changed since ${file} was made (${seal.at}); nothing was changed`, {
    notes: [
      ...lines.slice(0, mostLines),
      ...(lines.length > mostLines ? [`and ${lines.length - mostLines} more`] : []),
    ],
    remedy: `${again}      makes a new plan: review the difference before you use it`,
  })

/** The facts that are the spec of one object, and its kind. */
const kindOf: Readonly<Record<string, Kind>> = {
  kubevirt: KubeVirts,
  operator: Deployments,
  hyperconverged: HyperConvergeds,
  subscription: Subscriptions,
}

/** A fact with what steps make of its object in a dry run: what `ownWork` knows them by later. */
export function withResults(fact: SealedFact, steps: readonly DryRunStep[]): SealedFact {
  const becomes = steps.flatMap(({ id, changes = [] }) =>
    changes
      .filter(({ object }) => isOf(fact, object))
      .map(({ fields, by }): Becomes => ({ step: id, by, fields })),
  )
  return becomes.length === 0 ? fact : { ...fact, becomes }
}

/** The virt-operator Deployment of a later step of an upgrade path. */
export interface LaterOperator {
  /** The release: `v1.7.4`. */
  hop: string
  deployment: WithSpec
}

/** The sealed operator with what later steps of an upgrade path make of it: what no dry run can tell before their turn, their manifests do. */
export function withLaterResults(fact: SealedFact, later: readonly LaterOperator[]): SealedFact {
  if (fact.id !== 'operator' || later.length === 0) return fact
  const { 'metadata.uid': uid } = fact.leaves
  const becomes = later.map(({ hop, deployment: { spec } }): Becomes => {
    const after = leavesOf({ metadata: { uid }, spec })
    return {
      step: idIn('apply-operator-manifest', hop),
      by: 'client',
      fields: fieldChanges(fact.leaves, after),
    }
  })
  return { ...fact, becomes: [...(fact.becomes ?? []), ...becomes] }
}

/** A manifest may hold other Deployments than that of the operator. */
function isOf({ id, what }: SealedFact, { kind, name, namespace = '' }: DryRunChange['object']): boolean {
  const is = kindOf[id]
  return is?.kind === kind && what === `${is.plural}/${name} in namespace ${namespace}`
}

/** The steps that a run of this plan has begun to apply: from then on their result may be met. */
export function begunSteps(entries: readonly Entry[], planUid: string): ReadonlySet<string> {
  const ours = entries.filter(({ plan, what }) => plan === planUid && what === 'intends')
  return new Set(ours.map(({ step }) => step))
}

type Asked = Pick<UpgradePlan, 'to' | 'request' | 'olm' | 'path'>

/**
 * What the steps of an upgrade leave behind in the facts that its plan is sealed by. A step that has not begun leaves nothing:
 * the same change by somebody else is drift.
 */
export function ownWork(plan: Asked, begun: ReadonlySet<string>): OwnWork {
  const hops = plan.path?.hops ?? []
  const bases = new Set([...begun].map((step) => idWithout(step, hops)))
  const notTried = resultsOf(plan).filter(({ step }) => begun.has(step))
  // Each step of an upgrade path borrows the same and takes the same out, and puts it back.
  const isBegun = (step: string) =>
    begun.has(step) || (repeated.has(idWithout(step, hops)) && bases.has(idWithout(step, hops)))
  return (fact, change) => {
    if (plan.olm && isOfOlm(fact, change, begun)) return true
    if (fact.id === 'crds') return bringsCrds.some((step) => bases.has(step)) && isAddition(change)
    if (fact.becomes?.some((becomes) => isBegun(becomes.step) && isResult(fact, becomes, change))) return true
    return fact.id === 'kubevirt' && notTried.some(({ path, to }) => path === change.path && to === change.to)
  }
}

/** What OLM and HyperConverged do once an InstallPlan is approved, and what HyperConverged passes on before (hco 5). */
function isOfOlm({ id }: SealedFact, { path }: FieldChange, begun: ReadonlySet<string>): boolean {
  if ([...begun].some((step) => step.startsWith('approve-'))) return movedByOlm.has(id)
  const isMethods = path.startsWith('spec.workloadUpdateStrategy')
  return id === 'kubevirt' && isMethods && begun.has('pause-workload-updates')
}

const movedByOlm: ReadonlySet<string> = new Set(['kubevirt', 'operator', 'crds', 'hyperconverged', 'csv'])

/** From these on virt-operator brings the CRDs of the new version. */
const bringsCrds = stepsThatSet('version')

/** Steps that build on an earlier one: no dry run can tell what they leave. */
function resultsOf({ to, request, path }: Asked): readonly Result[] {
  return path === undefined
    ? tagResults(to.text, request.imageRegistry, (step) => step)
    : path.hops.flatMap((hop) => tagResults(hop, request.imageRegistry, (step) => idIn(step, hop)))
}

interface Result {
  step: string
  path: string
  to: Leaf | undefined
}

const repeated: ReadonlySet<string> = new Set(['pause-workload-updates', 'lift-image-tag'])

function tagResults(
  version: string,
  registry: string | undefined,
  named: (step: string) => string,
): readonly Result[] {
  return stepsThatSet('tag')
    .map(named)
    .flatMap((step) => {
      const tag = { step, path: 'spec.imageTag', to: version }
      return registry === undefined ? [tag] : [tag, { step, path: 'spec.imageRegistry', to: registry }]
    })
}

/** The server adds defaults to a Deployment that is applied, none to a KubeVirt whose one field is patched: what is more there, somebody added. */
function isResult({ id }: SealedFact, { fields, by }: Becomes, { path, from, to }: FieldChange): boolean {
  const field = fields.find((one) => one.path === path)
  if (field) return sameLeaf(field.to, to)
  return id === 'operator' && by === 'client' && from === undefined
}

/** A CRD that is new, or one more stored version. */
function isAddition({ from, to }: FieldChange): boolean {
  if (from === undefined) return true
  return Array.isArray(from) && Array.isArray(to) && from.every((version) => to.includes(version))
}

/** What a sealed plan says that one of its steps writes. */
interface SealedStep {
  id: string
  state: string
  changes: readonly { object: Readonly<Record<string, unknown>>; fields: readonly FieldChange[] }[]
  overrides: readonly { path: string; value?: unknown; restoredBy?: string }[]
}

/**
 * A Writer that compares every patch of a step with what the plan was sealed with, right before it is sent: each field goes to the value that was shown, or nothing is
 * written. A step without a dry run is compared with what follows from the plan: its version and registry, and the values that it keeps. What is applied from a manifest is tied to
 * the plan by its checksum; what OLM finds on the way is judged by its own steps. The Writer throws `drifted` (exit 5) with the difference.
 */
export function sealedWrites(
  { document, file, request }: Pick<SealedPlan, 'document' | 'file' | 'request'>,
  { reader, again }: { reader: Pick<Reader, 'get'>; again: string },
): (step: string, writer: Writer) => Writer {
  const steps = list(document['steps']).map(stepFrom)
  const local = localWriter(reader)
  const compare = async (id: string, kind: Kind, ref: Ref, write: (by: Writer) => Promise<KubeObject>) => {
    const allowed = allowedIn(steps, {
      id,
      kind,
      ref,
      to: document['to'],
      registry: request['imageRegistry'],
    })
    if (allowed === undefined) return
    const found = await reader.get(kind, ref)
    const before = found.is === 'object' ? found.object : undefined
    const changes = changedFields(before, await write(local))
    const wrong = changes.filter(
      (change) =>
        !allowed.some(({ path, to }) => isSamePath(path, change.path) && isSameValue(to, change.to)),
    )
    if (wrong.length > 0) throw notAsSealed({ id, file, again, kind, ref }, wrong, allowed)
  }
  return (id, writer) => ({
    ...writer,
    mergePatch: async (kind, ref, change, on) => {
      if (on === undefined) await compare(id, kind, ref, (by) => by.mergePatch(kind, ref, change))
      return writer.mergePatch(kind, ref, change, on)
    },
    jsonPatch: async (kind, ref, operations, on) => {
      if (on === undefined) await compare(id, kind, ref, (by) => by.jsonPatch(kind, ref, operations))
      return writer.jsonPatch(kind, ref, operations, on)
    },
  })
}

interface WritesAsked {
  id: string
  kind: Kind
  ref: Ref
  to: unknown
  registry: unknown
}

type Allowed = Pick<FieldChange, 'path' | 'to'>

/** Undefined: nothing was sealed that it could be compared with. */
function allowedIn(steps: readonly SealedStep[], asked: WritesAsked): readonly Allowed[] | undefined {
  const { id, kind, ref } = asked
  const step = steps.find((one) => one.id === id)
  if (step !== undefined && (step.changes.length > 0 || step.state === 'already-so'))
    return step.changes
      .filter(({ object }) => object['kind'] === kind.kind && object['name'] === ref.name)
      .flatMap(({ fields }) => fields)
  // Behind the first release of a path nothing had a dry run: it gives back what was kept before it, and sets the version that its id names.
  const { base, version } = partsOf(id)
  const back = steps
    .flatMap(({ overrides }) => overrides)
    .filter((kept) => partsOf(kept.restoredBy ?? '').base === base)
  if (setsIn(base, 'tag')) return tagAllowed({ ...asked, to: version ?? asked.to }, back)
  return back.length === 0 ? undefined : back.flatMap(({ path, value }) => leavesBelow(path, value))
}

/** `set-image-tag-v1.6.0` of a path over several minors. */
function partsOf(id: string): { base: string; version?: string } {
  const [, base = id, version] = /^(.+)-(v\d+\.\d+\.\d+.*)$/u.exec(id) ?? []
  return { base, ...(version !== undefined && { version }) }
}

/** The version that was planned; the registry that was typed, or the one that was taken out with the former tag. */
function tagAllowed({ to, registry }: WritesAsked, back: readonly { value?: unknown }[]): readonly Allowed[] {
  const kept = back.flatMap(({ value }) => (isRecord(value) ? [value['registry']] : []))
  const registries = [registry, ...kept].filter((one) => typeof one === 'string')
  return [
    ...(typeof to === 'string' ? [{ path: 'spec.imageTag', to }] : []),
    ...registries.map((one) => ({ path: 'spec.imageRegistry', to: one })),
  ]
}

function leavesBelow(pointer: string, value: unknown): readonly Allowed[] {
  const path = pointer.split('/').slice(1).join('.')
  if (value === undefined) return [{ path }]
  return Object.entries(leavesOf(value, path)).map(([at, to]) => ({ path: at, to }))
}

/** HyperConverged moves its settings below `spec.virtualization` from one version to the next (hco 2). */
const isSamePath = (one: string, other: string): boolean => plain(one) === plain(other)

const plain = (path: string): string => path.replace(/^spec\.virtualization\./u, 'spec.')

/** The order of update methods has no meaning (facts 1.2). */
function isSameValue(one: Leaf | undefined, other: Leaf | undefined): boolean {
  if (sameLeaf(one, other)) return true
  return Array.isArray(one) && Array.isArray(other) && isDeepStrictEqual(sorted(one), sorted(other))
}

const sorted = (values: readonly unknown[]): readonly string[] => values.map(String).toSorted()

function notAsSealed(
  { id, file, again, kind, ref }: { id: string; file: string; again: string; kind: Kind; ref: Ref },
  wrong: readonly FieldChange[],
  allowed: readonly Allowed[],
): Error {
  const name = `${kind.plural}/${ref.name}${ref.namespace === undefined ? '' : ` in namespace ${ref.namespace}`}`
  const notes = wrong.map(({ path, to }) => {
    const planned = allowed.filter((one) => isSamePath(one.path, path))
    const says =
      planned.length === 0 ? 'leaves it unchanged' : `sets ${planned.map((one) => said(one.to)).join(' or ')}`
    return `${path} of ${name} would become ${said(to)}; the plan ${says}`
  })
  return drifted(
    'drifted',
    `step ${id} would write something that is not in ${file}: kvup did not write it`,
    {
      object: name,
      notes,
      remedy: `${again}      makes a new plan: review the difference before you use it`,
    },
  )
}

const said = (leaf: Leaf | undefined): string => (leaf === undefined ? 'absent' : valueText(leaf))

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const word = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A seal tells that kvup wrote it; of what form it is nobody says. */
function stepFrom(value: unknown): SealedStep {
  const step = isRecord(value) ? value : {}
  return {
    id: word(step['id']),
    state: word(step['state']),
    changes: list(step['changes']).flatMap((change) =>
      isRecord(change) && isRecord(change['object'])
        ? [{ object: change['object'], fields: list(change['fields']).flatMap(fieldFrom) }]
        : [],
    ),
    overrides: list(step['overrides']).flatMap((kept) => (isRecord(kept) ? [keptFrom(kept)] : [])),
  }
}

const fieldFrom = (value: unknown): FieldChange[] =>
  isRecord(value) ? [{ ...value, path: word(value['path']) }] : []

function keptFrom(kept: Readonly<Record<string, unknown>>): SealedStep['overrides'][number] {
  const { path, value, restoredBy } = kept
  return { path: word(path), value, restoredBy: word(restoredBy) }
}
