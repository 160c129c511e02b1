import type { Context } from '../../context.ts'
import { KvupError, usageError } from '../../lib/system/errors.ts'
import { compareOperatorVersions } from '../../lib/releases/operator-version.ts'
import { type OperatorSeen, seeOperator } from '../../lib/upgrade/olm/operator-seen.ts'
import { seeForUpgrade } from '../../lib/upgrade/see.ts'
import { reachable } from '../../lib/upgrade/reachable.ts'

/** `kvup upgrade` without a target: where it stands, what can be reached and the next command, as a usage error. */
export async function whereToGo(cx: Context): Promise<KvupError> {
  try {
    const { reader } = await cx.cluster()
    const { installation, standing } = await seeForUpgrade(reader, cx.clock)
    if (installation.manager.kind === 'hyperconverged') return whereOlmLeads(await seeOperator(reader))
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

/** The newest release of each channel that is later than what is installed. */
function whereOlmLeads({ installed, offered = [], subscription }: OperatorSeen): KvupError {
  const heads = offered.flatMap(({ entries }) => {
    const head = entries
      .map(({ version }) => version)
      .toSorted(compareOperatorVersions)
      .at(-1)
    return head !== undefined && compareOperatorVersions(head, installed) > 0 ? [head] : []
  })
  const targets = [...new Set(heads.toSorted(compareOperatorVersions).map(({ text }) => text))]
  const none =
    offered.length === 0 ? 'what the catalog has cannot be seen' : 'the catalog shows nothing later'
  return usageError(
    'no-target',
    `say where to go: HyperConverged in namespace ${subscription.metadata.namespace} is at ${installed.text}${targets.length === 0 ? `; ${none}` : ''}`,
    {
      remedy:
        targets.length > 0
          ? targets.map((text) => `kvup upgrade --to ${text} --method olm`)
          : 'kvup upgrade --to VERSION',
    },
  )
}
