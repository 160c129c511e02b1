import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import { readOwner } from '../../vms/strategy/settings-owner.ts'
import { methodsOf, type Owner, sameMethods } from '../../vms/update-methods.ts'
import { readRollout, snapshotWatches } from '../upgrade-snapshot.ts'
import type { UpgradePlan } from '../upgrade-plan.ts'
import { hours, seconds } from '../../kube/clock.ts'

/** The journal's key of the methods as they were before they were to be emptied; forgotten when the procedure has finished. */
const keptKey = ({ owner, to }: UpgradePlan) => `upgrade to ${to.text}/followed-methods/${owner.uid}`

/** What a person has to commit where the owner keeps it, in order: nothing of it is written by kvup (night U8). */
export function commitsOf({ method, pausedMethods, to, owner, tag }: UpgradePlan): readonly string[] {
  const kept = pausedMethods.join(', ')
  const change =
    method === 'image-tag' ? [`spec.imageTag: ${to.text}`] : [`the kubevirt-operator.yaml of ${to.text}`]
  const tagAfter = tag.is === 'none' || method === 'image-tag' ? [] : [`spec.imageTag: ${to.text}`]
  return [
    ...(pausedMethods.length > 0
      ? [`kubevirts/${owner.ref.name}: spec.workloadUpdateStrategy.workloadUpdateMethods: [] (was [${kept}])`]
      : []),
    ...[...change, ...tagAfter].map((line) =>
      line.startsWith('spec') ? `kubevirts/${owner.ref.name}: ${line}` : line,
    ),
    ...(pausedMethods.length > 0
      ? [`kubevirts/${owner.ref.name}: spec.workloadUpdateStrategy.workloadUpdateMethods: [${kept}]`]
      : []),
  ]
}

/** Waits for the owner to empty the methods; their value is kept in kvup's own journal first. */
export function gitopsPause(plan: UpgradePlan): Step {
  const { owner } = plan
  return {
    ...commitStep(owner, 'pause-workload-updates', 'automatic VM updates are paused by their owner'),
    async check({ reader, journal }): Promise<StepState> {
      const methods = methodsOf(await readOwner(reader, owner))
      if (methods.length === 0) return { is: 'done' }
      if ((await journal.kept(keptKey(plan))) === undefined)
        return { is: 'todo', change: `save ${methods.join(', ')} in the journal` }
      return {
        is: 'waiting',
        on: `the commit that sets workloadUpdateMethods from [${methods.join(', ')}] to []`,
      }
    },
    async apply({ reader, journal }) {
      await journal.keep(keptKey(plan), methodsOf(await readOwner(reader, owner)))
    },
  }
}

/** Waits for the owner to set the version: the tag, or the operator. */
export function gitopsVersion({ owner, method, to }: UpgradePlan): Step {
  return {
    ...commitStep(owner, 'version-committed', 'the new version is committed'),
    async check(cx): Promise<StepState> {
      const { imageTag } = (await readOwner(cx.reader, owner)).spec ?? {}
      const runs = (await readRollout(cx, owner)).rolloutStatus.operator?.version
      if (method === 'image-tag')
        return imageTag === to.text
          ? { is: 'done' }
          : { is: 'waiting', on: `the commit that sets imageTag from ${imageTag ?? 'none'} to ${to.text}` }
      return runs === to.text
        ? { is: 'done' }
        : {
            is: 'waiting',
            on: `the commit of the operator manifest of ${to.text} (virt-operator is ${runs ?? 'unknown'})`,
          }
    },
  }
}

/** Waits for the owner to set the methods back to the kept value. */
export function gitopsRestore(plan: UpgradePlan): Step {
  const { owner } = plan
  return {
    ...commitStep(owner, 'resume-workload-updates', 'automatic VM updates are resumed by their owner'),
    async check(cx): Promise<StepState> {
      const kept = await keptBy(cx, plan)
      const now = methodsOf(await readOwner(cx.reader, owner))
      if (kept.length === 0 || sameMethods(kept, now)) return { is: 'done' }
      return {
        is: 'waiting',
        on: `the commit that sets workloadUpdateMethods from [${now.join(', ')}] back to [${kept.join(', ')}]`,
      }
    },
  }
}

async function keptBy({ journal }: ReadContext, plan: UpgradePlan): Promise<readonly string[]> {
  const kept = await journal.kept(keptKey(plan))
  return Array.isArray(kept) ? kept.map(String) : []
}

const commitStep = (owner: Owner, id: string, title: string): Omit<Step, 'check' | 'apply'> => ({
  id,
  title,
  patience: { every: 10 * seconds, atMost: 24 * hours },
  estimate: 300 * seconds,
  watches: snapshotWatches(owner),
  risk: { undo: 'revert the commit', safeToLeave: 'always: kvup writes nothing' },
})
