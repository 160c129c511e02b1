import type { Reader, Where } from '../kube/cluster.ts'
import { atVersion, type Kind, type KubeObject } from '../kube/object.ts'
import { HyperConvergeds, Subscriptions } from '../kube/kinds/operator-kinds.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import {
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../kube/kinds/openshift-kinds.ts'
import { NotSavedError } from '../kube/saved/saved-cluster.ts'
import { ApiError, isNotFound } from '../kube/errors.ts'
import type { Loan } from './journal.ts'
import { isOverridden, isPlausible, mayBeOverridden, savedOn } from './saved-values.ts'

const prefix = 'eus to '

/** The procedure of a window, by which the journal knows what is of it: `eus to 4.20`. */
export const windowName = (to: string): string => `${prefix}${to}`

/** The minor that a procedure of that name leads to; undefined for any other procedure. */
export function targetOfName(procedure: string): string | undefined {
  return procedure.startsWith(prefix) ? procedure.slice(prefix.length) : undefined
}

/** What is borrowed for a window, whichever. */
export const isOfWindow = ({ procedure }: { procedure: string }): boolean =>
  targetOfName(procedure) !== undefined

/** A setting that reads as kvup leaves it, whose former value nobody may be believed about: a person says what becomes of it. */
export interface MissingValue {
  /** As the loan is called: `workload-updates`. */
  id: string
  object: Loan['object']
  /** `missing`: the journal claims it and the object says nothing. `unreadable`: somebody changed the note on the object. */
  why: 'missing' | 'unreadable'
  /** What the journal claims: evidence for a person, never an order. */
  claim?: Loan
}

/** A kind whose objects kvup overrides settings of, where it is listed, and under which versions. */
interface Place {
  kind: Kind
  versions: readonly string[]
  /** Its versions have different fields. */
  isMoved?: true
  where: (namespace: string) => Where
}

const inNamespace = (namespace: string): Where => ({ namespace })
const everywhere = (): Where => ({})

const places: readonly Place[] = [
  { kind: KubeVirts, versions: ['v1', 'v1alpha3'], where: inNamespace },
  { kind: HyperConvergeds, versions: ['v1beta1', 'v1'], isMoved: true, where: inNamespace },
  { kind: Subscriptions, versions: ['v1alpha1'], where: inNamespace },
  { kind: ClusterVersions, versions: ['v1'], where: everywhere },
  { kind: MachineConfigPools, versions: ['v1'], where: everywhere },
  { kind: MachineHealthChecks, versions: ['v1beta1'], where: everywhere },
  { kind: NodeHealthChecks, versions: ['v1alpha1'], where: everywhere },
]

/**
 * The one place that says which settings kvup has changed for a time, and what they were. It believes the notes on the objects themselves, and this very
 * process; what the journal claims beyond that is evidence for a question. Reads only.
 */
export class Overrides {
  readonly #reader: Reader
  readonly #namespace: string
  /** Loans that this process opened, or found confirmed: who takes a note off an object does not give anything back. */
  readonly #known = new Map<string, Loan>()
  /** A kind that is not served is not asked for again: none of them appears while kvup is at work. */
  readonly #unserved = new Set<string>()

  constructor(reader: Reader, namespace: string) {
    this.#reader = reader
    this.#namespace = namespace
  }

  /** The open ones. Throws ApiError; what may not be listed (403) holds nothing that whoever asks could have changed. */
  async loans(): Promise<readonly Loan[]> {
    return this.#confirmed(await this.#objects())
  }

