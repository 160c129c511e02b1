import type { Reader } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { itemsOf, type Known } from '../../facts/known.ts'
import { managerOf } from '../../facts/ownership.ts'
import type { Loan } from '../../procedure/journal.ts'
import { isWrittenByKvup } from '../../procedure/last-writer.ts'
import { KvupError } from '../../system/errors.ts'
import { findSettingsOwner } from '../../workloads/strategy/find-settings-owner.ts'
import { methodsIn, methodsPointer } from '../../workloads/strategy/owner.ts'
import { keptMethods, loanId } from '../../workloads/update-methods.ts'
import type { EusEvidence } from './evidence.ts'

type Methods = Pick<EusEvidence, 'methods' | 'emptiedByKvup'>

const not = { emptiedByKvup: false } as const

/** Of the HyperConverged in the version that is stored, never of the KubeVirt, where "none" and "nobody said" are one (ocp 1.6). */
export async function methodsNow(
  reader: Reader,
  { kubevirt, loans }: { kubevirt: KubeVirt | undefined; loans: Known<Loan> },
): Promise<Methods> {
  if (kubevirt === undefined) return { methods: { known: false, why: 'there is no KubeVirt' }, ...not }
  const loan = itemsOf(loans).find(({ id }) => id === loanId)
  if (loan) return { methods: { known: true, items: [keptMethods(loan)] }, ...not }
  try {
    return await methodsOn(reader, kubevirt)
  } catch (error) {
    if (error instanceof KvupError) return { methods: { known: false, why: error.message }, ...not }
    throw error
  }
}

async function methodsOn(reader: Reader, kubevirt: KubeVirt): Promise<Methods> {
  const { metadata, apiVersion } = kubevirt
  const ref = { name: metadata.name, namespace: metadata.namespace ?? '' }
  const kind: Kind<KubeVirt> = { apiVersion, kind: 'KubeVirt', plural: 'kubevirts', namespaced: true }
  const owner = await findSettingsOwner(
    reader,
    { kind, ref, uid: metadata.uid ?? '' },
    managerOf(kubevirt) ?? { kind: 'plain' },
  )
  const found = await reader.find(owner.kind, owner.ref)
  if (found.is !== 'object') return { methods: { known: true, items: [] }, ...not }
  const methods = methodsIn(found.object, owner)
  return {
    methods: { known: true, items: [methods] },
    emptiedByKvup: methods.length === 0 && isWrittenByKvup(found.object, methodsPointer(owner)),
  }
}
