import type { HopFinding, Method } from '../releases/hop-findings.ts'
import type { KubernetesWindow } from '../releases/releases.ts'
import type { Entry, Loan } from '../engine/journal.ts'
import type { Version } from '../releases/release-versions.ts'
import { isUpgradeName, type Seen, upgradeName, type UpgradePlan } from './upgrade-plan.ts'
import { openLoan } from '../vms/update-methods.ts'
import type { Step } from '../engine/step.ts'

/** One minor of an upgrade path, as far as it can be told beforehand. */
export interface PathStep {
  from: string
  to: string
  method: Method
  /** By the operator manifest: where it comes from, and its checksum (hexadecimal) where it was read. */
  manifest?: { origin: string; sha256?: string }
  /** Minors of Kubernetes that this release supports. */
  kubernetes?: KubernetesWindow
  /** What speaks against this step, worked out from how the cluster is now; it is judged again when its turn comes. */
  findings: readonly HopFinding[]
  /** What KubeVirt does with the VMs once they are outdated, in words. */
  vms: string
}

/** Several minors in one run, the target last. */
export interface UpgradePath {
  /** Those up to what stands against going on: none is in here that would be refused. */
  steps: readonly PathStep[]
  /** All releases that the plan goes through, those behind included: what the ids of its steps end in. */
  hops: readonly string[]
  /** `wait`: between steps automatic VM updates are resumed and waited for; `none`: the next step does not wait for VMs. */
  between: 'wait' | 'none'
  /** Why it does not lead to the target: the step that is refused, and by what. */
  ends?: { before: string; why: string }
}

/**
 * The cluster as it will be once a planned step is done, for the plan of the next one: versions, the operator and the tag are another, all else
 * stays. Pure.
 */
export function seenAfter(seen: Seen, { to, method, tag, request }: UpgradePlan): Seen {
  const { installation, standing } = seen
  const { kubevirt, operator } = installation
  const version = to.text
  const byManifest = method === 'operator-manifest'
  const registry = request.imageRegistry ?? standing.observed.registry
  const hasTag = method === 'image-tag' || tag.is !== 'none'
  const reached = { version, id: `planned ${version}`, ...(registry !== undefined && { registry }) }
  return {
    ...seen,
    installation: {
      ...installation,
      ...(hasTag && { imageTag: version }),
      ...(operator && byManifest && { operator: { ...operator, version } }),
      kubevirt: {
        ...kubevirt,
        status: {
          ...kubevirt.status,
          observedKubeVirtVersion: version,
          targetKubeVirtVersion: version,
          ...(byManifest && { operatorVersion: version }),
        },
      },
    },
    standing: {
      ...standing,
      verdict: 'Settled',
      why: [],
      observed: reached,
      target: reached,
      operator: standing.operator && { ...standing.operator, ...(byManifest && { version }) },
    },
  }
}

/** Releases that the next minor may be entered with already: what virt-operator is at work on, and what it is itself. */
export function enteredNow({
  standing,
  installation,
}: Pick<Seen, 'standing' | 'installation'>): readonly string[] {
  const { observed, target } = standing
  return [target.version, installation.operator?.version]
    .filter((text) => text !== undefined)
    .filter((text) => text !== observed.version)
}

interface LeftBehind {
  entries: readonly Entry[]
  loans: readonly Loan[]
  /** Uid of the KubeVirt. */
  kubevirt: string
}

/**
 * Whether a run over several minors to that release was begun and has not come to its end: by the value that it saved on the KubeVirt, which only
 * who may change the KubeVirt can write. Where none is saved, by the journal.
 */
export function isPathUnderWay(
  { text }: Pick<Version, 'text'>,
  { entries, loans, kubevirt }: LeftBehind,
): boolean {
  const name = upgradeName(text)
  const saved = openLoan(loans, kubevirt)
  if (saved?.procedure === name) return saved.severalMinors === true
  // Whoever goes on to another release resumes it all the same, where the journal shows that it began and that no upgrade has finished since.
  if (saved?.severalMinors) {
    const began = entries.findLastIndex(
      ({ procedure, what }) => procedure === saved.procedure && what === 'started',
    )
    const isOver = entries
      .slice(began)
      .some(({ procedure, what }) => isUpgradeName(procedure) && what === 'finished')
    if (began !== -1 && !isOver) return true
  }
  const last = entries.findLast(
    ({ procedure, what }) => procedure === name && (what === 'started' || what === 'finished'),
  )
  return last?.what === 'started' && last.text.startsWith('upgrade path ')
}

/** What the ids of the steps of a hop end in, of which a run has several: `virt-handler-v1.7.4`. */
export const idIn = (id: string, hop: string): string => `${id}-${hop}`

/** The id without the hop that it ends in. */
export function idWithout(id: string, hops: readonly string[]): string {
  const hop = hops.find((one) => id.endsWith(`-${one}`))
  return hop === undefined ? id : id.slice(0, -hop.length - 1)
}

/** Steps as the row of one hop: the time of the run counts for each hop anew. By OLM a hop is a release of the operator, else a minor of KubeVirt. */
export const ofHop = (steps: readonly Step[], hop: string): readonly Step[] =>
  steps.map((step) => ({ ...step, hop }))

/** The same, where the ids do not name the hop yet: they and what they build on are named by it. */
export const namedByHop = (steps: readonly Step[], hop: string): readonly Step[] =>
  ofHop(
    steps.map((step) => ({
      ...step,
      id: idIn(step.id, hop),
      ...(step.dependsOn && { dependsOn: step.dependsOn.map((id) => idIn(id, hop)) }),
    })),
    hop,
  )
