import { itemsOf } from '../facts/known.ts'
import { lastWriter } from '../procedure/last-writer.ts'
import type { ReadContext, Step, StepState } from '../procedure/step.ts'
import { readOwner } from '../workloads/find-owner.ts'
import { methodsOf, methodsPath, openLoan, type Owner } from '../workloads/update-methods.ts'
import { look } from './look.ts'
import type { UpgradePlan } from './plan.ts'

type Blocked = Extract<StepState, { is: 'blocked' }>
export type Undone = (cx: ReadContext) => Promise<Blocked | undefined>

/** The step, but blocked as soon as what set it going was undone: it would be waited for in vain. */
export function unlessUndone(step: Step, undone: Undone): Step {
  return { ...step, check: async (cx) => (await undone(cx)) ?? step.check(cx) }
}

/** Somebody (a self-heal, a colleague) set the tag back after it was set. */
export function tagUndone(owner: Owner, setTag: Step): Undone {
  return async (cx) => {
    if ((await setTag.check(cx)).is !== 'todo') return undefined
    const kubevirt = await readOwner(cx.reader, owner)
    const by = lastWriter(kubevirt, '/spec/imageTag')
    return blockedBy(`imageTag is ${kubevirt.spec?.imageTag ?? 'absent'} now`, by)
  }
}

/** Somebody put the old operator back after the new one was applied. */
export function operatorUndone(owner: Owner, version: string): Undone {
  return async (cx) => {
    const { standing, snapshot } = await look(cx, owner)
    const is = standing.operator?.version
    if (is === undefined || is === version) return undefined
    const [deployment] = itemsOf(snapshot.operators)
    const by = deployment && lastWriter(deployment, '/spec/template/spec/containers')
    return blockedBy(`the virt-operator Deployment is of ${is} now`, by)
  }
}

/** Somebody filled the methods in while they are held: KubeVirt would move VMs during the roll (facts 2.8). */
export function holdUndone(owner: Owner): Undone {
  return async ({ reader, journal }) => {
    if (openLoan(await journal.loans(), owner.uid) === undefined) return undefined
    const kubevirt = await readOwner(reader, owner)
    const methods = methodsOf(kubevirt)
    if (methods.length === 0) return undefined
    const by = lastWriter(kubevirt, methodsPath)
    return blockedBy(`workloadUpdateMethods is ${methods.join(', ')} while it is held`, by)
  }
}

/** The owner's next sync took back what was committed: the tag, or the operator (night U8). */
export function commitUndone({ owner, method, to }: UpgradePlan): Undone {
  if (method === 'operator-manifest') return operatorUndone(owner, to.text)
  return async ({ reader }) => {
    const kubevirt = await readOwner(reader, owner)
    const is = kubevirt.spec?.imageTag
    return is === to.text
      ? undefined
      : blockedBy(`imageTag is ${is ?? 'absent'} now`, lastWriter(kubevirt, '/spec/imageTag'))
  }
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

function blockedBy(what: string, who: string | undefined): Blocked {
  return {
    is: 'blocked',
    reason: 'undone',
    by: `something undid our change: ${what}${who ? `, by ${who}` : ''}`,
    remedy: [
      'find out who set it back before you run this again: kubectl get kubevirts -A -o yaml --show-managed-fields',
      'owned by Helm or GitOps: kvup upgrade --follow',
    ],
  }
}
