import type { Cause } from './cause.ts'
import { deploymentFailure } from './conditions.ts'
import { readFailure } from './failure-reading.ts'
import { isOfHyperConverged } from './ownership.ts'
import type { Scene } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { shorten } from '../system/shorten.ts'
import { operatorName } from './stamps.ts'

/** DeploymentFailed as a cause: what virt-operator itself says, told by its last part, where the reason is (lab 13). */
export function failureCause({ kubevirt }: Scene): Cause | undefined {
  const failure = deploymentFailure(kubevirt)
  if (!failure) return undefined
  const { namespace = '' } = kubevirt.metadata
  // What helps by another manifest helps nobody whose operator is of a CSV.
  const target = isOfHyperConverged(kubevirt) ? undefined : kubevirt.status?.targetKubeVirtVersion
  const { kind, message, look } = {
    ...unread(failure.message),
    ...readFailure(failure.message, { namespace, target }),
  }
  const cause = {
    kind,
    component: operatorName,
    reason: 'DeploymentFailed',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: shorten(message),
    ...(failure.since ? { since: failure.since } : {}),
  }
  const { sentence } = troubleSentence(cause)
  return { ...cause, sentence, look: [...look, operatorLogs(namespace)] }
}

const unread = (message: string) => ({ kind: 'failed' as const, message, look: [] })

function operatorLogs(namespace: string): string {
  return `kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20`
}
