import type { ApiService } from '../../cluster/kinds/extension.ts'
import { condition } from '../../cluster/object.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check } from '../check.ts'
import type { Finding } from '../finding.ts'

/** Facts 2.10, 8 (#9905, #9725): without it restarts fail, namespaces do not end, discovery is stale. */
export const apiServices: Check = {
  id: 'api-services',
  group: 'machinery',
  title: 'the APIs that KubeVirt adds are available',
  needs: ['apiServices'],
  blocks: true,
  assess: ({ evidence }) => itemsOf(evidence.apiServices).filter(isUnavailable).map(finding),
}

/** One that the API server answers itself has no service and cannot be unavailable. */
function isUnavailable(service: ApiService): boolean {
  return Boolean(service.spec?.service) && condition(service, 'Available')?.status !== 'True'
}

function finding(service: ApiService): Finding {
  const { metadata, spec } = service
  const said = condition(service, 'Available')
  const why = said?.message ?? said?.reason ?? 'it was not judged yet'
  return {
    id: 'api-services',
    level: 'blocker',
    summary: `APIService ${metadata.name} is not available: ${why}`,
    objects: [`apiservice/${metadata.name}`],
    remedy: [
      `kubectl describe apiservice ${metadata.name}`,
      `kubectl -n ${spec?.service?.namespace} get endpointslices -l kubernetes.io/service-name=${spec?.service?.name}`,
    ],
  }
}
