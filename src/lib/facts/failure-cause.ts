import type { Cause } from './cause.ts'
import { deploymentFailure } from './conditions.ts'
import type { Scene } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { shorten } from './shorten.ts'
import { operatorName } from './stamps.ts'

/** DeploymentFailed as a cause: what virt-operator itself says, told by its last part, where the reason is (lab 13). */
export function failureCause({ kubevirt }: Scene): Cause | undefined {
  const failure = deploymentFailure(kubevirt)
  if (!failure) return undefined
  const refused = rbacRefusal(failure.message)
  const namespace = kubevirt.metadata.namespace ?? ''
  const cause = {
    kind: refused === undefined ? ('failed' as const) : ('forbidden' as const),
    component: operatorName,
    reason: 'DeploymentFailed',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: refused ?? shorten(failure.message),
    ...(failure.since ? { since: failure.since } : {}),
  }
  return {
    ...cause,
    sentence: troubleSentence(cause).sentence,
    look: [
      `kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20`,
      ...wayOut(cause.kind, kubevirt.status?.targetKubeVirtVersion),
    ],
  }
}

function wayOut(kind: Cause['kind'], target: string | undefined): string[] {
  return kind === 'forbidden' && target ? [`kvup upgrade --to ${target} --method operator-manifest`] : []
}

/** `clusterroles… "kubevirt.io:admin" is forbidden: … permissions not currently held: {…}` in one line. */
function rbacRefusal(message: string): string | undefined {
  const object = /(\S+) "([^"]+)" is forbidden:/.exec(message)
  if (!object) return undefined
  const groups = [...message.slice(object.index).matchAll(/APIGroups:\[([^\]]*)\]/g)].map((match) => match[1])
  const missing = [...new Set(groups)].map((group) => group?.replaceAll('"', '')).filter(Boolean)
  const what = `${object[1]?.split('.', 1)[0]} ${object[2]} is forbidden`
  return missing.length > 0 ? `${what}, rights on ${missing.join(', ')} are missing` : what
}
