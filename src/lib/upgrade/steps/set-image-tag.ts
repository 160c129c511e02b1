import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { isWrittenByKvup, lastWriter } from '../../procedure/last-writer.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { nameOf, readOwner } from '../../workloads/find-owner.ts'
import { type Owner, showWriters } from '../../workloads/update-methods.ts'
import { seconds } from '../../system/units.ts'

export interface WantedTag {
  /** The version that is installed now: under it the former tag is kept, absence included. */
  from: string | undefined
  tag: string
  registry?: string | undefined
  /** The version of the operator: without a tag it installs that one. */
  operator: string | undefined
}

/** The journal's key of the tag that the CR had while `version` was installed. */
const formerTag = (owner: Owner, version: string) => `tag-at/${owner.uid}/${version}`

/**
 * Tag and registry move in one patch (night U3). Going back to a version at which the CR had no tag takes the tag out
 * again: the operator of that version is locked to it (facts 2.1).
 */
export function setImageTag(owner: Owner, wanted: WantedTag): Step {
  return {
    id: 'set-image-tag',
    title: 'set imageTag',
    patience: { every: 5 * seconds, atMost: 120 * seconds },
    estimate: 2 * seconds,
    follows: [],
    dependsOn: ['apply-operator-manifest'],
    risk: {
      undo: wanted.from ? `kvup upgrade --to ${wanted.from}` : 'none',
      safeToLeave: 'the operator goes on by itself',
    },
    async check({ reader, journal }): Promise<StepState> {
      const kubevirt = await readOwner(reader, owner)
      const goal = await goalOf(journal, { owner, wanted, kubevirt })
      return isSo(kubevirt, goal) ? { is: 'done' } : { is: 'todo', change: changeText(kubevirt, goal, owner) }
    },
    shows: showWriters(owner),
    blame: async ({ reader }, after) => lastWriter(await readOwner(reader, owner), '/spec/imageTag', after),
    async apply({ reader, writer, journal }) {
      const kubevirt = await readOwner(reader, owner)
      const goal = await goalOf(journal, { owner, wanted, kubevirt })
      if (wanted.from !== undefined)
        await journal.keep(formerTag(owner, wanted.from), {
          tag: kubevirt.spec?.imageTag ?? null,
          registry: kubevirt.spec?.imageRegistry ?? null,
        })
      await writer.mergePatch(owner.kind, owner.ref, {
        metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '' },
        spec: { imageTag: goal.tag, ...(goal.registry !== undefined && { imageRegistry: goal.registry }) },
      })
    },
  }
}

/** null: absent; an undefined registry is left as it is. */
interface Goal {
  tag: string | null
  registry?: string | null | undefined
}

/**
 * What was kept lies in the journal, which others can write: it is believed as far as the cluster confirms it. That there was no tag, where the operator's own Deployment is of this version and
 * installs it without one. A registry never: one that kvup itself wrote is taken out again where there was none, so that the operator's own holds; every other stays.
 */
async function goalOf(
  journal: { kept(key: string): Promise<unknown> },
  { owner, wanted, kubevirt }: { owner: Owner; wanted: WantedTag; kubevirt: KubeVirt },
): Promise<Goal> {
  const former = await journal.kept(formerTag(owner, wanted.tag))
  const locked = wanted.operator === wanted.tag && wanted.registry === undefined
  if (!locked || !isFormer(former) || former.tag !== null)
    return { tag: wanted.tag, registry: wanted.registry }
  const isOurs =
    kubevirt.spec?.imageRegistry !== undefined && isWrittenByKvup(kubevirt, '/spec/imageRegistry')
  return { tag: null, ...(former.registry === null && isOurs && { registry: null }) }
}

function isFormer(value: unknown): value is { tag: string | null; registry: string | null } {
  return typeof value === 'object' && value !== null && 'tag' in value && 'registry' in value
}

function isSo({ spec }: KubeVirt, goal: Goal): boolean {
  return (
    (spec?.imageTag ?? null) === goal.tag &&
    (goal.registry === undefined || (spec?.imageRegistry ?? null) === goal.registry)
  )
}

function changeText(kubevirt: KubeVirt, goal: Goal, owner: Owner): string {
  const { imageTag: before = 'none', imageRegistry: registry } = kubevirt.spec ?? {}
  const name = nameOf(owner)
  if (goal.tag === null)
    return goal.registry === null
      ? `take imageTag ${before} and imageRegistry ${registry ?? 'none'} out of ${name} again`
      : `take imageTag ${before} out of ${name} again${registry === undefined ? '' : `; imageRegistry stays ${registry}`}`
  const beside = goal.registry ? ` and imageRegistry from ${registry ?? 'none'} to ${goal.registry}` : ''
  return `set imageTag of ${name} from ${before} to ${goal.tag}${beside}`
}
