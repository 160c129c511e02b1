import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { itemsOf } from '../facts/known.ts'
import { lastWriter } from '../procedure/last-writer.ts'
import type { ReadContext, Step, StepState } from '../procedure/step.ts'
import { readOwner } from '../workloads/find-owner.ts'
import { methodsOf, methodsPath, openLoan, type Owner, showWriters } from '../workloads/update-methods.ts'
import { look } from './look.ts'
import type { UpgradePlan } from './plan.ts'

type Blocked = Extract<StepState, { is: 'blocked' }>
export type Undone = (cx: ReadContext) => Promise<Blocked | undefined>

/** The step, but blocked as soon as what set it going was undone: it would be waited for in vain. */
export function unlessUndone(step: Step, undone: Undone): Step {
  return { ...step, check: async (cx) => (await undone(cx)) ?? step.check(cx) }
}

/** Somebody (a self-heal, a colleague) set the tag back after it was set. */
export function tagUndone({ owner, to }: UpgradePlan, setTag: Step): Undone {
  return async (cx) => {
    if ((await setTag.check(cx)).is !== 'todo') return undefined
    const kubevirt = await readOwner(cx.reader, owner)
    return tagBack(kubevirt, { owner, to: to.text, after: await changedAt(cx) })
  }
}

/** Somebody put the old operator back after the new one was applied. */
export function operatorUndone({ owner, to }: UpgradePlan): Undone {
  return async (cx) => {
    const { standing, snapshot } = await look(cx, owner)
    const is = standing.operator?.version
    if (is === undefined || is === to.text) return undefined
    const [deployment] = itemsOf(snapshot.operators)
    return blockedBy({
      what: `the virt-operator Deployment is of ${is} now`,
      who: deployment && lastWriter(deployment, '/spec/template/spec/containers', await changedAt(cx)),
      shows: `kubectl -n ${owner.ref.namespace} get deployment virt-operator -o yaml --show-managed-fields`,
      to: to.text,
    })
  }
}

/** Somebody filled the methods in while they are held: KubeVirt would move VMs during the roll (facts 2.8). */
export function holdUndone({ owner, to }: UpgradePlan): Undone {
  return async ({ reader, journal }) => {
    if (openLoan(await journal.loans(), owner.uid) === undefined) return undefined
    const kubevirt = await readOwner(reader, owner)
    const methods = methodsOf(kubevirt)
    if (methods.length === 0) return undefined
    return blockedBy({
      what: `workloadUpdateMethods is ${methods.join(', ')} while it is held`,
      who: lastWriter(kubevirt, methodsPath, await changedAt({ journal })),
      shows: showWriters(owner),
      to: to.text,
    })
  }
}

/** The owner's next sync took back what was committed: the tag, or the operator (night U8). */
export function commitUndone(plan: UpgradePlan): Undone {
  const { owner, method, to } = plan
  if (method === 'operator-manifest') return operatorUndone(plan)
  return async ({ reader, journal }) => {
    const kubevirt = await readOwner(reader, owner)
    if (kubevirt.spec?.imageTag === to.text) return undefined
    return tagBack(kubevirt, { owner, to: to.text, after: await changedAt({ journal }) })
  }
}

/** When this run changed something first: who wrote before that has undone nothing of it. */
async function changedAt({ journal }: Pick<ReadContext, 'journal'>): Promise<Date | undefined> {
  const entries = await journal.entries()
  const begun = entries.findLastIndex(({ what }) => what === 'started')
  const first = entries.slice(begun + 1).find(({ what }) => what === 'applied')
  return first && new Date(first.at)
}

function tagBack(
  kubevirt: KubeVirt,
  { owner, to, after }: { owner: Owner; to: string; after: Date | undefined },
): Blocked {
  const what = `imageTag is ${kubevirt.spec?.imageTag ?? 'absent'} now`
  const who = lastWriter(kubevirt, '/spec/imageTag', after)
  return blockedBy({ what, who, shows: showWriters(owner), to })
}

/** The first of these that happened. */
export function anyUndone(all: readonly Undone[]): Undone {
  return async (cx) => {
    for (const undone of all) {
      const blocked = await undone(cx)
      if (blocked) return blocked
    }
    return undefined
  }
}

/** What is so now, by whom, and the command that shows who writes it. */
interface Undoing {
  what: string
  who: string | undefined
  shows: string
  to: string
}

function blockedBy({ what, who, shows, to }: Undoing): Blocked {
  return {
    is: 'blocked',
    reason: 'undone',
    by: `something undid our change: ${what}${who ? `, by ${who}` : ''}`,
    remedy: [
      `${shows}     shows who writes it`,
      `kvup upgrade --to ${to} --follow     where Helm or GitOps owns it`,
    ],
  }
}
