import { isDeepStrictEqual } from 'node:util'
import { isFields } from '../kube/server-side-apply.ts'
import type { Reader, Ref, Writer } from '../kube/cluster.ts'
import type { Kind, KubeObject } from '../kube/object.ts'
import { type FieldChange, type Leaf, leavesOf, sameLeaf, valueText } from '../kube/field-changes.ts'
import { localWriter } from '../engine/local-writer.ts'
import { changedFields } from '../engine/dry-run-change.ts'
import { drifted } from '../kube/errors.ts'
import type { SealedPlan } from '../engine/sealed-plan.ts'

/** What a sealed plan says that one of its steps writes. */
interface SealedStep {
  id: string
  state: string
  changes: readonly { object: Readonly<Record<string, unknown>>; fields: readonly FieldChange[] }[]
  keeps: readonly { path: string; value?: unknown; givenBackBy?: string }[]
}

/**
 * A Writer that compares every patch of a step with what the plan was sealed with, right before it is sent: each field goes to the value that was shown, or nothing is
 * written. A step that could not be rehearsed is compared with what follows from the plan: its version and registry, and the values that it keeps. What is applied from a manifest is tied to
 * the plan by its checksum; what OLM finds on the way is judged by its own steps. The Writer throws `drifted` (exit 5) with the difference.
 */
export function sealedWrites(
  { document, file, request }: Pick<SealedPlan, 'document' | 'file' | 'request'>,
  { reader, again }: { reader: Pick<Reader, 'find'>; again: string },
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
    const found = await reader.find(kind, ref)
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

interface Asked {
  id: string
  kind: Kind
  ref: Ref
  to: unknown
  registry: unknown
}

type Allowed = Pick<FieldChange, 'path' | 'to'>

/** Undefined: nothing was sealed that it could be compared with. */
function allowedIn(steps: readonly SealedStep[], asked: Asked): readonly Allowed[] | undefined {
  const { id, kind, ref } = asked
  const step = steps.find((one) => one.id === id)
  if (step !== undefined && (step.changes.length > 0 || step.state === 'already-so'))
    return step.changes
      .filter(({ object }) => object['kind'] === kind.kind && object['name'] === ref.name)
      .flatMap(({ fields }) => fields)
  // Behind the first release of a path nothing could be rehearsed: it gives back what was kept before it, and sets the version that its id names.
  const { base, version } = partsOf(id)
  const back = steps
    .flatMap(({ keeps }) => keeps)
    .filter((kept) => partsOf(kept.givenBackBy ?? '').base === base)
  if (tagSteps.has(base)) return tagAllowed({ ...asked, to: version ?? asked.to }, back)
  return back.length === 0 ? undefined : back.flatMap(({ path, value }) => leavesBelow(path, value))
}

/** `set-image-tag-v1.6.0` of a path over several minors. */
function partsOf(id: string): { base: string; version?: string } {
  const [, base = id, version] = /^(.+)-(v\d+\.\d+\.\d+.*)$/u.exec(id) ?? []
  return { base, ...(version !== undefined && { version }) }
}

const tagSteps: ReadonlySet<string> = new Set(['set-image-tag', 'put-image-tag-in'])

/** The version that was planned; the registry that was typed, or the one that was taken out with the former tag. */
function tagAllowed({ to, registry }: Asked, back: readonly { value?: unknown }[]): readonly Allowed[] {
  const kept = back.flatMap(({ value }) => (isFields(value) ? [value['registry']] : []))
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
      planned.length === 0 ? 'leaves it as it is' : `sets ${planned.map((one) => said(one.to)).join(' or ')}`
    return `${path} of ${name} would become ${said(to)}; the plan ${says}`
  })
  return drifted('drifted', `step ${id} would write what ${file} does not say: it was not written`, {
    object: name,
    notes,
    remedy: `${again}      makes it anew; look at what is different before you use it`,
  })
}

const said = (leaf: Leaf | undefined): string => (leaf === undefined ? 'absent' : valueText(leaf))

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const word = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A seal tells that kvup wrote it; of what form it is nobody says. */
function stepFrom(value: unknown): SealedStep {
  const step = isFields(value) ? value : {}
  return {
    id: word(step['id']),
    state: word(step['state']),
    changes: list(step['changes']).flatMap((change) =>
      isFields(change) && isFields(change['object'])
        ? [{ object: change['object'], fields: list(change['fields']).flatMap(fieldFrom) }]
        : [],
    ),
    keeps: list(step['keeps']).flatMap((kept) => (isFields(kept) ? [keptFrom(kept)] : [])),
  }
}

const fieldFrom = (value: unknown): FieldChange[] =>
  isFields(value) ? [{ ...value, path: word(value['path']) }] : []

function keptFrom(kept: Readonly<Record<string, unknown>>): SealedStep['keeps'][number] {
  const { path, value, givenBackBy } = kept
  return { path: word(path), value, givenBackBy: word(givenBackBy) }
}
