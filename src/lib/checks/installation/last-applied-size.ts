import type { KubeObject } from '../../cluster/object.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check } from '../check.ts'
import type { Finding } from '../finding.ts'

/** The API server's limit for all annotations of an object together (facts 7). */
const limit = 262_144
const near = 0.95

/** Facts 7: `kubectl apply` keeps a copy of the KubeVirt CRD in an annotation, which has little room left. */
export const lastAppliedSize: Check = {
  id: 'last-applied-size',
  group: 'installation',
  title: 'what kubectl apply has kept in annotations leaves room',
  needs: ['crds', 'kubevirts', 'operators'],
  blocks: false,
  assess: ({ evidence: { crds, kubevirts, operators } }) =>
    [...itemsOf(crds), ...itemsOf(kubevirts), ...itemsOf(operators)].flatMap(judged),
}

function judged({ kind, metadata: { name, namespace, annotations = {} } }: KubeObject): readonly Finding[] {
  const size = sizeOf(annotations)
  if (size < limit * near) return []
  const object = `${kind.toLowerCase()}/${name}`
  return [
    {
      id: 'last-applied-size',
      level: 'warning',
      summary: `the annotations of ${object} take ${size} of ${limit} bytes: the next kubectl apply may be refused (kvup applies on the server and keeps no copy)`,
      objects: [object],
      remedy: [
        `kubectl ${namespace === undefined ? '' : `-n ${namespace} `}annotate ${object} kubectl.kubernetes.io/last-applied-configuration-`,
      ],
    },
  ]
}

/** In UTF-8, names included, as the API server counts. */
function sizeOf(annotations: Readonly<Record<string, string>>): number {
  const encoder = new TextEncoder()
  return Object.entries(annotations).reduce((sum, pair) => sum + encoder.encode(pair.join('')).length, 0)
}
