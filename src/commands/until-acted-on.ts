import type { Context } from '../context.ts'
import type { Reader } from '../lib/cluster/cluster.ts'
import type { KubeVirt } from '../lib/cluster/kinds/kubevirt.ts'
import { findKubeVirts } from '../lib/facts/find-kubevirts.ts'
import { itemsOf } from '../lib/facts/known.ts'
import { actsOnEdit } from '../lib/facts/kubevirt-word.ts'
import { seconds } from '../lib/system/units.ts'

/** The real operator took up to 34 s. */
const atMost = 90 * seconds

/**
 * Waits while virt-operator acts on an edit of the KubeVirt resource, so that nobody is told to come back in a few seconds; 90 s at most.
 * Whether it waited: then what was seen is to be looked at anew. Throws the reason of the signal.
 */
export async function untilActedOn(
  { clock, signal, printer }: Pick<Context, 'clock' | 'signal' | 'printer'>,
  reader: Reader,
  kubevirt: KubeVirt,
): Promise<boolean> {
  if (!actsOnEdit(kubevirt)) return false
  printer.note('virt-operator is acting on an edit of the KubeVirt resource: waiting for it, 90s at most')
  const { uid } = kubevirt.metadata
  for (let waited = 0; waited < atMost; waited += seconds) {
    await clock.sleep(seconds, signal)
    const now = itemsOf(await findKubeVirts(reader)).find(({ metadata }) => metadata.uid === uid)
    if (!now || !actsOnEdit(now)) break
  }
  return true
}