  /** What is to be asked about, by the claims of the journal. */
  async missing(claims: readonly Loan[]): Promise<readonly MissingValue[]> {
    const objects = await this.#objects()
    const open = new Set(this.#confirmed(objects).map(({ id }) => id))
    const unreadable = objects.flatMap((object) => {
      const spoilt = savedOn(object).unreadable.map(({ id }) => ({ id, claim: claimOn(object, id, claims) }))
      return spoilt
        .filter(({ id, claim }) => (claim ? isOverridden(object, claim) : mayBeOverridden(object, id)))
        .map(({ id, claim }) => missingOf(id, object, claim))
    })
    const missing = claims.flatMap((claim) => {
      const isAsked = isPlausible(claim) && isOverriddenIn(objects, claim)
      return isAsked ? [{ id: claim.id, object: claim.object, why: 'missing' as const, claim }] : []
    })
    const asked = [...unreadable, ...missing].filter(({ id }) => !open.has(id))
    return [...new Map(asked.toReversed().map((one) => [one.id, one])).values()]
  }

  /** Claims of what is overridden no more: a run that was killed between its write and writing it down leaves one. `why`: it was not given back. */
  async over(claims: readonly Loan[]): Promise<readonly { id: string; why?: string }[]> {
    if (claims.length === 0) return []
    const objects = await this.#objects()
    const open = new Set([...this.#confirmed(objects), ...(await this.missing(claims))].map(({ id }) => id))
    const uids = new Set(objects.map(({ metadata }) => metadata.uid))
    return claims
      .filter(({ id }) => !open.has(id))
      .map(({ id, object }) =>
        uids.has(object.uid) ? { id } : { id, why: `${object.kind} ${object.name} is gone` },
      )
  }

  /** Opened, or changed, by this process. */
  remember(loan: Loan): void {
    this.#known.set(loan.id, loan)
  }

  /** Closed by this process: what it knew of it. */
  close(id: string): Loan | undefined {
    const known = this.#known.get(id)
    this.#known.delete(id)
    return known
  }

  #confirmed(objects: readonly KubeObject[]): readonly Loan[] {
    const noted = objects.flatMap((object) => savedOn(object).loans)
    const ids = new Set(noted.map(({ id }) => id))
    for (const loan of noted) this.#known.set(loan.id, loan)
    const kept = [...this.#known.values()].filter((loan) => !ids.has(loan.id))
    return [
      ...new Map(noted.map((loan) => [loan.id, loan])).values(),
      ...kept.filter((loan) => isOverriddenIn(objects, loan)),
    ]
  }

  async #objects(): Promise<readonly KubeObject[]> {
    const found = await Promise.all(places.map(async (place) => this.#listed(place)))
    return found.flat()
  }

  /** Under the first version that is served; a HyperConverged as each of them shows it, for where nobody converts only one shows what is stored. */
  async #listed({ kind, versions, isMoved, where }: Place): Promise<readonly KubeObject[]> {
    const views: KubeObject[][] = []
    let failure: unknown
    for (const version of versions.filter((one) => !this.#unserved.has(`${kind.plural}/${one}`))) {
      if (views.length > 0 && !isMoved) break
      try {
        views.push(await this.#reader.list(atVersion(kind, version), where(this.#namespace)))
      } catch (error) {
        if (isNotFound(error)) this.#unserved.add(`${kind.plural}/${version}`)
        else if (isNotConverted(error)) failure = error
        else if (mayNotBeRead(error)) return []
        else throw error
      }
    }
    if (views.length === 0 && failure !== undefined) throw failure
    return views.flat()
  }
}

/** By any view of the very object. */
const isOverriddenIn = (objects: readonly KubeObject[], loan: Loan): boolean =>
  objects.some((object) => object.metadata.uid === loan.object.uid && isOverridden(object, loan))

/** hco-webhook is away, as it is in every upgrade: the version that is stored is readable without it (hco 8). */
const isNotConverted = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 500 && error.message.includes('conversion webhook')

const mayNotBeRead = (error: unknown): boolean =>
  error instanceof NotSavedError || (error instanceof ApiError && error.status === 403)

const claimOn = ({ metadata }: KubeObject, id: string, claims: readonly Loan[]): Loan | undefined =>
  claims.find((claim) => claim.id === id && claim.object.uid === metadata.uid && isPlausible(claim))

function missingOf(id: string, object: KubeObject, claim: Loan | undefined): MissingValue {
  const { apiVersion, kind, metadata } = object
  const { name, namespace, uid = '' } = metadata
  const named = { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, uid }
  return { id, object: named, why: 'unreadable', ...(claim && { claim }) }
}
