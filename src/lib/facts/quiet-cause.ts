import type { Cause } from './cause.ts'
import { since } from './elapsed.ts'
import { itemsOf } from './known.ts'
import { lastChange } from './last-change.ts'
import type { Scene } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { operatorName } from './stamps.ts'

/** A Lease that is renewed every few seconds and was not for this long is nobody's, ms. */
const silence = 60_000

/** For a verdict that nothing else explains: what is waited for, and whether virt-operator is alive at all. */
export function quietCause(scene: Scene, waitingFor: string): Cause {
  const { kubevirt, at } = scene
  const namespace = kubevirt.metadata.namespace ?? ''
  const renewed = lastRenewal(scene)
  const silent = (since(renewed, at) ?? 0) >= silence
  const [said] = scene.lastLines ?? []
  const from = silent ? renewed : lastChange(scene)
  const cause = {
    kind: 'quiet' as const,
    component: operatorName,
    reason: silent ? 'LeaseNotRenewed' : 'NoChange',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: silent ? 'virt-operator does not renew its Lease' : `still waiting for ${waitingFor}`,
    ...(from && { since: from }),
    ...(said && !silent && { lastLog: said.text }),
  }
  return {
    ...cause,
    sentence: troubleSentence(cause).sentence,
    look: [`kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20`],
  }
}

function lastRenewal({ snapshot, kubevirt }: Scene): string | undefined {
  const lease = itemsOf(snapshot.leases).find(
    ({ metadata }) => metadata.name === operatorName && metadata.namespace === kubevirt.metadata.namespace,
  )
  return lease?.spec?.renewTime ?? undefined
}
