import type { Context } from '../../context.ts'
import { KvupError, usageError } from '../../lib/system/errors.ts'
import { seeForUpgrade } from '../../lib/upgrade/see.ts'
import { reachable } from '../../lib/upgrade/reachable.ts'

/** `kvup upgrade` without a target: where it stands, what can be reached and the next command, as a usage error. */
export async function whereToGo(cx: Context): Promise<KvupError> {
  try {
    const { installation, standing } = await seeForUpgrade((await cx.cluster()).reader, cx.clock)
    const now = standing.observed.version ?? 'no version that was installed completely'
    const targets = reachable(standing.observed.version)
    return usageError(
      'no-target',
      `say where to go: KubeVirt in namespace ${installation.namespace} is at ${now}, ${standing.verdict.toLowerCase()}`,
      {
        remedy:
          targets.length > 0
            ? targets.map((version) => `kvup upgrade --to ${version}`)
            : ['kvup upgrade --to VERSION'],
      },
    )
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return usageError('no-target', `say where to go; where it stands could not be read: ${error.message}`, {
      remedy: 'kvup upgrade --to v1.8.4',
    })
  }
}
