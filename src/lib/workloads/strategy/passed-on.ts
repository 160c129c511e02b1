import type { Followed, ReadContext, StepState } from '../../procedure/step.ts'
import { nameOf, readOwner } from '../find-owner.ts'
import { methodsOf, methodsText, sameMethods } from '../update-methods.ts'
import { passesOn, type SettingsOwner, showsWriters } from './owner.ts'

/** The CR that takes effect is watched where somebody has to pass things on to it. */
export function followsOf(owner: SettingsOwner): Followed[] {
  const { kind, ref } = owner.kubevirt
  return passesOn(owner) ? [{ kind, where: ref }] : []
}

/** Undefined once the KubeVirt CR has these methods: HyperConverged copies them, `[]` as absence (hco 5). */
export async function untilPassedOn(
  { reader }: Pick<ReadContext, 'reader'>,
  owner: SettingsOwner,
  methods: readonly string[],
): Promise<Extract<StepState, { is: 'waiting' }> | undefined> {
  if (!passesOn(owner)) return undefined
  const now = methodsOf(await readOwner(reader, owner.kubevirt))
  if (sameMethods(now, methods)) return undefined
  return waitingForOwner(owner, `workloadUpdateMethods ${methodsText(methods)}`)
}

/** HyperConverged has it, KubeVirt not yet. */
export function waitingForOwner(owner: SettingsOwner, what: string): Extract<StepState, { is: 'waiting' }> {
  return {
    is: 'waiting',
    on: `${owner.kind.kind} to pass ${what} on to ${nameOf(owner.kubevirt)}`,
    remedy: [showsWriters(owner), `kubectl -n ${owner.ref.namespace} get deployment hco-operator`],
  }
}
