import type { Reader } from '../../cluster/cluster.ts'
import { findHyperConverged } from '../hyperconverged/find-hyperconverged.ts'
import { takePlatform } from '../openshift/take-platform.ts'
import { takeLifecycle } from '../operator-lifecycle/take-lifecycle.ts'
import { hasHyperConverged, isPlatform } from './layers-snapshot.ts'

/**
 * Asks for all that any command wants to know of OKD, OpenShift, OLM and HyperConverged, for a reader that keeps it; two questions where there
 * is none of them. Throws what the Reader throws for anything but 403 and 404.
 */
export async function takeWhatIsAbove(reader: Reader): Promise<void> {
  const [onPlatform, mayHaveOne] = await Promise.all([isPlatform(reader), hasHyperConverged(reader)])
  if (!onPlatform && !mayHaveOne) return
  await Promise.all([
    onPlatform ? takePlatform(reader) : undefined,
    takeLifecycle(reader),
    findHyperConverged(reader),
  ])
}
