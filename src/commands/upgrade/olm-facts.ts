import type { Reader } from '../../lib/cluster/cluster.ts'
import { resourceOf } from '../../lib/cluster/kind.ts'
import { leavesOf } from '../../lib/cluster/leaves.ts'
import { HyperConvergeds } from '../../lib/cluster/kinds/hyperconverged.ts'
import type { KubeObject } from '../../lib/cluster/object.ts'
import { whyUnknown } from '../../lib/facts/known.ts'
import { sealedFact } from '../../lib/seal/seal.ts'
import type { Relied } from '../../lib/seal/sealed-facts.ts'
import { lookAtOperator } from '../../lib/upgrade/olm/operator-scene.ts'
import type { OlmPart } from '../../lib/upgrade/olm/olm-part.ts'
import { storedHyperConverged } from '../../lib/workloads/strategy/stored-hyperconverged.ts'

/** What a plan by OLM relies on besides: the specs of the HyperConverged, as it is stored, and of the Subscription, and which CSV is installed. */
export async function withOlmFacts(
  relied: Relied,
  reader: Reader,
  olm: OlmPart | undefined,
): Promise<Relied> {
  if (olm === undefined) return relied
  const [{ subscription }, hyperconverged] = await Promise.all([
    lookAtOperator(reader, olm),
    readStored(reader, olm),
  ])
  const { name, namespace } = olm.subscription
  const installed = subscription.status?.installedCSV ?? ''
  const facts = [
    factOf('subscription', `subscriptions/${name} in namespace ${namespace}`, subscription),
    sealedFact('csv', `the installed CSV in namespace ${namespace}`, { name: installed }),
  ]
  if ('why' in hyperconverged)
    return { ...relied, facts: [...relied.facts, ...facts], unsealed: [...relied.unsealed, hyperconverged] }
  const what = `${HyperConvergeds.plural}/${olm.hyperconverged.ref.name} in namespace ${namespace}`
  return { ...relied, facts: [...relied.facts, factOf('hyperconverged', what, hyperconverged), ...facts] }
}

function factOf(id: string, what: string, object: KubeObject & { spec?: unknown }) {
  return sealedFact(id, what, leavesOf({ metadata: { uid: object.metadata.uid }, spec: object.spec }))
}

async function readStored(
  reader: Reader,
  { hyperconverged: { ref } }: OlmPart,
): Promise<(KubeObject & { spec?: unknown }) | { id: string; why: string }> {
  try {
    const { kind } = await storedHyperConverged(reader)
    const found = await reader.find(kind, ref)
    return found.is === 'object' ? found.object : { id: 'hyperconverged', why: 'it is not there' }
  } catch (error) {
    const why = whyUnknown(error)
    if (why === undefined) throw error
    return { id: 'hyperconverged', why: `${resourceOf(HyperConvergeds)}: ${why}` }
  }
}
